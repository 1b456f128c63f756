"""M u̇ = f of a large system, in brief: its size, and the recursion from link to link.

Written out, the equations of 50 joints take five megabytes. What can be read is how many there are,
how the links are connected, and the recursion that determines u̇ in a number of operations
proportional to the links, which is also what native code evaluates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dalembert.errors import NotApplicable
from dalembert.interface.report.derivation_steps import principle_statement
from dalembert.interface.report.document_blocks import Block, Heading, TableBlock, paragraph
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.mechanics.kinematics.kinematic_tree import KinematicTree, TreeLink
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.principles.derivation import Derivation, Step
from dalembert.symbolic.algebra.expression_graph import dependencies

# operations beyond which an equation is too long to read
READABLE_SIZE: Final = 6000
_SHOWN_LINKS: Final = 12
_RECURSION: Final = (
    ("velocities, root to tips", "ω = ω_j + s q̇,  v = v_j + ω_j × r"),
    ("bias accelerations", "α₀ = ω_j × s q̇,  a₀ = ω_j × (ω_j × r)"),
    ("inertia of the link alone", "I_A = [J, m c×; −m c×, m],  p = velocity terms − applied loads"),
    ("articulated inertia, tips to root", "D = sᵀ I_A s,  I_A,j += I_A − I_A s D⁻¹ sᵀ I_A"),
    ("bias force, tips to root", "p_j += p + I_A a₀ + I_A s D⁻¹ (τ − sᵀ (p + I_A a₀))"),
    ("accelerations, root to tips", "q̈ = D⁻¹ (τ − sᵀ (I_A (a_j + a₀) + p)),  a = a_j + a₀ + s q̈"),
)


def is_large(derived: Sequence[Derivation]) -> bool:
    """Whether the equations have more operations than anybody reads."""
    return any(_operations(d) > READABLE_SIZE for d in derived)


def _operations(d: Derivation) -> int:
    return len(dependencies(d.tape, d.native.residuals or d.equations.residuals))


def summary(d: Derivation, writing: FormulaWriter) -> Iterator[Block]:
    """The principle, the number of equations and operations, and the recursive form of a tree."""
    yield Heading(2, d.principle.title)
    yield principle_statement(d, writing)
    yield size(d, "--all prints them, -o FILE writes them.")
    yield from recursion(d.kinematics)


def size(d: Derivation, remedy: str) -> Block:
    """The number of equations and operations; the remedy says how to get the equations."""
    kin = d.kinematics
    return paragraph(
        f"{kin.n_u} equations of motion in {kin.n_u} independent speeds and {kin.n_q} "
        f"coordinates, with {_operations(d)} operations (shared ones counted once). "
        f"They are too long to be read: {remedy}"
    )


def step_outline(d: Derivation, writing: FormulaWriter) -> Iterator[Block]:
    """Each step of a derivation with its reason and general formula, without its quantities."""
    for number, step in enumerate(d.quantities, 1):
        yield Heading(3, f"{number}. {step.title}")
        if step.why:
            yield paragraph(step.why)
        formula = step.formula if isinstance(step, Step) else step.statement
        general = writing.general_formula(formula)
        yield paragraph(general, f"  [{step.source}]" * bool(step.source), quiet=True)


def recursion(kin: Kinematics) -> Iterator[Block]:
    """The recursion from link to link and the links of a tree, or why there is none."""
    try:
        tree = KinematicTree(kin)
    except NotApplicable as reason:
        yield paragraph(f"No recursive form: {reason}.")
        return
    links = [link for link in tree.links if link.parent is not None]
    yield Heading(3, "Recursive form, link by link")
    yield paragraph(
        "For each link with joint axis s and position r in its parent j (mass m, mass centre c, "
        "inertia J about the joint, joint load τ). What is added to the parent is rotated into its "
        "axes and referred to its point. The operations are proportional to the links:"
    )
    yield TableBlock(("pass", "formulas"), _RECURSION)
    shown = links if len(links) <= _SHOWN_LINKS else links[: _SHOWN_LINKS - 1]
    rows = [_row(link, kin) for link in shown]
    if len(shown) < len(links):
        rows.append((f"and {len(links) - len(shown)} more", "", "", ""))
    yield TableBlock(("link", "parent", "joint rates", "bodies"), tuple(rows))


def _row(link: TreeLink, kin: Kinematics) -> tuple[str, str, str, str]:
    assert link.parent is not None
    rates = ", ".join(kin.name(x) for x, _, _ in link.joint_axes)
    bodies = ", ".join(body.name for body, _ in link.masses)
    return link.frame.name, link.parent.frame.name, rates, bodies
