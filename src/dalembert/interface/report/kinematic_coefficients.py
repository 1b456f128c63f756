"""∂r/∂q_k = ∂v/∂q̇_k = ∂a/∂q̈_k: the kinematic coefficients of the mass centres, three times.

Source: Bar00 (4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from dalembert.interface.report.document_blocks import (
    Block,
    Span,
    TableBlock,
    VerdictSpan,
    paragraph,
)
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.position_kinematics import PositionKinematics
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, split_linear
from dalembert.mechanics.model.elements import Body
from dalembert.symbolic.algebra import formula as f
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients

TITLE = "Kinematic coefficients from r, v and a"
SOURCE = "Bar00 (4)"
WHY = (
    "Dots cancel: a coefficient may be taken from the position, the velocity or the acceleration. "
    "Here all three are computed, each by itself."
)
# a body, a coordinate, and the coefficient from r, v and a
Coefficient = tuple[Body, int, tuple[Vector, Vector, Vector]]


def coefficients(kin: Kinematics) -> Iterator[Coefficient]:
    """The coefficients of every mass centre that a coordinate moves."""
    N, t, at, motion = kin.system.N, kin.tape, PositionKinematics(kin), kin.motion_in_rates
    none = Vector(t, {})
    for body in kin.system.bodies:
        v = motion.v(body.G)
        from_v = split_linear(LinearCoefficients(t, kin.qdot), v)[0]
        from_a = split_linear(LinearCoefficients(t, kin.qddot), motion.derivative(v))[0]
        for k in range(kin.n_q):
            r_k = Vector(t, {N: at.r_k(body.G, k)})
            three = (r_k, from_v.get(k, none), from_a.get(k, none))
            if any(part.parts for part in three):
                yield body, k, three


def equality_verdicts(
    kin: Kinematics, triples: Sequence[tuple[Vector, Vector, Vector]]
) -> list[bool]:
    """Whether the three of each triple were shown to be equal; one set of points for all."""
    N = kin.system.N
    differences = [i for r_k, *others in triples for x in others for i in (r_k - x).components(N)]
    zero = provably_zero(kin.tape, differences)
    return [all(zero[6 * k : 6 * k + 6]) for k in range(len(triples))]


def coefficient_blocks(original: Kinematics, writing: FormulaWriter) -> Iterator[Block]:
    """A table of the three, and whether they are equal."""
    kin = original.fork()
    rows: list[tuple[Span, ...]] = []
    listed = list(islice(coefficients(kin), writing.most_rows))
    verdicts = equality_verdicts(kin, [three for _, _, three in listed])
    for body, k, three in listed:
        shown = writing.shortest_vectors(three, kin.tape.fork(), body.frame)
        rows.append((body.name, writing.symbol(kin.name(kin.q[k])), *map(writing.vector, shown)))
    slopes = (("r", 0), ("v", 1), ("a", 2))
    heads = [f.Partial(f.Symbol(x), f.Symbol("q", ("k",), dots=n)) for x, n in slopes]
    yield paragraph(
        writing.general_formula(f.Equation(heads[0], f.Equation(heads[1], heads[2]))),
        f"  [{SOURCE}]",
        quiet=True,
    )
    yield TableBlock(("body", "coordinate", "from r", "from v", "from a"), tuple(rows))
    if len(rows) == writing.most_rows:
        yield paragraph(f"Only the first {len(rows)} rows are shown and checked.", quiet=True)
    if all(verdicts):
        yield paragraph(VerdictSpan("The three are equal, shown exactly.", holds=True))
    else:
        words = f"Equality was not shown for {verdicts.count(False)} of {len(verdicts)}."
        yield paragraph(VerdictSpan(words, holds=None))
