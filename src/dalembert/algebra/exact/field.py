"""An expression that vanishes at random points of prime fields vanishes identically (Schwartz–Zippel).

A nonzero rational function of degree d vanishes at a random point of a field with p elements with a probability of at
most d/p. So "is it zero?" and "do these agree?" need no simplification: draw a prime and a point, evaluate, draw again.
"""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.algebra.exact.matrices import Rank, nullspace_mod, rank_mod, solve_mod
from dalembert.algebra.exact.modular import BadPoint, NoRoot, random_prime
from dalembert.algebra.exact.point import PrimePoint
from dalembert.algebra.exact.trials import StructurallySingular, Trials
from dalembert.algebra.exact.verdict import Decision, Undecided
from dalembert.algebra.exact.zero_test import ZeroTest
from dalembert.algebra.ingredients import is_monomial
from dalembert.algebra.tape import Tape

__all__ = [
    "BadPoint",
    "NoRoot",
    "PrimePoint",
    "Rank",
    "StructurallySingular",
    "Trials",
    "Undecided",
    "all_zero",
    "decide_zero",
    "nullspace_mod",
    "random_prime",
    "rank_mod",
    "shown_zero",
    "solve_mod",
]


def decide_zero(tape: Tape, outs: Sequence[int]) -> Decision:
    """Which of the expressions vanish identically: shown to, shown not to, or undecided."""
    if all(tape.nodes[i][0] == "const" for i in outs):
        return Decision(tuple(i == tape.zero for i in outs))
    return ZeroTest(tape).decide(outs)


def shown_zero(tape: Tape, outs: Sequence[int]) -> list[bool]:
    """Which of the expressions were shown to vanish identically.

    For those that leave out what vanishes and are right with it as well; nothing may be claimed of the others.
    """
    unclear = [i for i in outs if not is_monomial(tape, i)]
    zero = dict(zip(unclear, decide_zero(tape, unclear).zero, strict=True)) if unclear else {}
    return [zero.get(i) is True for i in outs]


def all_zero(tape: Tape, outs: Sequence[int], question: str) -> bool:
    """Whether all of the expressions vanish identically; where neither answer was shown, Undecided, with the question."""
    if any(is_monomial(tape, i) for i in outs):
        return False
    found = decide_zero(tape, outs).verdict
    if found.holds is None:
        msg = f"{question}: undecided ({found.why}); write it in another form"
        raise Undecided(msg)
    return found.holds
