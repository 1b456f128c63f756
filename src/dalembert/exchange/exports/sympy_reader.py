"""What a KanesMethod, a LagrangesMethod or a sympy System knows, under one set of names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dalembert.errors import BadDescription, NotASystem
from dalembert.foundation.deferred_dataclass import dataclass


@dataclass(frozen=True)
class SympyModel:
    """Frame, origin, coordinates, speeds, bodies, loads, rows, and the equations that SymPy
    itself derived.
    """

    t: Any
    N: Any
    O: Any
    q: tuple[Any, ...]
    u: tuple[Any, ...]
    definitions: dict[Any, Any]
    bodies: tuple[Any, ...]
    loads: tuple[tuple[Any, Any], ...]
    potential: Any
    configuration: tuple[Any, ...]
    velocity: tuple[Any, ...]
    mass_matrix: Any
    forcing: Any
    # what is known only at run time and whose rates do not occur
    specified: frozenset[Any] = frozenset()


def read_sympy_model(method: Any, bodies: Sequence[Any] | None) -> SympyModel:
    """One of SymPy's three kinds of model."""
    kind = type(method).__name__
    if kind == "System":
        if method.eom_method is None:
            method.form_eoms()
        return read_sympy_model(method.eom_method, method.bodies)
    if kind == "KanesMethod":
        return _from_kane(method, bodies)
    if kind == "LagrangesMethod":
        return _from_lagrange(method, bodies)
    msg = (
        f"from_sympy: give a KanesMethod, a LagrangesMethod or a "
        f"sympy.physics.mechanics.System, "
        f"not {kind}"
    )
    raise NotASystem(msg)


def _speed_definitions(kdd: Mapping[Any, Any], qdot: list[Any], u: tuple[Any, ...]) -> Any:
    """u by q̇, from q̇ = W u + X; nothing where the speeds are the rates."""
    import sympy

    if u == tuple(qdot) and all(kdd[d] == s for d, s in zip(qdot, u, strict=True)):
        return {}
    rates = sympy.Matrix([kdd[x] for x in qdot])
    W = rates.jacobian(list(u))
    X = rates.xreplace(dict.fromkeys(u, sympy.S.Zero))
    try:
        return dict(zip(u, W.LUsolve(sympy.Matrix(qdot) - X), strict=True))
    except (NotImplementedError, ValueError) as problem:
        msg = (
            f"from_sympy: the kinematical equations do not give the {len(u)} speeds by the "
            f"rates of the {len(qdot)} coordinates"
        )
        msg += "; leave out auxiliary speeds, and give as many speeds as coordinates"
        raise BadDescription(msg) from problem


def _from_kane(method: Any, bodies: Sequence[Any] | None) -> SympyModel:
    from sympy.physics.mechanics import dynamicsymbols

    body_list = _bodies(
        bodies
        if bodies is not None
        else getattr(method, "bodies", None) or getattr(method, "_bodylist", None)
    )
    # SymPy's own name for the time
    t, q, u = dynamicsymbols._t, tuple(method.q), tuple(method.u)  # noqa: SLF001
    # q' = W u + X, solved for u
    definitions = _speed_definitions(method.kindiffdict(), [x.diff(t) for x in q], u)
    # there is no public name for the rows
    configuration = tuple(method._f_h) if method._f_h else ()  # noqa: SLF001
    rows = _velocity_rows(method, u)
    velocity = () if len(configuration) >= len(rows) else rows[len(configuration) :]
    loads = tuple(
        tuple(load) for load in (method.loads or getattr(method, "_forcelist", None) or ())
    )
    forced = method.mass_matrix, method.forcing
    return SympyModel(
        t,
        _frame(method),
        _origin(body_list, _frame(method)),
        q,
        u,
        definitions,
        body_list,
        loads,
        None,
        configuration,
        velocity,
        *forced,
    )


def _velocity_rows(method: Any, u: tuple[Any, ...]) -> tuple[Any, ...]:
    """K u + f = 0"""
    import sympy

    K, f = method._k_nh, method._f_nh  # noqa: SLF001 - there is no public name for the rows
    if not K:
        return ()
    return tuple(K * sympy.Matrix(u) + f)


def _from_lagrange(method: Any, bodies: Sequence[Any] | None) -> SympyModel:
    from sympy.physics.mechanics import dynamicsymbols, kinetic_energy

    body_list = _bodies(bodies if bodies is not None else method.bodies)
    t, q = dynamicsymbols._t, tuple(method.q)  # noqa: SLF001 - SymPy's own name for the time
    N = method.inertial or _frame(method)
    rates = {x.diff(t): 0 for x in q}
    # there is no public name for L
    potential = (kinetic_energy(N, *body_list) - method._L[0]).xreplace(rates)  # noqa: SLF001
    loads = tuple(tuple(load) for load in (method.loads or method.forcelist or ()))
    if method.coneqs and len(method.coneqs):
        msg = (
            "from_sympy: a LagrangesMethod with constraints is not read; describe them with "
            "KanesMethod"
        )
        raise BadDescription(msg)
    if not method.eom:
        method.form_lagranges_equations()
    u = tuple(x.diff(t) for x in q)
    origin = _origin(body_list, N)
    return SympyModel(
        t,
        N,
        origin,
        q,
        u,
        {},
        body_list,
        loads,
        potential,
        (),
        (),
        method.mass_matrix,
        method.forcing,
    )


def _frame(method: Any) -> Any:
    N = getattr(method, "_inertial", None) or getattr(method, "inertial", None)
    if N is None:
        msg = "from_sympy: the method names no inertial frame"
        raise BadDescription(msg)
    return N


def _bodies(bodies: Any) -> tuple[Any, ...]:
    body_list = tuple(bodies or ())
    if not body_list:
        msg = (
            "from_sympy: the method has no bodies; give them, as in da.from_sympy(method, "
            "bodies=[...])"
        )
        raise BadDescription(msg)
    return body_list


def _origin(bodies: tuple[Any, ...], N: Any) -> Any:
    """A point at rest in N to which positions lead."""
    seen: list[Any] = [getattr(b, "masscenter", None) or b.point for b in bodies]
    for P in seen:
        # the points that SymPy itself walks along
        seen.extend(Q for Q in P._pos_dict if Q not in seen)  # noqa: SLF001
    for P in seen:
        # asking would compute what was not given
        if N in P._vel_dict and P._vel_dict[N] == 0:  # noqa: SLF001
            return P
    msg = (
        "from_sympy: no point at rest in the inertial frame is connected with the bodies by "
        "positions; points that have only a velocity"
    )
    msg += " cannot be placed: set_pos them from a point with set_vel(N, 0)"
    raise BadDescription(msg)
