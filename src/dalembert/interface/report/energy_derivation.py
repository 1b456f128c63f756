"""The derivation of the energy integrals as numbered steps of a report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from dalembert.analysis.integrals.energy_integrals import EnergyIntegrals
from dalembert.interface.report.derivation_steps import (
    Level,
    NumberedStep,
    numbered_blocks,
    quantities,
)
from dalembert.interface.report.document_blocks import Block, Heading
from dalembert.interface.report.formula_writer import FormulaWriter

if TYPE_CHECKING:
    from dalembert.mechanics.principles.derivation import Derivation


def energy_derivation(
    integrals: EnergyIntegrals, writing: FormulaWriter, level: Level
) -> Iterator[Block]:
    """Every step from the velocities to the verdicts; `teach` adds the reasons."""
    d = integrals.derivation
    writing = writing.on(d.tape)
    yield Heading(2, "How the energy integrals follow")
    # a step asks its owner for the kinematics and the tape alone
    owner = cast("Derivation", d)
    parts = [
        NumberedStep(step.title, tuple(quantities(step, owner, writing)), step.why)
        for step in d.steps
        if step.items
    ]
    yield from numbered_blocks(parts, level)
