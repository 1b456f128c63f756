"""The parts of a page, from the description to what is needed to make it again, each as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from dalembert.algebra.printing.names import superscript
from dalembert.page.embedding import scene_data, script
from dalembert.page.motion import groups
from dalembert.page.packing import Packing, shortened, trimmed
from dalembert.page.patience import PatientWriting
from dalembert.page.plots import Curve, Panel, Plots
from dalembert.page.study import Study
from dalembert.principles.base import Derivation
from dalembert.report import comparison, document, steps, tables
from dalembert.report.blocks import Block, Heading, words
from dalembert.report.energy_integrals import energy_integrals
from dalembert.report.html import html
from dalembert.report.motion import SMALL
from dalembert.report.preliminaries import preliminaries
from dalembert.report.results import printed
from dalembert.report.writing import LatexWriting

if TYPE_CHECKING:
    from dalembert.page.vibration import Vibration
    from dalembert.simulation.trajectory import Trajectory


_ABOUT = (
    "E_Z = K₂ + 𝒰 + Z is constant on every motion, whatever the loads do; how far a run departs from that is its own error. "
    "E = K₂ + 𝒰, 𝓗 = K₂ − K₀ + 𝒰 and C = K + 𝒰 are constant only under conditions, which are decided below."
)
# the letters of the energies, set as mathematics
_LETTERS = re.compile(r"E_Z|σ_R|K̇₂|K[₀₁₂]|\b[KETVZC]\b(?! is)")


def typeset(text: str) -> str:
    """Plain words with the energies in italics and their indices lowered."""
    lowered = {"E_Z": "<i>E<sub>Z</sub></i>", "σ_R": "<i>σ<sub>R</sub></i>"}
    return _LETTERS.sub(lambda found: lowered.get(found[0], f"<i>{found[0]}</i>"), escape(text))


EZ = typeset("E_Z")


def short(x: float) -> str:
    """1.9 × 10⁻¹⁰"""
    if x == 0:
        return "0"
    digits, _, exponent = f"{x:.1e}".partition("e")
    return f"{x:.3g}" if -3 <= int(exponent) < 4 else f"{digits.removesuffix('.0')} × 10{superscript(int(exponent))}"


def section(identity: str, title: str, *inside: str) -> str:
    """A part with its heading."""
    return f'<section id="{identity}" aria-labelledby="{identity}-title"><h2 id="{identity}-title">{escape(title)}</h2>{"".join(inside)}</section>'


# ---- the system ------------------------------------------------------------------------------


def head(study: Study, sketch: str) -> str:
    """Name, source, sketch, the facts that matter, and the tables of the description."""
    subject, kin = study.subject, study.derivations[0].kinematics
    writing = LatexWriting().on(study.derivations[0].tape)
    lead = f'<p class="lead">{escape(subject.description)}</p>' if subject.description else ""
    source = f'<p class="source">Source: {escape(subject.source)}</p>' if subject.source else ""
    picture = f'<div class="picture">{sketch}</div>' if sketch else ""
    blocks = {
        "Coordinates, speeds and constants": [tables.symbols(subject.system, writing)],
        "Bodies": [tables.bodies(subject.system, writing)],
        "Loads": list(tables.loads(kin, writing)),
        "Constraints and freedoms": [*tables.constraints(kin, writing), tables.freedoms(kin)],
    }
    first, *others = (f"<h3>{escape(title)}</h3>{html(shortened(inside, _derive(study)))}" for title, inside in blocks.items())
    parts = f"<div>{first}</div><div>{''.join(others)}</div>"
    hero = f'<div class="hero"><div><h1>{escape(subject.title)}</h1>{lead}{source}{_facts(study)}</div>{picture}</div>'
    return f'<section id="system" aria-label="The system">{hero}<div class="columns description">{parts}</div></section>'


def _facts(study: Study) -> str:
    kin, run, agreed = study.derivations[0].kinematics, study.run, study.agreed
    count = sum(r.applicable for r in agreed.rows)
    facts = [(f"{kin.n_u}", f"freedom{'s' * (kin.n_u != 1)} of velocity, {kin.n_q} coordinate{'s' * (kin.n_q != 1)}", "")]
    verdict = f"{count} principles {'agree' if agreed.agree else 'DISAGREE'}"
    chance = f"exactly; chance of error below {short(agreed.bound)}" if agreed.bound else "they give identical expressions"
    facts.append((verdict, chance if agreed.agree else "see Agreement", "good" if agreed.agree else "bad"))
    if run is not None:
        size, what = energy_line(run)
        facts.append((short(size), what, "good" if size <= SMALL else "bad"))
        if run.residuals:
            worst = run.worst_residual
            facts.append((short(worst), "largest residual of a constraint", "good" if worst <= SMALL else "bad"))
    items = [f'<li class="{kind or "plain"}"><b>{escape(a)}</b><span>{typeset(b)}</span></li>' for a, b, kind in facts]
    return f'<ul class="facts">{"".join(items)}</ul>'


def energy_line(run: Trajectory) -> tuple[float, str]:
    """The size of the energy's drift, and what it is."""
    if run.judge is not None and len(run):
        return run.integrals.relative_drift, "drift of E_Z = K₂ + 𝒰 + Z, as a part of its scale"
    return run.energy_drift, "drift of T + V, as a part of the largest T"


