"""equilibrium, modes: where a system rests, and how it moves near a point."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from dalembert.cli.declared import Option
from dalembert.cli.options import Given, Input, SystemName, number_of, numbers, pairs
from dalembert.cli.output import Json, echo, tell, wrote
from dalembert.cli.program import subject
from dalembert.errors import Unknown
from dalembert.model.system import System
from dalembert.modelfile.settings import Settings

if TYPE_CHECKING:
    from dalembert.linear.locus import RootLocus

POINTS: Final = 51
COLUMNS: Final = 72

At = Annotated[list[str] | None, Option("--at", metavar="NAME=VALUE", help="A coordinate, rate or speed that has this value.")]
Near = Annotated[list[str] | None, Option("--near", metavar="NAME=VALUE", help="Where to begin; a rate is then solved for.")]
Box = Annotated[list[str] | None, Option("--box", metavar="NAME=LOW:HIGH", help="All equilibria with coordinates in this range.")]
About = Annotated[list[str] | None, Option("--about", metavar="NAME=VALUE", help="A coordinate, rate or speed of the point.")]
Sweep = Annotated[str, Option("--sweep", metavar="NAME=FROM:TO[:POINTS]", help="Follow the eigenvalues over this range.")]
Plot = Annotated[Path | None, Option("--plot", metavar="FILE.png", help="Where to save a plot of the sweep.")]


def equilibrium(
    system: SystemName,
    at: At = None,
    near: Near = None,
    box: Box = None,
    values: Given = None,
    inputs: Input = None,
    steps: Annotated[bool, Option("--steps", help="How the equations come about: virtual work, and the potential.")] = False,
    *,
    as_json: Json = False,
) -> None:
    """Equilibria and steady motions of one system."""
    from dalembert.statics.equilibrium import equilibria
    from dalembert.statics.equilibrium import equilibrium as found_near

    s = subject(system, values, complete=not steps).system
    if steps:
        _told(s)
        return
    given, setting = numbers(s, "--at", at), numbers(s, "--set", values)
    loads = dict(pairs("--input", inputs))
    if isinstance(s.settings, Settings) and not (at or near or box):
        asked = s.settings.equilibrium
        given, loads = dict(asked.get("at", {})), {**asked.get("inputs", {}), **loads}
        if "box" in asked:
            found = equilibria(s, asked["box"], given, values=setting, inputs=loads)
            tell(found, "\n\n".join(map(str, found)) or f"{s.name}: no equilibrium found", as_json=as_json)
        else:
            tell(found_near(s, given, guess=asked.get("near", {}), values=setting, inputs=loads), as_json=as_json)
        return
    if not box:
        tell(found_near(s, given, guess=numbers(s, "--near", near), values=setting, inputs=loads), as_json=as_json)
        return
    if near:
        msg = "--near and --box: give one of them; a box is searched all over"
        raise Unknown(msg)
    limits = {name: _range(s, "--box", name, text)[:2] for name, text in pairs("--box", box, "from:to")}
    found = equilibria(s, limits, given, values=setting, inputs=loads)
    tell(found, "\n\n".join(map(str, found)) or f"{s.name}: no equilibrium found in the box", as_json=as_json)


def _told(s: System) -> None:
    """Both routes, or why one does not apply."""
    from dalembert.errors import NotApplicable
    from dalembert.statics.principles import stationary_potential, virtual_work

    echo(virtual_work(s).explain())
    try:
        echo(f"\n{stationary_potential(s).explain()}")
    except NotApplicable as reason:
        echo(f"\nNot applicable: {reason}")


def modes(
    system: SystemName,
    about: About = None,
    sweep: Sweep = "",
    values: Given = None,
    inputs: Input = None,
    plot: Plot = None,
    *,
    as_json: Json = False,
) -> None:
    """The linear model about a point, or a root locus."""
    from dalembert.linear.linearize import linearize

    s = subject(system, values).system
    point, setting, loads = numbers(s, "--about", about), numbers(s, "--set", values), dict(pairs("--input", inputs))
    if isinstance(s.settings, Settings) and not about:
        point, loads = dict(s.settings.linear.get("about", {})), {**s.settings.linear.get("inputs", {}), **loads}
    if sweep:
        locus = _swept(s, sweep, point, setting, loads)
        told = {"parameter": locus.parameter, "values": locus.values, "eigenvalues": locus.eigenvalues, "changes": locus.changes}
        tell(told, _locus_text(locus), as_json=as_json)
        if plot is not None:
            locus.plot(plot)
            wrote(plot, as_json=as_json)
    elif plot is not None:
        msg = "--plot: there is something to plot only with --sweep"
        raise Unknown(msg)
    else:
        found = linearize(s, point, values=setting, inputs=loads)
        tell(found, as_json=as_json, modes=found.modes().modes)


def _swept(s: System, sweep: str, point: dict[str, float], setting: dict[str, float], loads: dict[str, str]) -> RootLocus:
    import numpy as np

    from dalembert.linear.locus import root_locus

    ((name, text),) = pairs("--sweep", [sweep], "from:to")
    low, high, count = _range(s, "--sweep", name, text)
    return root_locus(s, name, np.linspace(low, high, count), point, values=setting, inputs=loads)


def _locus_text(locus: RootLocus) -> str:
    lines = [locus.text_plot(min(len(locus.values), COLUMNS))]
    lines += [f"stability changes between {locus.parameter} = {a:.6g} and {b:.6g}" for a, b in locus.changes]
    if locus.structural:
        lines.append(f"not shown: 0, {locus.structural} times (ignorable coordinates and free speeds)")
    return "\n".join(lines)


def _range(s: System, option: str, name: str, text: str) -> tuple[float, float, int]:
    """0:10 or 0:10:101"""
    parts = text.split(":")
    if len(parts) not in ((2, 3) if option == "--sweep" else (2,)) or (len(parts) == 3 and not (parts[2].isdigit() and int(parts[2]) > 1)):
        msg = f"{option} {name}={text}: write it as {option} {name}=from:to" + (" or from:to:points" if option == "--sweep" else "")
        raise Unknown(msg)
    low, high = (number_of(s, option, name, x) for x in parts[:2])
    return low, high, int(parts[2]) if len(parts) == 3 else POINTS
