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
from dalembert.algebra.exact.zero_test import ZeroTest
from dalembert.algebra.tape import Tape

__all__ = [
    "BadPoint",
    "NoRoot",
    "PrimePoint",
    "Rank",
    "StructurallySingular",
    "Trials",
    "is_zero",
    "nullspace_mod",
    "random_prime",
    "rank_mod",
    "solve_mod",
    "zero",
]


def is_zero(tape: Tape, outs: Sequence[int], seed: int | None = None) -> list[bool]:
    """Which of the expressions vanish identically; what is undecided is not called zero."""
    if all(tape.nodes[i][0] == "const" for i in outs):
        return [i == tape.zero for i in outs]
    return [bool(z) for z in ZeroTest(tape, seed=seed).decide(outs).zero]


def zero(tape: Tape, i: int, seed: int | None = None) -> bool:
    """Does this expression vanish identically?"""
    return is_zero(tape, (i,), seed)[0]
