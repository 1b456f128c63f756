"""modelDescription.xml of FMI 2.0 and 3.0: variables with units and start values, which depend
on which, and what the FMU can do.
"""

from __future__ import annotations

from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from dalembert.exchange.exports.exported_model import ExportedModel
from dalembert.foundation.deferred_dataclass import dataclass

DURATION: Final = 10.0
TOLERANCE: Final = 1e-9
# exponents of the base units
_UNITS: Final[dict[str, dict[str, int]]] = {
    "s": {"s": 1},
    "rad": {"rad": 1},
    "rad/s": {"rad": 1, "s": -1},
    "rad/s2": {"rad": 1, "s": -2},
    "m": {"m": 1},
    "m/s": {"m": 1, "s": -1},
    "m/s2": {"m": 1, "s": -2},
    "kg": {"kg": 1},
    "J": {"kg": 1, "m": 2, "s": -2},
    "1": {},
    "1/s": {"s": -1},
    "1/s2": {"s": -2},
}
_RATE: Final = {
    "rad": "rad/s",
    "m": "m/s",
    "1": "1/s",
    "rad/s": "rad/s2",
    "m/s": "m/s2",
    "1/s": "1/s2",
}


@dataclass(frozen=True)
class FmuVariable:
    """A variable of an FMU; its place in the list is its value reference."""

    name: str
    causality: str
    variability: str
    initial: str = ""
    start: float | None = None
    unit: str = ""
    says: str = ""
    derivative_of: int | None = None


def fmu_variables(model: ExportedModel) -> list[FmuVariable]:
    """All variables in the order of their value references."""
    return [
        FmuVariable("time", "independent", "continuous", unit="s"),
        *_state_variables(model),
        *(FmuVariable(w.name, "input", "continuous", start=w.value or 0.0) for w in model.inputs),
        *(
            FmuVariable(p.name, "parameter", "tunable", "exact", p.value, p.unit)
            for p in model.parameters
        ),
        *_output_variables(model),
        *_tolerances(),
        *_switching_variables(model),
    ]


def _state_variables(model: ExportedModel) -> list[FmuVariable]:
    """x, then ẋ."""
    states = [
        FmuVariable(x.name, "local", "continuous", "exact", x.value, x.unit) for x in model.states
    ]
    rates = [
        FmuVariable(
            f"der({x.name})",
            "local",
            "continuous",
            "calculated",
            unit=_RATE.get(x.unit, ""),
            derivative_of=1 + k,
        )
        for k, x in enumerate(model.states)
    ]
    return [*states, *rates]


def _output_variables(model: ExportedModel) -> list[FmuVariable]:
    """What the user asked for, and the energies."""
    names = [f"output {y.name}" for y in model.outputs]
    energies = "kinetic energy", "potential energy"
    return [
        *(FmuVariable(name, "output", "continuous", "calculated") for name in names),
        *(FmuVariable(name, "output", "continuous", "calculated", unit="J") for name in energies),
    ]


def _tolerances() -> list[FmuVariable]:
    steps = "relative and absolute, of the steps of co-simulation"
    drift = (
        "constraint violation above which the state is projected onto the constraint rows, in "
        "event mode or after a step"
    )
    numbers = ("step tolerance", TOLERANCE, steps), ("drift tolerance", 1e-9, drift)
    return [
        FmuVariable(name, "parameter", "tunable", "exact", value, says=meaning)
        for name, value, meaning in numbers
    ]


def _switching_variables(model: ExportedModel) -> list[FmuVariable]:
    """The modes of contacts, and the event indicators."""
    if model.switching is None:
        return []
    modes = "0 open, 1 closed, 2 sticks, 3 slips forwards, 4 slips backwards"
    return [
        *(
            FmuVariable(f"mode({name})", "output", "discrete", "calculated", says=modes)
            for name in model.switching.contacts
        ),
        *(
            FmuVariable(name, "local", "continuous", "calculated")
            for name in model.switching.guards
        ),
    ]


