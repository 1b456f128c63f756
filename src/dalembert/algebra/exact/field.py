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
from dalembert.algebra.tape import LEAVES, Tape

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
    return [z is True for z in decide_zero(tape, outs).zero]


def all_zero(tape: Tape, outs: Sequence[int], question: str) -> bool:
    """Whether all of the expressions vanish identically; where neither answer was shown, Undecided, with the question."""
    if any(_is_plain(tape, i) for i in outs):
        return False
    found = decide_zero(tape, outs).verdict
    if found.holds is None:
        msg = f"{question}: undecided ({found.why}); write it in another form"
        raise Undecided(msg)
    return found.holds


def _is_plain(tape: Tape, i: int) -> bool:
    """Whether a node is a product of symbols, numbers that are not zero, sines and cosines of symbols: none of these vanishes."""
    stack = [i]
    while stack:
        i = stack.pop()
        op, a, b = tape.nodes[i]
        if op == "mul":
            stack += (a, b)
        elif op == "neg":
            stack.append(a)
        elif op == "sin" or op == "cos":
            if tape.nodes[a][0] != "symbol":
                return False
        elif i == tape.zero or op not in LEAVES:
            return False
    return True
