"""Name, source, sketch, the facts that matter, and the tables of the description."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from dalembert.page.embedding import Packing, shortened
from dalembert.page.parts.words import shell_name, short, typeset
from dalembert.page.study import Study
from dalembert.report import constraint_tables, tables
from dalembert.report.blocks import Block
from dalembert.report.motion import SMALL
from dalembert.report.writing import Writing

if TYPE_CHECKING:
    from dalembert.simulation.trajectory import Trajectory


def head(study: Study, sketch: str, packing: Packing) -> str:
    """The first thing that is seen."""
    subject, kin = study.subject, study.derivations[0].kinematics
    writing = Writing().on(study.derivations[0].tape)
    lead = f'<p class="lead">{escape(subject.description)}</p>' if subject.description else ""
    source = f'<p class="source">Source: {escape(subject.source)}</p>' if subject.source else ""
    picture = f'<div class="picture">{sketch}</div>' if sketch else ""
    hero = f'<div class="hero"><div><h1>{escape(subject.title)}</h1>{lead}{source}{_facts(study)}</div>{picture}</div>'
    blocks: dict[str, list[Block]] = {
        "Coordinates, speeds and constants": [tables.symbols(subject.system, writing)],
        "Bodies": [tables.bodies(subject.system, writing)],
        "Loads": list(tables.loads(kin, writing)),
        "Constraints and freedoms": [*constraint_tables.constraints(kin, writing), constraint_tables.freedoms(kin)],
    }
    command = f"dalembert derive {shell_name(study.request.name)}"
    first, *others = (f"<h3>{escape(title)}</h3>{packing.html(shortened(inside, command))}" for title, inside in blocks.items())
    parts = f'<div class="columns description"><div>{first}</div><div>{"".join(others)}</div></div>'
    return f'<section id="system" aria-label="The system">{hero}{parts}</section>'


def _facts(study: Study) -> str:
    """Freedoms, agreement, energy, constraints: whether the rest can be trusted."""
    kin, run, agreed = study.derivations[0].kinematics, study.run, study.agreed
    count = sum(r.applicable for r in agreed.rows)
    facts = [(f"{kin.n_u}", f"freedom{'s' * (kin.n_u != 1)} of velocity, {kin.n_q} coordinate{'s' * (kin.n_q != 1)}", "plain")]
    word = {True: "agree", False: "DISAGREE", None: "compared: undecided"}[agreed.holds]
    verdict = f"{count} principles {word}"
    chance = f"exactly; chance of error below {short(agreed.bound)}" if agreed.bound else "they give identical expressions"
    facts.append((verdict, chance if agreed.agree else "see Agreement", {True: "good", False: "bad", None: "plain"}[agreed.holds]))
    if run is not None:
        size, what = energy_line(run)
        facts.append((short(size), what, _tone(size)))
        if run.residuals:
            facts.append((short(run.worst_residual), "largest residual of a constraint", _tone(run.worst_residual)))
    items = [f'<li class="{kind}"><b>{escape(a)}</b><span>{typeset(b)}</span></li>' for a, b, kind in facts]
    return f'<ul class="facts">{"".join(items)}</ul>'


def _tone(size: float) -> str:
    return "good" if size <= SMALL else "bad"


def energy_line(run: Trajectory) -> tuple[float, str]:
    """The size of the energy's drift, and what it is."""
    if run.energy_audit is not None and len(run):
        return run.integrals.relative_drift, "drift of E_Z = K₂ + 𝒰 + Z, as a part of its scale"
    return run.energy_drift, "drift of T + V, as a part of the largest T"
