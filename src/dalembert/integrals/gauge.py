"""V(q, t) → V(q, t) − h(t): a function of time alone exerts no force, and is taken out of the potential."""

from __future__ import annotations

from dalembert.algebra.exact.field import shown_zero
from dalembert.algebra.folds import Derivative, Linear, Rewrite, gradient
from dalembert.errors import BadExpression
from dalembert.kinematics.system_kinematics import Kinematics


def unmoved(kin: Kinematics, V: int) -> int:
    """V_q·X + ∂_tV: the part of V̇ that holds no speed."""
    return Linear(kin.tape, kin.u)(kin.rate(V))[0]


def without_gauge(kin: Kinematics, V: int) -> int:
    """V − h(t) where V_q·X + ∂_tV is a function ḣ of time alone, otherwise V.

    Lifted with x(t), a weight has V = m g (z + x): m g x pushes nothing, and would look like a loss in 𝒫_nonconservative.
    """
    t = kin.tape
    drift = unmoved(kin, V)
    if drift == t.zero or shown_zero(t, [drift])[0] or not all(shown_zero(t, gradient(t, {drift: t.one}, kin.q))):
        return V
    try:
        h = _at_rest_in(kin, V)
    except BadExpression:
        return V
    h_dot = Derivative(t, t.rate)(h)
    return t.sub(V, h) if shown_zero(t, [t.sub(h_dot, drift)])[0] else V


def _at_rest_in(kin: Kinematics, V: int) -> int:
    """V(0, t) − V(0) with every specified motion at zero."""
    t = kin.tape
    h = Rewrite(t, dict.fromkeys(kin.q, t.zero))(V)
    still = dict.fromkeys((s.scalar.i for s in kin.system.symbols.values() if s.kind == "specified"), t.zero)
    return t.sub(h, Rewrite(t, {**still, kin.system.t.i: t.zero})(h))
