"""Equilibria, steady motions, eigenvalues, and mode shapes in motion."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.page.embedding import scene_data, script
from dalembert.page.parts.motion import PLAY
from dalembert.page.parts.words import section, table
from dalembert.page.scene import scene
from dalembert.page.sketch import picture, svg
from dalembert.page.study import Study
from dalembert.page.vibration import shape_run
from dalembert.units.quantity import labelled

if TYPE_CHECKING:
    from dalembert.linear.model import Mode
    from dalembert.page.vibration import Vibration

MOST_SHAPES: Final = 9
_DUST: Final = 1e-12
_TONES: Final = {"stable": "holds", "unstable": "fails"}


def linear(study: Study) -> str:
    """Every point that was found, or why there is none."""
    if not study.vibrations:
        reason = study.why_no_vibrations or "none was found"
        return section("linear", "Equilibria and linear modes", f"<p>{escape(reason[:1].upper() + reason[1:])}.</p>")
    # browsers draw on few stages at once
    left = MOST_SHAPES
    parts = []
    for n, v in enumerate(study.vibrations):
        cards = _shapes(study, v, n, left)
        left -= len(cards)
        shapes = f'<div class="plots modes">{"".join(cards)}</div>' if cards else ""
        parts.append(_point(v) + _eigenvalues(v) + shapes)
    return section("linear", "Equilibria and linear modes", *parts)


def _point(v: Vibration) -> str:
    e = v.equilibrium
    shown = [f"{name} = {x:.6g} {e.units.get(name, '')}".rstrip() for name, x in e.point.items() if abs(x) > _DUST]
    point = ", ".join(shown) or "All coordinates and speeds are zero"
    tone = _TONES.get(e.stability.verdict, "quiet")
    verdict = f'<span class="{tone}">{escape(e.stability.verdict)}</span>: {escape(e.stability.reason)}'
    growth = v.model.modes().growth
    grows = growth > 1e-9 * max((m.frequency for m in v.modes), default=1.0)
    linear = (
        f'<p><span class="fails">Unstable</span>: a mode grows with Re λ = {growth:.5g}{" 1/s" if v.model.units else ""}.</p>'
        if grows and tone != "fails"
        else ""
    )
    return f"<h3>{escape(v.title)}</h3><p>{escape(point)}.</p><p>{verdict}.</p>{linear}"


def _eigenvalues(v: Vibration) -> str:
    zeros = sum(m.structural for m in v.model.modes().modes)
    if not v.modes:
        return f"<p>All {zeros} eigenvalues are zero: ignorable coordinates and free speeds.</p>"
    rows = [(_value(m), f"{m.frequency:.5g}", _damping(m), escape(_parts(v, m))) for m in v.modes]
    note = f'<p class="quiet">Beside these 0, {zeros} times: ignorable coordinates and free speeds.</p>' if zeros else ""
    per, turns = ("1/s", "rad/s") if v.model.units else ("", "")
    return table((labelled("eigenvalue λ", per), labelled("frequency |λ|", turns), "damping ζ", "largest parts of the shape"), rows) + note


def _value(m: Mode, digits: int = 6) -> str:
    z, size = m.eigenvalue, abs(m.eigenvalue)
    real = z.real if abs(z.real) > _DUST * size else 0.0
    text = f"{real:.{digits}g} ± {z.imag:.{digits}g} i" if abs(z.imag) > _DUST * size else f"{real:.{digits}g}"
    return text.replace("-", "−")


def _damping(m: Mode) -> str:
    if not m.eigenvalue:
        return "—"
    return f"{m.damping if abs(m.damping) > _DUST else 0.0:.3g}".replace("-", "−")


def _parts(v: Vibration, m: Mode) -> str:
    order = [k for k in np.argsort(-np.abs(m.shape), kind="stable")[:4] if abs(m.shape[k]) >= 0.01]
    return ", ".join(f"{v.model.states[k]} {abs(m.shape[k]):.3g}" for k in order)


def _shapes(study: Study, v: Vibration, number: int, most: int) -> list[str]:
    """Mode shapes, each on a stage of its own."""
    if study.run is None:
        return []
    moving = [m for m in v.modes if m.eigenvalue and np.abs(v.model.C @ m.shape).max(initial=0.0) > 1e-9]
    cards = []
    for k, m in enumerate(moving[:most]):
        drawn = scene(shape_run(study.run, v, m), arrows=False)
        identity, name = f"mode-{number}-{k}", f"λ = {_value(m, 4)}"
        data = script(identity, scene_data(drawn) | {"period": v.period(m)})
        still = svg(picture(drawn, len(drawn.t) // 4), f"Mode shape, {name}")
        cards.append(
            f'<figure class="mode player" data-scene="{identity}"><div class="stage"><div class="fallback">{still}</div>'
            f'<canvas tabindex="0" role="img" aria-label="Mode shape, {name}"></canvas><div class="labels" hidden></div></div>'
            f'<figcaption class="controls">{PLAY}<span>{name}</span></figcaption></figure>{data}'
        )
    return cards
