"""−∂V/∂q_k = Q_k: the potential behind a force field, where it is polynomial, trigonometric, a function of a distance or an angle.

A proposal of any kind counts only once its slopes were shown to be those of the field.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dalembert.algebra.columns import Column, slopes
from dalembert.algebra.exact.field import shown_zero
from dalembert.algebra.folds import Rewrite, gradient, needed, symbols_of
from dalembert.algebra.normal_form.antiderivative import antiderivative
from dalembert.algebra.normal_form.forms import to_scalar
from dalembert.algebra.normal_form.normal import normal_form
from dalembert.algebra.normal_form.ring import TooLong
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape
from dalembert.kinematics.system_kinematics import Kinematics

_LONGEST = 400


@dataclass(frozen=True)
class LoadPotential:
    """V with −∂V/∂q = Q, and whether a closed path in the configurations changes it."""

    V: int
    many_valued: bool


def potential_of(kin: Kinematics, Q: Sequence[int]) -> LoadPotential | None:
    """V of a field that was shown to be closed, or None where it is not of a kind that is known here."""
    t = kin.tape
    for V, around in _proposals(t, kin.q, Q):
        if all(shown_zero(t, (Column(t, Q) + slopes(Scalar(t, V), Column(t, kin.q))).nodes)):
            return LoadPotential(V, around or any(_winds(kin, q, Q, V) for q in kin.q))
    return None


def _proposals(t: Tape, q: Sequence[int], Q: Sequence[int]) -> Iterator[tuple[int, bool]]:
    """V, and whether it is an angle about a place where the field has no value."""
    V = _by_coordinates(t, q, Q)
    if V is not None:
        yield V, False
    for N in _squares(t, Q):
        yield from ((V, False) for V in _of_distance(t, q, Q, N))
        yield from ((V, True) for V in _of_angle(t, q, Q, N))


def _by_coordinates(t: Tape, q: Sequence[int], Q: Sequence[int]) -> int | None:
    """V = −∫ Q_1 dq_1 − ∫ (Q_2 + ∂V/∂q_2) dq_2 − …"""
    V = Scalar(t, t.zero)
    for x, Q_k in zip(q, Q, strict=True):
        rest = -(Scalar(t, Q_k) + Scalar(t, slopes(V, Column(t, [x])).nodes[0]))
        if shown_zero(t, [rest.i])[0]:
            continue
        more = antiderivative(rest, Scalar(t, x))
        if more is None:
            return None
        V += more
    return V.i


def _squares(t: Tape, Q: Sequence[int]) -> list[int]:
    """What stands under roots and below fractions: the squares of distances."""
    found: dict[int, None] = {}
    for i in needed(t, Q):
        op, a, b = t.nodes[i]
        if op == "sqrt":
            found[a] = None
        elif op == "div":
            found[b] = None
            # N² and N √N below a fraction are of the same distance
            found.update(dict.fromkeys(t.nodes[b][1:] if t.nodes[b][0] == "mul" else ()))
    return [N for N in found if t.nodes[N][0] not in ("const", "symbol", "sqrt")]


def _of_distance(t: Tape, q: Sequence[int], Q: Sequence[int], N: int) -> Iterator[int]:
    """V(d), d = √N: −2 Q_k/(∂N/∂q_k) = V'(d)/d has no coordinate in it but d."""
    d = Scalar(t, t.private_symbol("distance"))
    square = (d**2).i
    shorter = Rewrite(t, {N: square, t.call("sqrt", N): d.i, t.call("sqrt", square): d.i})
    for Q_k, slope in zip(Q, gradient(t, {N: t.one}, q), strict=True):
        if slope == t.zero:
            continue
        ratio = _normal(-(2 * Scalar(t, shorter(Q_k)) / Scalar(t, slope)))
        if ratio is None or set(q).intersection(symbols_of(t, (ratio.i,))):
            continue
        V = antiderivative(ratio * d, d)
        if V is not None:
            yield Rewrite(t, {d.i: t.call("sqrt", N)})(V.i)
        return


def _of_angle(t: Tape, q: Sequence[int], Q: Sequence[int], N: int) -> Iterator[int]:
    """V = −Γ atan2(N_y, N_x), N = (x − a)² + (y − b)²: a vortex."""
    N_q = gradient(t, {N: t.one}, q)
    inside = [k for k, slope in enumerate(N_q) if slope != t.zero]
    if len(inside) != 2:
        return
    j, k = inside
    strength = _normal(2 * (Scalar(t, Q[k]) * Scalar(t, N)) / Scalar(t, N_q[j]))
    if strength is not None and not set(q).intersection(symbols_of(t, (strength.i,))):
        yield (-strength * Scalar(t, t.atan2(N_q[k], N_q[j]))).i


def _normal(e: Scalar) -> Scalar | None:
    try:
        (form,) = normal_form(e.tape, [e.i], limit=_LONGEST)
    except TooLong:
        return None
    return to_scalar(form, e.tape)


# ---- once around ---------------------------------------------------------------------------------


def _winds(kin: Kinematics, q: int, Q: Sequence[int], V: int) -> bool:
    """Whether q → q + 2π gives back every place and the field, but not V."""
    return turns(kin, q, Q) and not is_periodic(kin.tape, [V], q)


def turns(kin: Kinematics, q: int, Q: Sequence[int]) -> bool:
    """Whether q → q + 2π gives back every place and the field."""
    space = kin.system.space
    angles = [a for F in space.frames if F.rotation is not None for a in F.rotation.variables()]
    places = [x for P in space.points for components in P.r.parts.values() for x in components]
    return all(_whole(kin.tape, a, q) for a in angles) and is_periodic(kin.tape, [*places, *Q], q)


def _whole(t: Tape, angle: int, q: int) -> bool:
    """Whether q turns by so many whole angles."""
    op, x, _ = t.nodes[gradient(t, {angle: t.one}, [q])[0]]
    return bool(op == "const" and x.denominator == 1)


def is_periodic(t: Tape, outs: Sequence[int], q: int) -> bool:
    """Whether q stands in sines and cosines alone, of whole multiples of it."""
    waves = {i for i in needed(t, outs) if t.nodes[i][0] in ("sin", "cos") and _whole(t, t.nodes[i][1], q)}
    return q not in needed(t, outs, waves)