# ---- equations -------------------------------------------------------------------------------


def equations(study: Study, packing: Packing) -> str:
    """The equations by each principle behind a switch, and how each comes about, step by step."""
    first = study.derivations[0]
    patient = PatientWriting()
    writing = patient.on(first.tape)
    command = _derive(study)
    tabs, panels = [], []
    for k, d in enumerate(study.derivations):
        name = d.principle.name
        tabs.append(_tab(f"principle-{name}", d.principle.title, chosen=not k))
        panels.append(f'<div class="panel" role="tabpanel" id="principle-{name}" aria-label="{escape(d.principle.title)}"{" hidden" * bool(k)}>{_principle(d, patient, packing, f"{command} --by {name}")}</div>')
    rates = html(shortened(list(steps.rates(first, writing)), command))
    gone = html(list(tables.dropped_out(first, writing)))
    shared = _folded(steps.numbered(list(preliminaries(study.derivations, writing)), "teach"), packing, command)
    results = html(printed(study.subject.results, study.subject.source, first, writing)).replace("<h2>", "<h3>").replace("</h2>", "</h3>")
    return section(
        "equations",
        "Equations of motion",
        f'<div class="tabs" role="tablist" aria-label="Principles">{"".join(tabs)}</div>',
        *panels,
        f"<h3>Rates of the coordinates</h3>{rates}{gone}",
        f"<h3>From the description to the kinematics</h3><p>What all principles share.</p>{shared}",
        results,
    )


def _tab(target: str, title: str, *, chosen: bool) -> str:
    return f'<button role="tab" type="button" aria-controls="{target}" aria-selected="{str(chosen).lower()}" tabindex="{0 if chosen else -1}">{escape(title)}</button>'


def _principle(d: Derivation, writing: PatientWriting, packing: Packing, command: str) -> str:
    """What it says, the equations it gives, and the steps to them, folded."""
    short = [b for b in steps.derivation(d, writing, level="equations") if not (isinstance(b, Heading) and b.level == 2)]
    statement, rest = html(short[:1]), html(shortened(short[1:], command))
    title = escape(d.principle.title)
    fewer, missing = trimmed(d)
    long = _folded(steps.derivation(fewer, writing, level="teach"), packing, f"{command} --steps teach", missing)
    return f'<div class="statement">{statement}</div>{packing.fragment(rest)}<h3>Derivation step by step</h3><div class="steps" aria-label="Steps of {title}">{long}</div>'


def _folded(blocks: Iterable[Block], packing: Packing, command: str, missing: Mapping[str, int] | None = None) -> str:
    """Every step under its title, to be unfolded."""
    parts: list[tuple[str, list[Block]]] = []
    for block in blocks:
        if isinstance(block, Heading) and block.level == 3:
            parts.append((block.words, []))
        elif parts:
            parts[-1][1].append(block)
    found = []
    for title, inside in parts:
        lacks = (missing or {}).get(title.partition(". ")[2], 0)
        rest = [words(f"… and {lacks} more quantities: too many for a page; {command} prints them all.", quiet=True)] if lacks else []
        shown = html([*shortened(inside, command), *rest])
        found.append(f"<details><summary>{escape(title)}</summary>{packing.fragment(shown)}</details>")
    return "".join(found)


# ---- agreement -------------------------------------------------------------------------------


