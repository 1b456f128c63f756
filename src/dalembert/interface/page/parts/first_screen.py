"""The first screen of a page: what the system is, its scene in motion with what may be changed,
and whether the results can be trusted.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from dalembert.interface.page.html_elements import scientific, typeset
from dalembert.interface.page.parts.first_sentence import first_sentence
from dalembert.interface.report.result_blocks import ACCEPTABLE_DRIFT

if TYPE_CHECKING:
    from dalembert.interface.page.report_page import ReportData
    from dalembert.mechanics.agreement.agreement_table import Agreement
    from dalembert.mechanics.kinematics.system_kinematics import Kinematics
    from dalembert.runtime.simulation.trajectory import Trajectory

# a number or verdict, what it is, and the class of its colour
Fact = tuple[str, str, str]


def first_screen(study: ReportData, stage: str, panel: str) -> str:
    """Title, one sentence, scene and sliders, facts."""
    subject, kin = study.subject, study.derivations[0].kinematics
    lead = f'<p class="lead">{escape(subject.description or first_sentence(kin))}</p>'
    scene = f'<div class="first">{stage}{panel}</div>' if stage or panel else ""
    hero = f'<div class="hero"><h1>{escape(subject.title)}</h1>{lead}</div>{scene}'
    facts = [_degrees_of_freedom(kin), _verdict(study.agreement)]
    facts += [_quality(study.run)] if study.run is not None else []
    items = "".join(
        f'<li class="{kind}"><b>{escape(a)}</b><span>{b}</span></li>' for a, b, kind in facts
    )
    return (
        f'<section id="system" aria-label="The system">{hero}<ul class="facts">{items}</ul>'
        "</section>"
    )


def _degrees_of_freedom(kin: Kinematics) -> Fact:
    freedom = f"degree{'s' * (kin.n_u != 1)} of freedom"
    counts = f"velocity level; {kin.n_q} coordinate{'s' * (kin.n_q != 1)}"
    return f"{kin.n_u} {freedom}", counts, "plain"


def _verdict(agreed: Agreement) -> Fact:
    """10 principles agree, 1 does not apply."""
    count = sum(r.applicable for r in agreed.rows)
    left = len(agreed.rows) - count
    apart = f", {left} {'does' if left == 1 else 'do'} not apply" if left else ""
    word = {True: "agree", False: "DISAGREE", None: "compared: undecided"}[agreed.holds]
    chance = (
        f"exactly; chance of error below {scientific(agreed.bound)}"
        if agreed.bound
        else "they give identical expressions"
    )
    tone = {True: "good", False: "bad", None: "plain"}[agreed.holds]
    return f"{count} principles {word}{apart}", chance if agreed.agree else "see Agreement", tone


def _quality(run: Trajectory) -> Fact:
    """Energy error and constraint violation in one line, with a link to what says more."""
    size, what = energy_error(run)
    worst = max([size, *([run.worst_residual] if run.residuals else [])])
    rows = (
        f", largest constraint violation {scientific(run.worst_residual)}" if run.residuals else ""
    )
    text = f'<a href="#energy">{typeset(what)}: {scientific(size)}{rows}</a>'
    good = worst <= ACCEPTABLE_DRIFT
    return "Accurate" if good else "Not accurate", text, "good" if good else "bad"


def energy_error(run: Trajectory) -> tuple[float, str]:
    """The size of the energy's drift, and what it is."""
    if run.energy_audit is not None and len(run):
        return (
            run.integrals.relative_drift,
            "relative drift of the energy integral E_Z = K₂ + 𝒰 + Z",
        )
    return run.energy_drift, "drift of T + V, relative to the largest T"
