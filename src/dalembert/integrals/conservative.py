"""∂Q/∂q̇ = 0, ∂Q/∂t = 0, dQ = 0: loads whose work is a function of the configuration, found among those declared as forces.

A load by itself, and what is left of them together. Inputs are never conservative: nobody knows them. Where rows hold, the
field has to be closed along what they allow, dQ(W_i, W_j) = 0 on φ = 0; under rows on velocities that is not enough to decide.

V(q, t) → V(q, t) − h(t): a function of time alone exerts no force, and is taken out of the potential.

Source: Mit22 (17)–(19), (21).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

from dalembert.algebra.columns import Column, slopes, total
from dalembert.algebra.exact.field import PrimePoint, ZeroTest, decide_zero, shown_zero
from dalembert.algebra.folds import Derivative, Linear, Rewrite, gradient, needed, symbols_of
from dalembert.algebra.scalar import Scalar
from dalembert.errors import BadExpression
from dalembert.integrals.decide import polynomial_root
from dalembert.integrals.load_potentials import potential_of, turns
from dalembert.kinematics.rows import position_residuals
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.generalized_forces import virtual_work_of
from dalembert.notebook import Shown

_CURL: Final = "∂Q_j/∂q_k − ∂Q_k/∂q_j"
# functions with a value and slopes at every argument
_REGULAR: Final = frozenset({"const", "symbol", "pi", "add", "sub", "mul", "neg", "sin", "cos", "exp", "sinh", "cosh", "atan"})


@dataclass(frozen=True)
class LoadVerdict(Shown):
    """Whether the work of a load is a function of the configuration; None where that is undecided.

    `closed`: ∂Q/∂q̇ = 0, ∂Q/∂t = 0 and dQ = 0 along what the rows allow, so that it has a potential near every position.
    """

    loads: tuple[str, ...]
    closed: bool | None
    conservative: bool | None
    why: str
    # V with Q = −∂V/∂q, where it could be written
    potential: Scalar | None = field(default=None, repr=False)
    # locally a potential, but another value after a closed path: no U
    many_valued: bool = False

    @property
    def has_potential(self) -> bool:
        """Whether V is known and a function of the configuration."""
        return bool(self.conservative) and self.potential is not None

    def __str__(self) -> str:
        name, known = " + ".join(self.loads), "" if self.potential is None else f", V = {self.potential}"
        word = {True: "conservative", False: "not conservative", None: "undecided"}[self.conservative]
        return f"{name}: {word}{known} ({self.why})"


def load_verdicts(kin: Kinematics) -> Iterator[LoadVerdict]:
    """One for each load, then one for those together that depend on positions alone and have no potential by themselves."""
    Q = {load.name: virtual_work_of(kin, load.forces, load.torques) for load in kin.system.loads}
    left: list[str] = []
    for name, field_ in Q.items():
        reason = _not_of_positions(kin, field_)
        if reason is not None:
            yield LoadVerdict((name,), reason[0], *reason)
            continue
        found = _of_positions(kin, (name,), field_)
        yield found
        left += [] if found.has_potential else [name]
    if len(left) > 1:
        first, *others = (Column(kin.tape, Q[name]) for name in left)
        yield _of_positions(kin, tuple(left), sum(others, first).nodes)


def _not_of_positions(kin: Kinematics, Q: Sequence[int]) -> tuple[bool | None, str] | None:
    """Why a field is none of positions alone, or None."""
    t = kin.tape
    inside = set(symbols_of(t, Q))
    inputs = [s.name for s in kin.system.symbols.values() if s.kind in ("input", "state") and s.scalar.i in inside]
    if inputs:
        return False, f"{', '.join(inputs)} may be anything"
    still = set(kin.q)
    # a sign has no slope where it has one, and jumps where it has none
    jumping = symbols_of(t, _jumps(kin, Q))
    if any(i in t.moving and i not in still for i in jumping):
        return None, "it holds the sign of a velocity, or of an expression in the time"
    slopes = [d for e in Q for d in gradient(t, {e: t.one}, kin.qdot)]
    fixed = Derivative(t, lambda x: None if x in still or x not in t.moving else t.rate(x))
    for nodes, reason in ((slopes, "it depends on velocities"), ([fixed(e) for e in Q], "it depends on time")):
        found = decide_zero(t, nodes)
        if False in found.zero:
            return False, reason
        if None in found.zero:
            return None, found.why
    return None


def _jumps(kin: Kinematics, Q: Sequence[int]) -> list[int]:
    """The nodes whose value jumps: slopes do not see them."""
    return [i for i in needed(kin.tape, Q) if kin.tape.nodes[i][0] == "sign"]


def _of_positions(kin: Kinematics, names: tuple[str, ...], Q: Sequence[int]) -> LoadVerdict:
    t = kin.tape
    slopes = [gradient(t, {e: t.one}, kin.q) for e in Q]
    curl = {(j, k): t.sub(slopes[j][k], slopes[k][j]) for j, k in combinations(range(kin.n_q), 2)}
    found = decide_zero(t, list(curl.values()))
    if all(z is True for z in found.zero):
        return _closed(kin, names, Q)
    if None in found.zero and False not in found.zero:
        return LoadVerdict(names, None, None, found.why)
    rows = (*kin.linear_rows, *kin.nonlinear)
    if not rows:
        return LoadVerdict(names, False, False, f"{_CURL} ≠ 0")
    if not all(row.holonomic for row in rows):
        return LoadVerdict(names, None, None, f"{_CURL} ≠ 0, and rows on velocities decide which displacements there are")
    return _under_rows(kin, names, curl)


def _closed(kin: Kinematics, names: tuple[str, ...], Q: Sequence[int]) -> LoadVerdict:
    t, why = kin.tape, f"{_CURL} = 0"
    V = potential_of(kin, Q)
    if _jumps(kin, Q) and (V is None or _jumps(kin, [V.V])):
        return LoadVerdict(names, None, None, f"{why} beside its jumps, where slopes say nothing")
    if V is not None:
        why += ", but V has another value after a closed path" if V.many_valued else ""
        return LoadVerdict(names, True, not V.many_valued, why, Scalar(t, V.V), V.many_valued)
    # without holes a closed field has a potential (Poincaré)
    if all(t.nodes[i][0] in _REGULAR for i in needed(t, Q)) and not any(turns(kin, q, Q) for q in kin.q):
        return LoadVerdict(names, True, True, f"{why}; its potential is not written here")
    return LoadVerdict(names, True, None, f"{why}; its potential is not written here and may have many values")


# ---- under rows ----------------------------------------------------------------------------------


def _under_rows(kin: Kinematics, names: tuple[str, ...], curl: dict[tuple[int, int], int]) -> LoadVerdict:
    """dQ(W_i, W_j) = 0 where φ = 0."""
    nodes = _along_rows(kin, curl)
    reason = "dQ(W_i, W_j) = 0 where the rows hold; its potential is not written here, so it may have many values"
    everywhere = decide_zero(kin.tape, nodes)
    if all(z is True for z in everywhere.zero):
        return LoadVerdict(names, True, None, reason)
    start = _Onto.rows(kin)
    if start is None:
        return LoadVerdict(names, None, None, "dQ(W_i, W_j) ≠ 0 in general; whether it vanishes where the rows hold was not decided")
    found = ZeroTest(kin.tape, (), (), start).decide(nodes)
    if False in found.zero:
        return LoadVerdict(names, False, False, "dQ(W_i, W_j) ≠ 0 where the rows hold")
    return LoadVerdict(names, True, None, reason) if all(found.zero) else LoadVerdict(names, None, None, found.why)


def _along_rows(kin: Kinematics, curl: dict[tuple[int, int], int]) -> list[int]:
    """Σ_jk (∂Q_j/∂q_k − ∂Q_k/∂q_j)(W_ji W_kl − W_ki W_jl)"""
    linear = Linear(kin.tape, kin.u)
    W = [[kin.scalar(slopes.get(r, kin.tape.zero)) for r in range(kin.n_u)] for _, slopes in map(linear, kin.qdot_of_u)]

    def along(i: int, l: int) -> Scalar:
        return total(kin.tape, (kin.scalar(c) * (W[j][i] * W[k][l] - W[k][i] * W[j][l]) for (j, k), c in curl.items()))

    return [along(i, l).i for i, l in combinations(range(kin.n_u), 2)]


@dataclass(frozen=True)
class _Onto:
    """Points of a prime field moved onto φ = 0, by one coordinate for each row."""

    kin: Kinematics
    solved: tuple[tuple[int, int], ...]

    @staticmethod
    def rows(kin: Kinematics) -> _Onto | None:
        """One coordinate for each row that stands in no function, or None."""
        t, chosen, held = kin.tape, list[tuple[int, int]](), position_residuals(kin.tape, kin.linear_rows)
        if len(held) < len(kin.linear_rows):
            return None
        hidden = set(symbols_of(t, [a for i in needed(t, held) for a in _arguments(kin, i)]))
        for row, phi in zip(kin.linear_rows, held, strict=True):
            free = [kin.q[k] for k in row.A if kin.q[k] not in hidden and kin.q[k] not in [q for _, q in chosen]]
            if not free:
                return None
            chosen.append((phi, free[-1]))
        # a row may hold what another was solved for: only rows that are solved one after the other are
        later = [q for _, q in chosen]
        apart = all(q not in symbols_of(t, [phi]) for n, (phi, _) in enumerate(chosen) for q in later[n + 1 :])
        return _Onto(kin, tuple(chosen)) if apart else None

    def __call__(self, point: PrimePoint) -> PrimePoint:
        given: dict[int, int] = {}
        for phi, q in self.solved:
            given[q] = polynomial_root(point.on(self.kin.tape, given), phi, q)
        return point.on(self.kin.tape, given)


def _arguments(kin: Kinematics, i: int) -> tuple[int, ...]:
    """What a function at a node is of; nothing for sums and products."""
    op, a, b = kin.tape.nodes[i]
    if op in ("add", "sub", "mul", "neg", "const", "symbol", "pi"):
        return ()
    return (a, b) if op in ("div", "atan2") else (a,)


def unmoved(kin: Kinematics, V: Scalar) -> Scalar:
    """V_q·X + ∂_tV: the part of V̇ that holds no speed."""
    return kin.scalar(Linear(kin.tape, kin.u)(kin.rate(V.i))[0])


def without_gauge(kin: Kinematics, V: Scalar) -> Scalar:
    """V − h(t) where V_q·X + ∂_tV is a function ḣ of time alone, otherwise V.

    Lifted with x(t), a weight has V = m g (z + x): m g x pushes nothing, and would look like a loss in 𝒫_nonconservative.
    """
    t = kin.tape
    drift = unmoved(kin, V)
    if drift == 0 or shown_zero(t, [drift.i])[0] or not all(shown_zero(t, slopes(drift, Column(t, kin.q)).nodes)):
        return V
    try:
        h = _at_rest_in(kin, V)
    except BadExpression:
        return V
    return V - h if shown_zero(t, [(h.dot - drift).i])[0] else V


def _at_rest_in(kin: Kinematics, V: Scalar) -> Scalar:
    """V(0, t) − V(0) with every specified motion at zero."""
    t = kin.tape
    h = Rewrite(t, dict.fromkeys(kin.q, t.zero))(V.i)
    still = dict.fromkeys((s.scalar.i for s in kin.system.symbols.values() if s.kind == "specified"), t.zero)
    return kin.scalar(h) - kin.scalar(Rewrite(t, {**still, kin.system.t.i: t.zero})(h))