def agreement(study: Study) -> str:
    """The table of principles with families and effort, the exactness statement, the audit."""
    return section("agreement", "Agreement of the principles", html(comparison.agreement(study.agreed)))


# ---- motion ----------------------------------------------------------------------------------


def motion(study: Study, plots: Plots | None, sketch: str) -> str:
    """The animation and the plots that share its clock."""
    run = study.run
    if run is None or plots is None:
        return section("motion", "Motion", f"<p>Not run: {escape(study.why_no_run)}</p>")
    shown = [(title, panels) for title, panels in groups(run) if panels]
    tabs = [_tab(f"group-{k}", title, chosen=not k) for k, (title, _) in enumerate(shown)]
    grids = [f'<div class="group" role="tabpanel" id="group-{k}" aria-label="{escape(title)}"{" hidden" * bool(k)}>{plots.grid(panels)}</div>' for k, (title, panels) in enumerate(shown)]
    return section(
        "motion",
        "Motion",
        f"<p>{_beginning(run)}</p>",
        "".join(f'<p class="fails">{escape(remark)}</p>' for remark in study.remarks),
        player("player", sketch, float(run.t[0]), float(run.t[-1]), kinds(run)),
        f'<div class="tabs" role="tablist" aria-label="Plots" style="margin-top:1.6rem">{"".join(tabs)}</div>',
        *grids,
    )


def _beginning(run: Trajectory) -> str:
    given = ", ".join(f"{m.name} = {m.value:.6g}" for m in run.start.marks if m.origin == "given")
    s = run.solution
    reached = f"{run.t[-1] - run.t[0]:.6g} s in {s.steps} steps, {s.rejected} rejected, {s.calls} evaluations"
    return escape(f"From {given or 'zero'}: {reached}." + ("" if run.finished else f" It stopped before its end: {s.message or s.outcome.value}."))


PLAY = '<svg viewBox="0 0 16 16" class="go" aria-hidden="true"><path d="M4 2.5v11l9.5-5.5z"/></svg><svg viewBox="0 0 16 16" class="pause" aria-hidden="true"><path d="M3.5 2.5h3v11h-3zm6 0h3v11h-3z"/></svg>'
KINDS = {"weight": "weights", "load": "loads", "torque": "torques", "reaction": "reactions"}


def kinds(run: Trajectory) -> list[str]:
    """The kinds of arrows there are to be seen."""
    system = run.system
    found = {
        "weight": system.field is not None,
        "load": any(load.forces for load in system.loads),
        "torque": any(load.torques for load in system.loads),
        "reaction": False,
    }
    return [kind for kind, there in found.items() if there]


def player(identity: str, sketch: str, first: float, last: float, kinds: Sequence[str]) -> str:
    """A stage with its controls; until the script has begun it shows the drawing."""
    legend = "".join(f'<span><i style="background:var(--{kind})"></i>{KINDS[kind]}</span>' for kind in kinds)
    speeds = "".join(f'<option value="{k}"{" selected" * (k == 1)}>{label}</option>' for k, label in ((0.1, "⅒×"), (0.25, "¼×"), (0.5, "½×"), (1, "1×"), (2, "2×"), (4, "4×")))
    boxes = "".join(f'<label><input type="checkbox" data-show="{key}"> {label}</label>' for key, label in (*([("arrows", "forces")] if kinds else []), ("traces", "traces"), ("frames", "frames"), ("labels", "names")))
    return (
        f'<div class="player" id="{identity}"><div class="stage"><div class="fallback">{sketch}</div>'
        '<canvas tabindex="0" role="img" aria-label="The system in motion; arrow keys turn it, plus and minus zoom, space plays"></canvas>'
        '<div class="labels" aria-hidden="true" hidden></div></div><div class="controls">'
        f'<div class="time"><button class="play" type="button" aria-label="Play">{PLAY}</button>'
        f'<input type="range" min="{first!r}" max="{last!r}" step="any" value="{first!r}" aria-label="Time"><output class="clock"></output></div>'
        f'<label>speed <select class="speed">{speeds}</select></label>'
        '<label>view <select class="camera"><option value="home">natural</option><option value="front">front</option>'
        '<option value="side">side</option><option value="top">top</option></select></label>'
        f'<label><input type="checkbox" data-follow> follow</label>{boxes}</div><div class="legend" hidden>{legend}</div></div>'
    )


# ---- energy ----------------------------------------------------------------------------------


