"""The lines that derivations print, by the equation numbers of the five sources: a page of tables.

`python docs/shown_lines.py` writes docs/shown-equations.md. A test checks that every line is
printed by its call, and that the page is what this script writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import dalembert as da
from dalembert import gallery
from dalembert.mechanics.agreement.principle_registry import load_principle

LINES = Path(__file__).with_suffix(".txt")
PAGE = Path(__file__).with_name("shown-equations.md")
HEADER = """# Equations of the sources, as they are printed

Each line below is printed by the command next to it, for a system of the gallery. Numbers are those
of the five [sources](reference/sources.md). The page is written by `docs/shown_lines.py`; a test
checks that each command prints its line.
"""


@dataclass(frozen=True)
class ShownLine:
    """One line of a derivation, and the equation that it shows."""

    key: str
    number: str
    system: str
    call: str
    line: str

    @property
    def command(self) -> str:
        """What a reader types."""
        if self.call in SPECIAL:
            return SPECIAL[self.call][0].format(self.system)
        principle, *options = self.call.split()
        tail = "".join(f" {option}" for option in options)
        return f"dalembert derive {self.system} --by {principle} --steps teach{tail}"

    @property
    def python_call(self) -> str:
        """The same from Python."""
        principle = self.call.split()[0].replace("-", "_")
        return PYTHON.get(self.call, f"da.{principle}(s).explain()")

    @property
    def is_printed(self) -> bool:
        """Whether the call prints the line."""
        return squeezed(self.line) in squeezed(printed(self.system, self.call))


def squeezed(text: str) -> str:
    """A text with single spaces."""
    return " ".join(text.split())


@cache
def printed(system: str, call: str) -> str:
    """What a call prints."""
    built = gallery.build(system)
    if call in SPECIAL:
        return str(SPECIAL[call][1](built))
    principle, *options = call.split()
    frame = options[1] if options[:1] == ["--frame"] else ""
    return str(load_principle(principle)[1](da.kinematics(built)).explain(frame=frame))


def _hybrid(system: da.System) -> str:
    h = da.extended_hamilton(system)
    return "\n".join([str(h), *map(str, h.steps)])


def _sizes(system: da.System) -> str:
    routes = da.comparison(system).routes
    return "\n".join(
        f"{r.principle.title} {r.equations} equations, {r.unknowns} unknowns" for r in routes
    )


def _drift(system: da.System, **options: float) -> float:
    """The drift of E_Z = K₂ + 𝒰 + Z of the hoist over ten seconds."""
    run = da.simulate(system, 10.0, start={"theta": 1.0}, progress=False, **options)
    return float(run.integrals.drift)


def _drifts(system: da.System) -> str:
    """Two runs that differ in their tolerances."""
    loose, tight = (_drift(system, rtol=rtol, atol=rtol) for rtol in (1e-4, 1e-10))
    verdict = "smaller" if tight < loose / 100 else "not smaller"
    return f"{loose:.0e} and {tight:.0e}: {verdict} with smaller tolerances"


def _moderated(system: da.System) -> str:
    """A run with a bound on the drift, next to the same run without it."""
    free, bounded = (
        _drift(system, rtol=1e-2, atol=1e-2, **bound) for bound in ({}, {"energy_tolerance": 1e-6})
    )
    verdict = "kept" if bounded <= 1e-6 < free else "not kept"
    return f"{free:.0e} without a bound, {bounded:.0e} with 1e-06: the bound is {verdict}"


def _about_point(system: da.System) -> da.Explanation:
    """Moments of the vehicle about A."""
    A = next(P for P in system.space.points if P.name == "A")
    return da.newton_euler(system, about={"vehicle": A}).explain()


SPECIAL = {
    "about-A": (
        "dalembert derive {} --by newton-euler --steps teach --about vehicle=A",
        _about_point,
    ),
    "integrals": (
        "dalembert integrals {} --steps teach",
        lambda s: da.energy_integrals(s).explain(),
    ),
    "compare": ("dalembert compare {}", _sizes),
    "drift": ("da.simulate(s, 10, rtol=1e-10)", _drifts),
    "moderated": ("da.simulate(s, 10, energy_tolerance=1e-6)", _moderated),
    "energies": ("dalembert integrals {}", da.energy_integrals),
    "premature": ("dalembert compare {}", da.premature_constraints),
    "virtual-work": ("dalembert equilibrium {} --steps", lambda s: da.virtual_work(s).explain()),
    "stationary-potential": (
        "dalembert equilibrium {} --steps",
        lambda s: da.stationary_potential(s).explain(),
    ),
    "extended-hamilton": ("da.extended_hamilton(s).steps", _hybrid),
}


PYTHON = {
    "compare": "da.comparison(s)",
    "drift": "da.simulate(s, 10)",
    "moderated": "da.simulate(s, 10, energy_tolerance=1e-6)",
    "energies": "da.energy_integrals(s)",
    "integrals": "da.energy_integrals(s).explain()",
    "premature": "da.premature_constraints(s)",
    "extended-hamilton": "da.extended_hamilton(s).steps",
    "about-A": 'da.newton_euler(s, about={"vehicle": A}).explain()',
}


def lines() -> list[ShownLine]:
    """The table, in the order of the sources."""
    key, read = "", []
    for line in LINES.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            key = line.strip("[]")
        elif line and not line.startswith("#") and key != "Methods":
            number, system, call, shown = (cell.strip() for cell in line.split(" | ", 3))
            read.append(ShownLine(key, number, system, call, shown))
    return read


def methods() -> dict[str, list[str]]:
    """The methods of the sources, each with the numbers of the lines that show it."""
    _, _, table = LINES.read_text(encoding="utf-8").partition("[Methods]\n")
    rows = (line.split(" | ") for line in table.splitlines() if line)
    return {name: numbers.split(", ") for name, numbers in rows}


def page() -> str:
    """The page that the table makes."""
    shown = [f"| {name} | {', '.join(numbers)} |" for name, numbers in methods().items()]
    table = ["## Methods", "", "| method | shown by |", "|---|---|", *shown, ""]
    parts = [HEADER, "\n".join(table)]
    for key in dict.fromkeys(line.key for line in lines()):
        rows = [
            f"| {x.number.replace('-', '–')} | `{x.line}` | `{x.command}` |"
            for x in lines()
            if x.key == key
        ]
        heading = ["| number | printed line | command |", "|---|---|---|"]
        parts.append("\n".join([f"## {key}", "", *heading, *rows, ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
