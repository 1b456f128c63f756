"""check, new, convert, schema: files that describe systems."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

from dalembert.cli.command_registry import Argument
from dalembert.cli.exit_handling import exit_by_verdict, print_error
from dalembert.cli.output import Json, print_line, print_result
from dalembert.cli.shared_options import SetValues, SystemName
from dalembert.cli.system_lookup import default_coordinates, default_run, find_system
from dalembert.errors import DalembertError, IllPosed, Unknown
from dalembert.exchange.modelfile import ENDINGS
from dalembert.exchange.modelfile.json_schema import schema as model_schema
from dalembert.exchange.modelfile.run_settings import PrintedEquation, Settings
from dalembert.exchange.modelfile.save import json_text, save, toml_text
from dalembert.exchange.modelfile.source_positions import BadModel, ModelSource
from dalembert.exchange.modelfile.templates import TEMPLATES
from dalembert.foundation.suggestions import suggest_name
from dalembert.interface.api.agreement import agreement
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.mechanics.model.system import System

if TYPE_CHECKING:
    from dalembert.analysis.constraint_analysis.analysis import ConstraintAnalysis


def check(system: SystemName, values: SetValues = None, *, as_json: Json = False) -> None:
    r"""Check a model file.

    Checks keys and names (with the nearest known one), dimensions where units are given, unused
    symbols, degrees of freedom, redundant constraints, and the agreement of all principles. All
    errors are reported at once, each with file, line and column.

    \b
    dalembert check model.toml
    dalembert check chain.toml --set n=20
    """
    try:
        s = find_system(system, values, complete=False).system
    except BadModel as problem:
        _report_other_faults(system, problem)
        raise
    counts = {"coordinates": len(s.q), "bodies": len(s.bodies), "rows": len(s.constraints)}
    say_fact = (lambda _: None) if as_json else print_line
    say_fact(f"read                 {s.name}: {_count_text(counts)}")
    dimensions = _dimensions(s)
    say_fact(f"dimensions           {dimensions}")
    try:
        kin = kinematics(s)
    except IllPosed as problem:
        _raise_at_source(system, s, problem)
    say_fact(f"degrees of freedom   {len(kin.u)}")
    rows = _analyse_constraints(system, s) if s.constraints else None
    if rows is not None:
        redundant = "".join(f"\n                     {r}" for r in rows.redundant)
        say_fact(f"constraint rows      {rows.velocity_rank} independent{redundant}")
    result = agreement(s)
    say_fact(f"agreement            {result.statement}")
    if as_json:
        facts = {"system": s.name, **counts, "dimensions": dimensions}
        facts |= {"degrees_of_freedom": len(kin.u)}
        print_result(facts, as_json=True, constraints=rows, agreement=result)
    exit_by_verdict([result.holds])


def _count_text(counts: dict[str, int]) -> str:
    """2 coordinates, 1 body: those that there are."""
    words = ("coordinate", "coordinates"), ("body", "bodies"), ("constraint row", "constraint rows")
    counted = zip(counts.values(), words, strict=True)
    return ", ".join(f"{n} {pair[n != 1]}" for n, pair in counted if n)


def _report_other_faults(file: str, problem: BadModel) -> None:
    """Every fault of a model file but the first, which ends the command."""
    from dalembert.interface.studio.faults import read_with_faults

    path = Path(file).expanduser()
    if path.suffix.lower() not in ENDINGS or not path.is_file():
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    source = ModelSource(file, text)
    for fault in read_with_faults(text, path.name)[1]:
        if (fault.line, fault.sentence) != (problem.line, problem.message):
            try:
                source.raise_error_at(fault.sentence, source.offset(fault.line, fault.column))
            except BadModel as other:
                print_error(str(other))


def _dimensions(s: System) -> str:
    if not s.dimensions:
        return "not checked: no units are given"
    known = s.known_dimensions()
    open_ones = [name for name in s.symbols if name not in known]
    left = f"; left open: {', '.join(open_ones)}" if open_ones else ""
    return f"all sums fit; {len(known)} symbols have one{left}"


def _analyse_constraints(name: str, s: System) -> ConstraintAnalysis:
    from dalembert.analysis.constraint_analysis.analysis import constraints as analysis

    try:
        return analysis(s, guess=default_coordinates(name, s))
    except DalembertError as problem:
        _raise_at_source(name, s, problem)


def _raise_at_source(name: str, s: System, problem: DalembertError) -> NoReturn:
    """The place of the element at fault, where the system came from a file."""
    source = s.settings.source if isinstance(s.settings, Settings) else None
    if source is not None:
        for element in problem.elements:
            path = next((p for p in source.positions if len(p) == 2 and p[1] == element), None)
            if path is not None:
                source.raise_error(str(problem), path, key=True)
    msg = f"{name}: {problem}"
    raise Unknown(msg) from problem


def new(kind: Annotated[str, Argument(metavar="KIND", help=f"{', '.join(TEMPLATES)}.")]) -> None:
    r"""Print a model file with comments to start from.

    \b
    dalembert new pendulum
    dalembert new robot-arm -o arm.toml
    """
    if kind not in TEMPLATES:
        msg = (
            f"no kind {kind!r:.40}; "
            f"{suggest_name(kind, TEMPLATES) or 'there are ' + ', '.join(TEMPLATES)}"
        )
        raise Unknown(msg)
    sys.stdout.write(TEMPLATES[kind])


def convert(
    system: SystemName,
    target: Annotated[
        str,
        Argument(metavar="FILE", help="A .toml or .json file, or toml or json for the terminal."),
    ],
    values: SetValues = None,
) -> None:
    r"""Convert a system to a model file.

    \b
    dalembert convert rolling-disk disk.toml
    dalembert convert file.py:pendulum pendulum.json
    dalembert convert model.toml json
    """
    s = find_system(system, values).system
    settings = _gallery_settings(system, s)
    if target in ("toml", "json"):
        sys.stdout.write((toml_text if target == "toml" else json_text)(s, settings))
        return
    if not target.lower().endswith(ENDINGS):
        msg = f"{target}: give a file that ends in {' or '.join(ENDINGS)}"
        raise Unknown(msg)
    print_error(f"written: {save(s, Path(target), settings=settings)}")


def _gallery_settings(name: str, s: System) -> Settings | None:
    """What the gallery proposes for a system and prints about it, for its file."""
    if isinstance(s.settings, Settings):
        return None
    entry = default_run(name, s)
    if entry is None:
        return None
    from dalembert.gallery import DerivedByHand

    printed = tuple(
        PrintedEquation(p.label, p.residual, p.combination, isinstance(p, DerivedByHand))
        for p in entry.printed
    )
    run = {
        "duration": entry.duration,
        "start": dict(entry.start),
        "inputs": dict(entry.inputs),
        "events": list(entry.events),
    }
    title = entry.title if entry.title != s.name else ""
    return Settings(
        "", title, entry.description, printed, {k: v for k, v in run.items() if v not in ({}, [])}
    )


def schema() -> None:
    r"""Print the JSON Schema of model files.

    Editors use it for completion and checks.

    \b
    dalembert schema -o dalembert.schema.json
    """
    sys.stdout.write(json.dumps(model_schema(), indent=1, ensure_ascii=False) + "\n")
