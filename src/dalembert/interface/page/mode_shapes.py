"""δq = Re(C v e^{λt}): equilibria and steady motions of a system, how it moves near them, and
its mode shapes in motion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.analysis.linear.linear_model import LinearModel, Mode
from dalembert.analysis.linear.linearize import linearize
from dalembert.analysis.statics.equilibrium import Equilibrium, equilibrium
from dalembert.errors import DalembertError, NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.page.data_blocks import data_block, scene_data
from dalembert.interface.page.html_elements import section, table
from dalembert.interface.page.parts.motion import PLAY
from dalembert.interface.page.root_locus_figure import SpeedLocus, locus_figure, speed_locus
from dalembert.interface.page.scene import build_scene
from dalembert.interface.page.svg_drawing import draw_scene, svg
from dalembert.interface.page.typeset_symbols import symbol_html
from dalembert.mechanics.model.system import System
from dalembert.runtime.states.evaluator import label
from dalembert.symbolic.units.quantities import label_with_unit

if TYPE_CHECKING:
    from dalembert.interface.page.report_page import ReportData
    from dalembert.runtime.simulation.run_options import RunOptions
    from dalembert.runtime.simulation.trajectory import Trajectory

# radians or units of length that the largest coordinate of an animated mode reaches
_AMPLITUDE: Final = 0.3
_FRAMES: Final = 61
_STEADY_SEARCHES: Final = 4
# accelerations along a steady motion, relative to the entries of A
_STEADY: Final = 1e-6
MOST_COORDINATES: Final = 12


@dataclass(frozen=True, eq=False)
class LinearizedPoint:
    """A point, its stability, and the linear model about it; the outputs of the model are all
    coordinates.
    """

    title: str
    equilibrium: Equilibrium
    model: LinearModel = field(repr=False)
    # of a steady motion, over the speed that was given
    locus: SpeedLocus | None = None

    @property
    def modes(self) -> tuple[Mode, ...]:
        """One mode for each pair of eigenvalues, without the zeros of ignorable coordinates."""
        return tuple(
            m for m in self.model.modes().modes if not m.structural and m.eigenvalue.imag >= 0
        )

    def motion(self, mode: Mode) -> FloatArray:
        """The coordinates over one period (or one time constant) of a mode, in rows."""
        delta = self.model.C @ mode.shape
        phases = np.linspace(0.0, 1.0, _FRAMES)
        oscillates = abs(mode.eigenvalue.imag) > 1e-9 * abs(mode.eigenvalue)
        # growth and decay over one period would hide the shape, so only the phase goes round
        turn = (
            np.exp(2j * np.pi * phases)
            if oscillates
            else np.sin(2 * np.pi * phases).astype(complex)
        )
        swing = np.real(np.outer(turn, delta))
        largest = float(np.abs(swing).max(initial=0.0))
        return np.asarray(
            self.equilibrium.q + (_AMPLITUDE / largest if largest > 0 else 0.0) * swing
        )

    def period(self, mode: Mode) -> float:
        """2π/|Im λ|, or 2π/|λ| where nothing oscillates."""
        rate = abs(mode.eigenvalue.imag) or abs(mode.eigenvalue) or 1.0
        return float(2 * np.pi / rate)


def linearized_points(system: System, options: RunOptions) -> tuple[LinearizedPoint, ...]:
    """The equilibrium nearest to zero, and a steady motion with one of the start's speeds, where
    they exist.
    """
    if len(system.q) > MOST_COORDINATES:
        msg = (
            f"not searched for: with {len(system.q)} coordinates that takes minutes; `dalembert "
            f"equilibrium` and `dalembert modes` do it"
        )
        raise NotApplicable(msg)
    points: list[LinearizedPoint] = []
    reasons: list[DalembertError] = []
    for title, given in _candidate_points(system, options):
        try:
            points.append(_linearize_at(system, title, given, options))
        except DalembertError as problem:
            reasons.append(problem)
    if not points and reasons:
        raise reasons[0]
    return tuple(points)


def _candidate_points(
    system: System, options: RunOptions
) -> Iterator[tuple[str, dict[str, float]]]:
    """At rest, then with each rate or speed of the start alone."""
    yield "At rest", {}
    coordinates = {s.name for s in system.symbols.values() if s.kind == "coordinate"}
    rates = {name: x for name, x in options.start.items() if name not in coordinates and x}
    for name, x in list(rates.items())[:_STEADY_SEARCHES]:
        yield f"Steady motion with {label(name)} = {x:.6g}", {name: x}


def _linearize_at(
    system: System, title: str, given: Mapping[str, float], options: RunOptions
) -> LinearizedPoint:
    coordinates = [s.name for s in system.symbols.values() if s.kind == "coordinate"]
    # the search begins where the run does
    guess = {name: x for name, x in options.start.items() if name in coordinates}
    point = equilibrium(system, given, guess=guess, values=options.values, inputs=options.inputs)
    about = dict(point.point)
    model = linearize(
        system,
        about,
        values=options.values,
        inputs=options.inputs,
        outputs=coordinates,
        equilibrium=True,
    )
    if not _is_steady(model):
        msg = f"{title}: a coordinate on which the accelerations depend changes"
        raise NotApplicable(msg)
    locus = None
    if given:
        ((name, speed),) = given.items()
        locus = speed_locus(system, name, speed, about, options)
    return LinearizedPoint(title, point, model, locus)


def _is_steady(model: LinearModel) -> bool:
    """∂u̇/∂z ż = 0: the accelerations stay zero while coordinates change."""
    A, n = model.A, model.n_z
    rates = model.offset[:n]
    size = np.abs(A).max(initial=0.0) * np.abs(rates).max(initial=0.0)
    return bool(np.abs(A[n:, :n] @ rates).max(initial=0.0) <= _STEADY * size)


def mode_trajectory(run: Trajectory, v: LinearizedPoint, mode: Mode) -> Trajectory:
    """The mode as a motion of the same system."""
    q, u = v.motion(mode), v.equilibrium.u
    # a run that keeps all rates in its state has other speeds; the shape shows positions only
    u = u if len(u) == run.u.shape[1] else np.zeros(run.u.shape[1])
    return run.with_states(
        np.linspace(0.0, v.period(mode), len(q)), q, np.broadcast_to(u, (len(q), len(u)))
    )


MOST_SHAPES: Final = 9
_DUST: Final = 1e-12
_TONES: Final = {"stable": "holds", "unstable": "fails"}


def modes_section(study: ReportData) -> str:
    """Every point that was found, or why there is none."""
    if not study.vibrations:
        reason = study.why_no_vibrations or "none was found"
        return section(
            "linear",
            "Equilibria and linear modes",
            f"<p>{escape(reason[:1].upper() + reason[1:])}.</p>",
        )
    # browsers draw on few stages at once
    left = MOST_SHAPES
    parts = []
    for n, v in enumerate(study.vibrations):
        cards = _shapes(study, v, n, left)
        left -= len(cards)
        shapes = f'<div class="plots modes">{"".join(cards)}</div>' if cards else ""
        locus = "" if v.locus is None else locus_figure(v.locus, study.subject.mode_names)
        written = _point(v, study.system) + _eigenvalues(v, study.system)
        parts.append(written + locus + shapes)
    return section("linear", "Equilibria and linear modes", *parts)


def _point(v: LinearizedPoint, system: System) -> str:
    e, tape = v.equilibrium, system.space.tape
    shown = [
        f"{symbol_html(tape, name)} = {x:.6g} {escape(e.units.get(name, ''))}".rstrip()
        for name, x in e.point.items()
        if abs(x) > _DUST
    ]
    point = ", ".join(shown) or "All coordinates and speeds are zero"
    tone = _TONES.get(e.stability.verdict, "quiet")
    verdict = (
        f'<span class="{tone}">{escape(e.stability.verdict)}</span>: {escape(e.stability.reason)}'
    )
    growth = v.model.modes().growth
    grows = growth > 1e-9 * max((m.frequency for m in v.modes), default=1.0)
    linear = (
        f'<p><span class="fails">Unstable</span>: a mode grows with Re λ = '
        f"{growth:.5g}{' 1/s' if v.model.units else ''}.</p>"
        if grows and tone != "fails"
        else ""
    )
    return f"<h3>{escape(v.title)}</h3><p>{point}.</p><p>{verdict}.</p>{linear}"


def _eigenvalues(v: LinearizedPoint, system: System) -> str:
    zeros = sum(m.structural for m in v.model.modes().modes)
    if not v.modes:
        return f"<p>All {zeros} eigenvalues are zero: ignorable coordinates and free speeds.</p>"
    rows = [
        (_value(m), f"{m.frequency:.5g}", _damping_text(m), _dominant_states(v, m, system))
        for m in v.modes
    ]
    note = (
        f'<p class="quiet">The eigenvalue 0 occurs {zeros} times: ignorable coordinates and free '
        f"speeds.</p>"
        if zeros
        else ""
    )
    per, turns = ("1/s", "rad/s") if v.model.units else ("", "")
    return (
        table(
            (
                label_with_unit("eigenvalue λ", per),
                label_with_unit("frequency |λ|", turns),
                "damping ζ",
                "largest parts of the shape",
            ),
            rows,
        )
        + note
    )


def _value(m: Mode, digits: int = 6) -> str:
    z, size = m.eigenvalue, abs(m.eigenvalue)
    real = z.real if abs(z.real) > _DUST * size else 0.0
    text = (
        f"{real:.{digits}g} ± {z.imag:.{digits}g} i"
        if abs(z.imag) > _DUST * size
        else f"{real:.{digits}g}"
    )
    return text.replace("-", "−")


def _damping_text(m: Mode) -> str:
    if not m.eigenvalue:
        return "—"
    return f"{m.damping if abs(m.damping) > _DUST else 0.0:.3g}".replace("-", "−")


def _dominant_states(v: LinearizedPoint, m: Mode, system: System) -> str:
    order = [k for k in np.argsort(-np.abs(m.shape), kind="stable")[:4] if abs(m.shape[k]) >= 0.01]
    tape = system.space.tape
    return ", ".join(f"{symbol_html(tape, v.model.states[k])} {abs(m.shape[k]):.3g}" for k in order)


def _shapes(study: ReportData, v: LinearizedPoint, number: int, most: int) -> list[str]:
    """Mode shapes, each on a stage of its own."""
    if study.run is None:
        return []
    moving = [
        m for m in v.modes if m.eigenvalue and np.abs(v.model.C @ m.shape).max(initial=0.0) > 1e-9
    ]
    cards = []
    for k, m in enumerate(moving[:most]):
        drawn = build_scene(mode_trajectory(study.run, v, m), arrows=False)
        identity, name = f"mode-{number}-{k}", f"λ = {_value(m, 4)}"
        data = data_block(identity, scene_data(drawn) | {"period": v.period(m)})
        still = svg(draw_scene(drawn, len(drawn.t) // 4), f"Mode shape, {name}")
        cards.append(
            f'<figure class="mode player" data-scene="{identity}"><div class="stage"><div '
            f'class="fallback">{still}</div>'
            f'<canvas tabindex="0" role="img" aria-label="Mode shape, {name}"></canvas><div '
            f'class="labels" hidden></div></div>'
            f'<figcaption class="controls">{PLAY}<span>{name}</span></figcaption></figure>{data}'
        )
    return cards