def energy(study: Study, plots: Plots | None, packing: Packing) -> str:
    """The integrals along the run, what their drift is due to, the works, and the verdicts."""
    parts: list[str] = []
    if study.run is not None and plots is not None:
        parts += _kept(study.run, plots)
    if study.integrals is None:
        parts.append(f"<p>The energy integrals were not decided: {escape(study.why_no_integrals)}</p>")
    else:
        blocks = shortened(list(energy_integrals(study.integrals, PatientWriting())), f"dalembert integrals {_quoted(study.wish.name)}")
        lowered = [Heading(3, b.words) if isinstance(b, Heading) else b for b in blocks]
        parts.append(packing.fragment(html(lowered)))
    return section("energy", "Energy", *parts)


def _kept(run: Trajectory, plots: Plots) -> Iterator[str]:
    if run.judge is None:
        E, T = run.energy, run.kinetic_energy
        curves = (Curve("T", T), Curve("V", run.potential_energy), Curve("T + V", E))
        yield plots.grid([Panel("Energies", run.t, curves, wide=True)])
        return
    I = run.integrals
    drift = (I.E_Z - I.E_Z[:1]) / (I.scale or 1.0)
    curves = [Curve(typeset(name), x) for name, x in (("E_Z", I.E_Z), ("E", I.E), ("𝓗", I.H), ("C", I.C))]
    parts = [Curve(typeset(name), x) for name, x in (("K₂", I.K2), ("𝒰", I.potential), ("Z", I.Z))]
    panels = [
        Panel(typeset("Drift of E_Z, as a part of its scale"), I.t, (Curve("", drift),), wide=True),
        Panel("Integrals", I.t, tuple(curves), coinciding=True),
        Panel(typeset("E_Z = K₂ + 𝒰 + Z"), I.t, tuple(parts)),
    ]
    works = [Curve(escape(name), w.classical) for name, w in I.works.items()]
    panels += [Panel("Work of each load", I.t, tuple(works[k : k + 6])) for k in range(0, len(works), 6)]
    yield f"<p>{typeset(_ABOUT)}</p>"
    yield plots.grid(panels)
    good = "none" if I.model_is_right else short(I.model_error)
    rows = [
        ("model", good, f"K̇₂ + σ_R = 𝒫 at single states, to {short(I.model_residual)} of the powers"),
        ("constraints", short(I.constraint_drift), "jumps of K₂ + 𝒰 where the motion is brought back onto the constraints"),
        ("integrator", short(I.integrator_error), "the rest"),
    ]
    body = "".join(f"<tr><td>{escape(a)}</td><td>{escape(b)}</td><td>{typeset(c)}</td></tr>" for a, b, c in rows)
    yield f'<h3>Three kinds of error</h3><p>Largest change of {EZ}: {short(I.drift)}, which is {short(I.relative_drift)} of the scale {I.scale:.4g}.</p><table class="errors"><thead><tr><th scope="col">due to</th><th scope="col">size</th><th scope="col">how it is told</th></tr></thead><tbody>{body}</tbody></table>'


# ---- equilibria and modes --------------------------------------------------------------------


def linear(study: Study) -> str:
    """Equilibria, steady motions, eigenvalues, mode shapes."""
    if not study.vibrations:
        reason = study.why_no_vibrations or "none was found"
        return section("linear", "Equilibria and linear modes", f"<p>{escape(reason[:1].upper() + reason[1:])}.</p>")
    parts = []
    for n, v in enumerate(study.vibrations):
        e = v.equilibrium
        point = ", ".join(f"{name} = {x:.6g}" for name, x in e.point.items() if abs(x) > 1e-12) or "all coordinates and speeds zero"
        tone = {"stable": "holds", "unstable": "fails"}.get(e.stability.verdict, "quiet")
        verdict = f'<span class="{tone}">{escape(e.stability.verdict)}</span>: {escape(e.stability.reason)}'
        parts.append(f"<h3>{escape(v.title)}</h3><p>{escape(point)}.</p><p>{verdict}.</p>{_eigenvalues(v)}{_shapes(study, v, n)}")
    return section("linear", "Equilibria and linear modes", *parts)