def model_description(
    model: ExportedModel, name: str, version: str, token: str, sources: list[str]
) -> bytes:
    """The XML of one version."""
    three = version == "3.0"
    attributes = {
        "fmiVersion": version,
        "modelName": model.title,
        "description": _description_text(model),
        "generationTool": "dalembert",
    }
    indicators = len(model.switching.guards) if model.switching else 0
    attributes |= (
        {"instantiationToken": token}
        if three
        else {"guid": token, "numberOfEventIndicators": str(indicators)}
    )
    root = Element("fmiModelDescription", {**attributes, "variableNamingConvention": "flat"})
    _interface_elements(root, name, sources, three=three, directional=bool(model.seeds))
    listed = fmu_variables(model)
    _unit_definitions(root, {s.unit for s in listed if s.unit})
    experiment = {
        "startTime": "0",
        "stopTime": repr(DURATION),
        "tolerance": repr(TOLERANCE),
        "stepSize": "0.01",
    }
    SubElement(root, "DefaultExperiment", experiment)
    variables = SubElement(root, "ModelVariables")
    for k, s in enumerate(listed):
        _variable(variables, k, s, three=three)
    _structure(SubElement(root, "ModelStructure"), listed, indicators, three=three)
    return _xml_bytes(root)


def _description_text(model: ExportedModel) -> str:
    rows = f" Rows held by projection: {'; '.join(model.rows)}." if model.has_projection else ""
    return f"{model.title}: equations of motion by dalembert.{rows}"


def _interface_elements(
    root: Element, name: str, sources: list[str], *, three: bool, directional: bool
) -> None:
    state = (
        ("canGetAndSetFMUState", "canSerializeFMUState")
        if three
        else ("canGetAndSetFMUstate", "canSerializeFMUstate")
    )
    given = [
        *state,
        *(
            ["providesDirectionalDerivatives" if three else "providesDirectionalDerivative"]
            if directional
            else []
        ),
    ]
    common = {"modelIdentifier": name, **dict.fromkeys(given, "true")}
    for kind in ("ModelExchange", "CoSimulation"):
        more = {"canHandleVariableCommunicationStepSize": "true"} if kind == "CoSimulation" else {}
        if kind == "ModelExchange" and three:
            more = {"needsCompletedIntegratorStep": "true"}
        element = SubElement(root, kind, {**common, **more})
        if not three:
            files = SubElement(element, "SourceFiles")
            for file in sources:
                SubElement(files, "File", {"name": file})


def _unit_definitions(root: Element, used: set[str]) -> None:
    units = SubElement(root, "UnitDefinitions")
    for unit in sorted(used):
        base = {k: str(v) for k, v in _UNITS[unit].items()}
        SubElement(SubElement(units, "Unit", {"name": unit}), "BaseUnit", base)


def _variable(parent: Element, k: int, s: FmuVariable, *, three: bool) -> None:
    general = {
        "name": s.name,
        "valueReference": str(k),
        "causality": s.causality,
        "variability": s.variability,
    }
    general |= {
        key: value for key, value in (("description", s.says), ("initial", s.initial)) if value
    }
    real = {} if s.start is None else {"start": repr(float(s.start))}
    if s.unit:
        real["unit"] = s.unit
    if s.derivative_of is not None:
        # FMI 2.0 counts variables from one
        real["derivative"] = str(s.derivative_of if three else s.derivative_of + 1)
    if three:
        SubElement(parent, "Float64", {**general, **real})
    else:
        SubElement(SubElement(parent, "ScalarVariable", general), "Real", real)


def _structure(parent: Element, listed: list[FmuVariable], indicators: int, *, three: bool) -> None:
    outputs = [k for k, s in enumerate(listed) if s.causality == "output"]
    rates = [k for k, s in enumerate(listed) if s.derivative_of is not None]
    if three:
        for name, places in (
            ("Output", outputs),
            ("ContinuousStateDerivative", rates),
            ("InitialUnknown", sorted(outputs + rates)),
            # the last variables
            ("EventIndicator", range(len(listed) - indicators, len(listed))),
        ):
            for k in places:
                SubElement(parent, name, {"valueReference": str(k)})
        return
    for name, places in (
        ("Outputs", outputs),
        ("Derivatives", rates),
        ("InitialUnknowns", sorted(outputs + rates)),
    ):
        if places:
            group = SubElement(parent, name)
            for k in places:
                SubElement(group, "Unknown", {"index": str(k + 1)})


def build_description(name: str, sources: list[str]) -> bytes:
    """sources/buildDescription.xml of FMI 3.0."""
    root = Element("fmiBuildDescription", {"fmiVersion": "3.0"})
    configuration = SubElement(root, "BuildConfiguration", {"modelIdentifier": name})
    files = SubElement(configuration, "SourceFileSet", {"language": "C99"})
    for file in sources:
        SubElement(files, "SourceFile", {"name": file})
    return _xml_bytes(root)


def _xml_bytes(root: Element) -> bytes:
    indent(root)
    text: bytes = tostring(root, encoding="utf-8")
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + text
