"""∂Q/∂q̇ = 0, ∂Q/∂t = 0, dQ = 0: loads whose work is a function of the configuration, found among
those declared as forces.

A load by itself, and the rest of them together. Inputs are never conservative: their values are
unknown. Where rows hold, the field has to be closed along what they allow, dQ(W_i, W_j) = 0 on φ =
0; under rows on velocities that is not enough to decide.

The potential behind a field, −∂V/∂q_k = Q_k, is written where it is polynomial, trigonometric, a
function of a distance or an angle. A proposal of any kind counts only once its slopes were shown to
be those of the field.

Source: Mit22 (17)–(19).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from itertools import combinations
from typing import Final

import numpy as np

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.kinematics.constraint_rows import position_residuals
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.generalized_forces import virtual_work_coefficients
from dalembert.symbolic.algebra.arithmetic import ArrayArithmetic
from dalembert.symbolic.algebra.exact.constrained_points import solve_point
from dalembert.symbolic.algebra.exact.verdict import Undecided
from dalembert.symbolic.algebra.exact.zero_test import ZeroTest, decide_zero, provably_zero
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    LinearCoefficients,
    Substitution,
    dependencies,
    evaluate,
    gradient,
    symbols_of,
)
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, gradient_column, sum_scalars
from dalembert.symbolic.algebra.tape import Tape

_CURL: Final = "∂Q_j/∂q_k − ∂Q_k/∂q_j"
# functions with a value and slopes at every argument
_REGULAR: Final = frozenset(
    {
        "const",
        "symbol",
        "pi",
        "add",
        "sub",
        "mul",
        "neg",
        "sin",
        "cos",
        "exp",
        "sinh",
        "cosh",
        "atan",
    }
)


@dataclass(frozen=True)
class LoadVerdict(Displayable):
    """Whether the work of a load is a function of the configuration; None where that is undecided.

    `closed`: ∂Q/∂q̇ = 0, ∂Q/∂t = 0 and dQ = 0 along what the rows allow, so that it has a potential
    near every position.
    """

    loads: tuple[str, ...]
    closed: bool | None
    conservative: bool | None
    why: str
    # V with Q = −∂V/∂q, where it could be written
    potential: Scalar | None = field(default=None, repr=False)
    # locally a potential, but another value after a closed path: no U
    many_valued: bool = False

    def __bool__(self) -> bool:
        if self.conservative is None:
            msg = f"{self.why}; ask .conservative, which is True, False or None"
            raise Undecided(msg)
        return self.conservative

    @property
    def has_potential(self) -> bool:
        """Whether V is known and a function of the configuration."""
        return bool(self.conservative) and self.potential is not None

    def __str__(self) -> str:
        name, known = (
            " + ".join(self.loads),
            "" if self.potential is None else f", V = {self.potential}",
        )
        word = {True: "conservative", False: "not conservative", None: "undecided"}[
            self.conservative
        ]
        return f"{name}: {word}{known} ({self.why})"


def load_verdicts(kin: Kinematics) -> Iterator[LoadVerdict]:
    """One for each load, then one for those together that depend on positions alone and have no
    potential by themselves.
    """
    Q = {
        load.name: virtual_work_coefficients(kin, load.forces, load.torques)
        for load in kin.system.loads
    }
    without_potential: list[str] = []
    for name, field_ in Q.items():
        reason = _nonpositional_reason(kin, field_)
        if reason is not None:
            yield LoadVerdict((name,), reason[0], *reason)
            continue
        verdict = _positional_verdict(kin, (name,), field_)
        yield verdict
        without_potential += [] if verdict.has_potential else [name]
    if len(without_potential) > 1:
        first, *others = (Column(kin.tape, Q[name]) for name in without_potential)
        yield _positional_verdict(kin, tuple(without_potential), sum(others, first).nodes)


def _nonpositional_reason(kin: Kinematics, Q: Sequence[int]) -> tuple[bool | None, str] | None:
    """Why a field is none of positions alone, or None."""
    t = kin.tape
    inside = set(symbols_of(t, Q))
    inputs = [
        s.name
        for s in kin.system.symbols.values()
        if s.kind in ("input", "state") and s.scalar.i in inside
    ]
    if inputs:
        return False, f"{', '.join(inputs)} may be anything"
    still = set(kin.q)
    # a sign has no slope where it has one, and jumps where it has none
    jumping = symbols_of(t, _sign_nodes(kin, Q))
    if any(i in t.moving and i not in still for i in jumping):
        return None, "it contains the sign of a velocity, or of an expression in the time"
    by_rates = [d for e in Q for d in gradient(t, {e: t.one}, kin.qdot)]
    fixed = Derivative(t, lambda x: None if x in still or x not in t.moving else t.rate(x))
    for nodes, reason in (
        (by_rates, "it depends on velocities"),
        ([fixed(e) for e in Q], "it depends on time"),
    ):
        decision = decide_zero(t, nodes)
        if False in decision.zero:
            return False, reason
        if None in decision.zero:
            return None, decision.why
    return None


def _sign_nodes(kin: Kinematics, Q: Sequence[int]) -> list[int]:
    """The nodes whose value jumps: slopes do not see them."""
    return [i for i in dependencies(kin.tape, Q) if kin.tape.nodes[i][0] == "sign"]


def _positional_verdict(kin: Kinematics, names: tuple[str, ...], Q: Sequence[int]) -> LoadVerdict:
    t = kin.tape
    by_q = [gradient(t, {e: t.one}, kin.q) for e in Q]
    curl = {(j, k): t.sub(by_q[j][k], by_q[k][j]) for j, k in combinations(range(kin.n_q), 2)}
    decision = decide_zero(t, list(curl.values()))
    if all(z is True for z in decision.zero):
        return _closed_verdict(kin, names, Q)
    if None in decision.zero and False not in decision.zero:
        return LoadVerdict(names, None, None, decision.why)
    rows = (*kin.linear_rows, *kin.nonlinear)
    if not rows:
        return LoadVerdict(names, False, False, f"{_CURL} ≠ 0")
    if not all(row.holonomic for row in rows):
        return LoadVerdict(
            names,
            None,
            None,
            f"{_CURL} ≠ 0, and velocity constraints determine the admissible displacements",
        )
    return _constrained_verdict(kin, names, curl)


def _closed_verdict(kin: Kinematics, names: tuple[str, ...], Q: Sequence[int]) -> LoadVerdict:
    t, why = kin.tape, f"{_CURL} = 0"
    known = _potential(kin, Q, kin.q)
    if _sign_nodes(kin, Q) and (known is None or _sign_nodes(kin, [known[0]])):
        return LoadVerdict(
            names, None, None, f"{why} away from its jumps, where slopes do not decide"
        )
    if known is not None:
        V, many_valued = known
        why += ", but V has another value after a closed path" if many_valued else ""
        return LoadVerdict(names, True, not many_valued, why, Scalar(t, V), many_valued)
    # without holes a closed field has a potential (Poincaré)
    if all(t.nodes[i][0] in _REGULAR for i in dependencies(t, Q)) and not any(
        _is_full_turn_symmetric(kin, q, Q) for q in kin.q
    ):
        return LoadVerdict(names, True, True, f"{why}; its potential is not written here")
    return LoadVerdict(
        names, True, None, f"{why}; its potential is not written here and may have many values"
    )


# ---- under rows ----------------------------------------------------------------------------------


def _constrained_verdict(
    kin: Kinematics, names: tuple[str, ...], curl: dict[tuple[int, int], int]
) -> LoadVerdict:
    """dQ(W_i, W_j) = 0 where φ = 0."""
    nodes = _admissible_curl(kin, curl)
    reason = (
        "dQ(W_i, W_j) = 0 where the constraints hold; its potential is not written here, so it may "
        "have many values"
    )
    everywhere = decide_zero(kin.tape, nodes)
    if all(z is True for z in everywhere.zero):
        return LoadVerdict(names, True, None, reason)
    chosen = _coordinates_solving_rows(kin)
    if chosen is None:
        return LoadVerdict(
            names,
            None,
            None,
            "dQ(W_i, W_j) ≠ 0 in general; undecided where the constraints hold",
        )
    decision = ZeroTest(
        kin.tape, (), (), lambda point: solve_point(point, kin.tape, chosen)
    ).decide(nodes)
    if False in decision.zero:
        return LoadVerdict(names, False, False, "dQ(W_i, W_j) ≠ 0 where the constraints hold")
    return (
        LoadVerdict(names, True, None, reason)
        if all(decision.zero)
        else LoadVerdict(names, None, None, decision.why)
    )


def _admissible_curl(kin: Kinematics, curl: dict[tuple[int, int], int]) -> list[int]:
    """Σ_jk (∂Q_j/∂q_k − ∂Q_k/∂q_j)(W_ji W_kl − W_ki W_jl)"""
    linear = LinearCoefficients(kin.tape, kin.u)
    W = [
        [kin.scalar(row.get(r, kin.tape.zero)) for r in range(kin.n_u)]
        for _, row in map(linear, kin.qdot_of_u)
    ]

    def admissible_component(i: int, l: int) -> Scalar:
        return sum_scalars(
            kin.tape,
            (kin.scalar(c) * (W[j][i] * W[k][l] - W[k][i] * W[j][l]) for (j, k), c in curl.items()),
        )

    return [admissible_component(i, l).i for i, l in combinations(range(kin.n_u), 2)]


def _coordinates_solving_rows(kin: Kinematics) -> dict[int, int] | None:
    """{q: φ} with one coordinate for each row, inside no function, by which points come
    onto φ = 0; None where there is none.
    """
    t, chosen, held = kin.tape, dict[int, int](), position_residuals(kin.tape, kin.linear_rows)
    if len(held) < len(kin.linear_rows):
        return None
    hidden = set(
        symbols_of(t, [a for i in dependencies(t, held) for a in _function_arguments(kin, i)])
    )
    for row, phi in zip(kin.linear_rows, held, strict=True):
        free = [kin.q[k] for k in row.A if kin.q[k] not in hidden and kin.q[k] not in chosen]
        if not free:
            return None
        chosen[free[-1]] = phi
    # a row may hold what another was solved for: only rows that are solved one after the other are
    later = list(chosen)
    apart = all(
        q not in symbols_of(t, [phi])
        for n, phi in enumerate(chosen.values())
        for q in later[n + 1 :]
    )
    return chosen if apart else None


def _function_arguments(kin: Kinematics, i: int) -> tuple[int, ...]:
    """What a function at a node is of; nothing for sums and products."""
    op, a, b = kin.tape.nodes[i]
    if op in ("add", "sub", "mul", "neg", "const", "symbol", "pi"):
        return ()
    return (a, b) if op in ("div", "atan2") else (a,)


# ---- the potential behind a field ----------------------------------------------------------------

_MAX_TERMS: Final = 400
# random states at which a potential must be real
_SAMPLES: Final = 200


def is_closed(kin: Kinematics, Q: Sequence[int], x: Sequence[int]) -> bool:
    """Whether ∂Q_j/∂x_k = ∂Q_k/∂x_j was shown for all variables x."""
    t = kin.tape
    by_x = [gradient(t, {e: t.one}, x) for e in Q]
    return all(
        provably_zero(t, [t.sub(by_x[j][k], by_x[k][j]) for j, k in combinations(range(len(x)), 2)])
    )


def potential_of_field(kin: Kinematics, Q: Sequence[int], x: Sequence[int]) -> Scalar | None:
    """V with Q = −∂V/∂x of a closed field; None where it has many values or is of no kind known
    here.
    """
    known = _potential(kin, Q, x)
    if known is None or known[1] or _sign_nodes(kin, [known[0]]):
        return None
    return Scalar(kin.tape, known[0])


def _potential(kin: Kinematics, Q: Sequence[int], x: Sequence[int]) -> tuple[int, bool] | None:
    """V of a field that was shown to be closed, and whether a closed path changes it; None where
    it is of no kind known here.
    """
    t = kin.tape
    for V, around in _candidate_potentials(t, x, Q):
        if _is_real(t, V, Q) and all(
            provably_zero(t, (Column(t, Q) + gradient_column(Scalar(t, V), Column(t, x))).nodes)
        ):
            return V, around or any(
                _is_full_turn_symmetric(kin, q, Q) and not _is_periodic(t, [V], q)
                for q in x
                if q != kin.system.t.i
            )
    return None


def _is_real(t: Tape, V: int, Q: Sequence[int]) -> bool:
    """Whether V has a value wherever the field has one, at random states, small and large;
    constants are positive.
    """
    draw, sizes = np.random.default_rng(1), np.geomspace(1e-3, 1e2, _SAMPLES)
    state = {
        i: sizes * draw.uniform(-1.0 if i in t.moving else 0.0, 1.0, _SAMPLES)
        for i in symbols_of(t, [V, *Q])
    }
    with np.errstate(all="ignore"):
        values = evaluate(t, [V, *Q], state.__getitem__, ArrayArithmetic())
    potential, *components = (np.broadcast_to(np.isfinite(x), _SAMPLES) for x in values)
    return bool(np.all(potential | ~np.all(components, axis=0)))


def _candidate_potentials(
    t: Tape, q: Sequence[int], Q: Sequence[int]
) -> Iterator[tuple[int, bool]]:
    """V, and whether it is an angle about a place where the field has no value."""
    V = line_integral(t, (-Column(t, Q)).nodes, q, lambda V, k: gradient(t, {V: t.one}, [q[k]])[0])
    if V is not None:
        yield V, False
    for N in _squared_distances(t, Q):
        yield from ((V, False) for V in _central_potentials(t, q, Q, N))
        yield from ((V, True) for V in _vortex_potentials(t, q, Q, N))


def line_integral(
    t: Tape, theta: Sequence[int], x: Sequence[int], slope: Callable[[int, int], int]
) -> int | None:
    """φ = ∫ θ_1 dx_1 + ∫ (θ_2 − ∂φ/∂x_2) dx_2 + …, or None where one of these is not elementary;
    `slope` gives ∂φ/∂x_k.
    """
    from dalembert.symbolic.algebra.normal_form.antiderivative import antiderivative

    phi = Scalar(t, t.zero)
    for k, (theta_k, x_k) in enumerate(zip(theta, x, strict=True)):
        rest = Scalar(t, theta_k) - Scalar(t, slope(phi.i, k))
        if provably_zero(t, [rest.i])[0]:
            continue
        more = antiderivative(rest, Scalar(t, x_k))
        if more is None:
            return None
        phi += more
    return phi.i


def _squared_distances(t: Tape, Q: Sequence[int]) -> list[int]:
    """Arguments of roots and denominators: the squares of distances."""
    squares: dict[int, None] = {}
    for i in dependencies(t, Q):
        op, a, b = t.nodes[i]
        if op == "sqrt":
            squares[a] = None
        elif op == "div":
            squares[b] = None
            # N² and N √N below a fraction are of the same distance
            squares.update(dict.fromkeys(t.nodes[b][1:] if t.nodes[b][0] == "mul" else ()))
    return [N for N in squares if t.nodes[N][0] not in ("const", "symbol", "sqrt")]


def _central_potentials(t: Tape, q: Sequence[int], Q: Sequence[int], N: int) -> Iterator[int]:
    """V(d), d² = N: −2 Q_k/(∂N/∂q_k) = V'(d)/d has no coordinate in it but d.

    Where V contains d² alone, no root is taken: N may be negative.
    """
    from dalembert.symbolic.algebra.normal_form.antiderivative import antiderivative

    d = Scalar(t, t.private_symbol("distance"))
    square = (d**2).i
    shorter = Substitution(t, {N: square, t.call("sqrt", N): d.i, t.call("sqrt", square): d.i})
    for Q_k, slope in zip(Q, gradient(t, {N: t.one}, q), strict=True):
        if slope == t.zero:
            continue
        ratio = _in_normal_form(-(2 * Scalar(t, shorter(Q_k)) / Scalar(t, slope)))
        if ratio is None or set(q).intersection(symbols_of(t, (ratio.i,))):
            continue
        V = antiderivative(ratio * d, d)
        if V is not None:
            even = Substitution(t, {square: N})(V.i)
            yield Substitution(t, {d.i: t.call("sqrt", N)})(even)
        return


def _vortex_potentials(t: Tape, q: Sequence[int], Q: Sequence[int], N: int) -> Iterator[int]:
    """V = −Γ atan2(N_y, N_x), N = (x − a)² + (y − b)²: a vortex."""
    N_q = gradient(t, {N: t.one}, q)
    inside = [k for k, slope in enumerate(N_q) if slope != t.zero]
    if len(inside) != 2:
        return
    j, k = inside
    strength = _in_normal_form(2 * (Scalar(t, Q[k]) * Scalar(t, N)) / Scalar(t, N_q[j]))
    if strength is not None and not set(q).intersection(symbols_of(t, (strength.i,))):
        yield (-strength * Scalar(t, t.atan2(N_q[k], N_q[j]))).i


def _in_normal_form(e: Scalar) -> Scalar | None:
    from dalembert.symbolic.algebra.normal_form.expansion import normal_form
    from dalembert.symbolic.algebra.normal_form.quotient_ring import TooLong
    from dalembert.symbolic.algebra.normal_form.rational_form import to_scalar

    try:
        (form,) = normal_form(e.tape, [e.i], limit=_MAX_TERMS)
    except TooLong:
        return None
    return to_scalar(form, e.tape)


# ---- once around ---------------------------------------------------------------------------------


def _is_full_turn_symmetric(kin: Kinematics, q: int, Q: Sequence[int]) -> bool:
    """Whether q → q + 2π gives back every place and the field."""
    space = kin.system.space
    angles = [a for F in space.frames if F.rotation is not None for a in F.rotation.variables()]
    places = [x for P in space.points for components in P.r.parts.values() for x in components]
    return all(_is_integer_multiple(kin.tape, a, q) for a in angles) and _is_periodic(
        kin.tape, [*places, *Q], q
    )


def _is_integer_multiple(t: Tape, angle: int, q: int) -> bool:
    """Whether q occurs as a whole multiple of an angle."""
    op, x, _ = t.nodes[gradient(t, {angle: t.one}, [q])[0]]
    return bool(op == "const" and x.denominator == 1)


def _is_periodic(t: Tape, outs: Sequence[int], q: int) -> bool:
    """Whether q occurs in sines and cosines alone, of whole multiples of it."""
    waves = {
        i
        for i in dependencies(t, outs)
        if t.nodes[i][0] in ("sin", "cos") and _is_integer_multiple(t, t.nodes[i][1], q)
    }
    return q not in dependencies(t, outs, waves)