def _eigenvalues(v: Vibration) -> str:
    rows = []
    states = v.model.states
    for m in v.modes:
        z = m.eigenvalue
        value = f"{z.real:.6g} ± {z.imag:.6g} i" if z.imag else f"{z.real:.6g}"
        order = [k for k in np.argsort(-np.abs(m.shape), kind="stable")[:4] if abs(m.shape[k]) >= 0.01]
        shape = ", ".join(f"{states[k]} {abs(m.shape[k]):.3g}" for k in order)
        rows.append((value, f"{m.frequency:.5g}", f"{m.damping + 0.0:.3g}".replace("nan", "—").replace("-0", "0") if abs(m.damping) < 1e-9 else f"{m.damping:.3g}".replace("nan", "—"), shape))
    zeros = sum(m.structural for m in v.model.modes().modes)
    if not rows:
        return f"<p>All {zeros} eigenvalues are zero: ignorable coordinates and free speeds.</p>"
    body = "".join("<tr>" + "".join(f"<td>{escape(c).replace('-', '−')}</td>" for c in row[:3]) + f"<td>{escape(row[3])}</td></tr>" for row in rows)
    note = f'<p class="quiet">Beside these 0, {zeros} times: ignorable coordinates and free speeds.</p>' if zeros else ""
    head = "".join(f'<th scope="col">{h}</th>' for h in ("eigenvalue λ", "frequency |λ|", "damping ζ", "largest parts of the shape"))
    return f'<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}'


MOST_SHAPES = 6


def _shapes(study: Study, v: Vibration, number: int) -> str:
    """Mode shapes in motion, each on a stage of its own."""
    from dalembert.page.scene import scene
    from dalembert.page.sketch import picture, svg
    from dalembert.page.vibration import shape_run

    if study.run is None:
        return ""
    cards = []
    moving = [m for m in v.modes if m.eigenvalue and np.abs(v.model.C @ m.shape).max(initial=0.0) > 1e-9][:MOST_SHAPES]
    for k, m in enumerate(moving):
        drawn = scene(shape_run(study.run, v, m), arrows=False)
        identity = f"mode-{number}-{k}"
        data = script(identity, scene_data(drawn) | {"period": v.period(m)})
        z = m.eigenvalue
        name = f"λ = {z.real:.4g} ± {z.imag:.4g} i" if z.imag else f"λ = {z.real:.4g}"
        still = svg(picture(drawn, len(drawn.t) // 4), f"Mode shape, {name}")
        cards.append(
            f'<figure class="mode player" data-scene="{identity}"><div class="stage"><div class="fallback">{still}</div><canvas tabindex="0" role="img" '
            f'aria-label="Mode shape, {escape(name)}"></canvas><div class="labels" hidden></div></div><figcaption class="controls"><button class="play" '
            f'type="button" aria-label="Play">{PLAY}</button><span>{escape(name).replace("-", "−")}</span></figcaption></figure>{data}'
        )
    return f'<div class="plots modes">{"".join(cards)}</div>' if cards else ""


# ---- what is needed to make it again ---------------------------------------------------------


def reproduction(study: Study) -> str:
    """Versions, parameters, tolerances, the command and the Python that remake the page, and the data."""
    from dalembert.page.remaking import command, program, versions

    rows = "".join(f"<tr><td>{escape(a)}</td><td>{escape(b)}</td></tr>" for a, b in versions(study))
    data = '<p><button class="download" type="button">Download the motion as CSV</button></p>' if study.run is not None else ""
    asked = f"<h3>Command</h3><pre><code>{escape(command(study.wish))}</code></pre>" if study.wish.name else ""
    python = f"<h3>Python</h3><pre><code>{escape(program(study))}</code></pre>"
    cited = [study.subject.source, *(d.principle.source for d in study.derivations)]
    works = html(document.sources(*cited)).replace("<h2>", "<h3>").replace("</h2>", "</h3>")
    table = f"<div><h3>Versions, values and tolerances</h3><table><tbody>{rows}</tbody></table>{data}</div>"
    return section("reproduction", "How to make this page again", f'<div class="columns">{table}<div>{asked}{python}</div></div>', works)


def _derive(study: Study) -> str:
    return f"dalembert derive {_quoted(study.wish.name)}" if study.wish.name else "dalembert derive"


def _quoted(name: str) -> str:
    from shlex import quote

    return quote(name) if name else "SYSTEM"


def navigation(parts: Sequence[tuple[str, str]]) -> str:
    """Links to the parts."""
    return "".join(f'<a href="#{identity}">{escape(title)}</a>' for identity, title in parts)
