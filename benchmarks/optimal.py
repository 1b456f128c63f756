"""Optimal motions against CasADi with its Ipopt: the whole call, from the description to the
solution, CPU seconds.

Both get the same mesh, order, guess and tolerance. CasADi's side is what a user writes by hand: the
equations of motion in SX (Lagrange's for the cart and its links, the recursive Newton–Euler
algorithm for the arm), Radau collocation, Ipopt with exact derivatives. Imports and generic code
are not counted; what belongs to the system is not cached.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from results import Report, seconds

import dalembert as da
from dalembert.analysis.optimal.scheme import radau
from dalembert.gallery import spatial_chain

_TOLERANCE = 1e-8
_G = 9.81


# ---- the systems ---------------------------------------------------------------------------------


def cart_with_links(n: int) -> da.System:
    """A cart of 1 kg with n bars of 0.5 m, each with a point mass of 0.3 kg at its end, pushed
    by F.
    """
    s = da.System(f"cart with {n} links")
    N, F, x = s.N, s.input("F"), s.coordinate("x")
    P = s.O.offset(x * N.x, "C")
    s.particle("cart", 1.0, P)
    s.force(F * N.x, at=P, name="F")
    for k in range(1, n + 1):
        P = P.offset(-0.5 * N.rotated(s.coordinate(f"theta{k}"), N.z, f"B{k}").y, f"P{k}")
        s.particle(f"bob{k}", 0.3, P)
    s.gravity(-_G * N.y)
    return s


def arm(n: int) -> da.System:
    """The spatial chain with a torque in every joint."""
    s = spatial_chain.build(n)
    frames = [s.N, *(b.frame for b in s.bodies)]
    for k in range(n):
        tau = s.input(f"tau_{k + 1}")
        s.torque(
            tau * getattr(frames[k], "xyz"[k % 3]),
            on=frames[k + 1],
            reaction=frames[k],
            name=f"tau_{k + 1}",
        )
    return s


def cart_problem(n: int, T: float, angle: float = np.pi) -> dict[str, Any]:
    """From rest, all links hanging, to rest one metre on, all links at an angle; the guess is a
    straight line.
    """
    names = ["x", *(f"theta{k}" for k in range(1, n + 1))]
    rest = {f"{q}.dot": 0.0 for q in names}
    return {
        "duration": T,
        "minimize": "F**2",
        "start": {**dict.fromkeys(names, 0.0), **rest},
        "end": {"x": 1.0, **dict.fromkeys(names[1:], angle), **rest},
    }


def arm_problem(n: int) -> dict[str, Any]:
    """From rest at zero to rest at 0.5 in one second."""
    names = [f"q_{k + 1}" for k in range(n)]
    rest = {f"{q}.dot": 0.0 for q in names}
    return {
        "duration": 1.0,
        "minimize": " + ".join(f"tau_{k + 1}**2" for k in range(n)),
        "start": {**dict.fromkeys(names, 0.0), **rest},
        "end": {**dict.fromkeys(names, 0.5), **rest},
    }


# ---- CasADi, by hand -----------------------------------------------------------------------------


def cart_residual(n: int) -> Callable[[Any, Any, Any, Any], Any]:
    """d/dt ∂L/∂q̇ − ∂L/∂q − Q as a function of (q, u, a, w), by CasADi's own derivatives."""
    import casadi as ca

    q, u, a, w = (
        ca.SX.sym("q", n + 1),
        ca.SX.sym("u", n + 1),
        ca.SX.sym("a", n + 1),
        ca.SX.sym("w", 1),
    )
    T, V = 0.5 * u[0] ** 2, 0
    x, y, vx, vy = q[0], 0, u[0], 0
    for k in range(1, n + 1):
        x, y = x + 0.5 * ca.sin(q[k]), y - 0.5 * ca.cos(q[k])
        vx, vy = vx + 0.5 * ca.cos(q[k]) * u[k], vy + 0.5 * ca.sin(q[k]) * u[k]
        T, V = T + 0.15 * (vx**2 + vy**2), V + 0.3 * _G * y
    p = ca.gradient(T, u)
    load = ca.vertcat(w, ca.SX.zeros(n))
    residual = ca.jtimes(p, u, a) + ca.jtimes(p, q, u) - ca.gradient(T - V, q) - load
    return ca.Function("residual", [q, u, a, w], [residual])


def cart_rates() -> Callable[[Any, Any], Any]:
    """ẋ of the cart with one link, written out."""
    import casadi as ca

    def rates(x: Any, w: Any) -> Any:
        s, c = ca.sin(x[1]), ca.cos(x[1])
        a = (0.15 * s * x[3] ** 2 + 0.3 * _G * s * c + w) / (1 + 0.3 * s**2)
        return ca.vertcat(x[2], x[3], a, -(a * c + _G * s) / 0.5)

    return rates


def arm_residual(n: int) -> Callable[[Any, Any, Any, Any], Any]:
    """τ(q, u, a) − w by the recursive Newton–Euler algorithm, link by link, in axes of the
    links.
    """
    import casadi as ca

    links = _chain_numbers(n)
    q, u, a, w = (ca.SX.sym(name, n) for name in "quaw")
    omega, alpha, acceleration = ca.SX.zeros(3), ca.SX.zeros(3), ca.SX([0, 0, _G])
    forces, rotations = [], []
    for k, (offset, centre, mass, inertia) in enumerate(links):
        acceleration = (
            acceleration + ca.cross(alpha, offset) + ca.cross(omega, ca.cross(omega, offset))
        )
        R, axis = _rotation(k % 3, q[k]), ca.DM(np.eye(3)[k % 3])
        omega_parent = R.T @ omega
        omega = omega_parent + axis * u[k]
        alpha = R.T @ alpha + axis * a[k] + ca.cross(omega_parent, axis * u[k])
        acceleration = R.T @ acceleration
        at_centre = (
            acceleration + ca.cross(alpha, centre) + ca.cross(omega, ca.cross(omega, centre))
        )
        force = mass * at_centre
        moment = inertia @ alpha + ca.cross(omega, inertia @ omega) + ca.cross(centre, force)
        forces.append((force, moment))
        rotations.append(R)
    tau, f, m = [0] * n, ca.SX.zeros(3), ca.SX.zeros(3)
    for k in reversed(range(n)):
        f, m = forces[k][0] + f, forces[k][1] + m
        tau[k] = m[k % 3]
        f, m = rotations[k] @ f, rotations[k] @ m
        m = m + ca.cross(links[k][0], f)
    return ca.Function("residual", [q, u, a, w], [ca.vertcat(*tau) - w])


def _rotation(axis: int, angle: Any) -> Any:
    import casadi as ca

    c, s, R = ca.cos(angle), ca.sin(angle), ca.SX.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def _chain_numbers(n: int) -> list[tuple[Any, Any, float, Any]]:
    """Offsets, mass centres, masses and inertias of the gallery's chain, as its description has
    them.
    """
    import casadi as ca

    s, links = spatial_chain.build(n), []
    parent = s.N
    for body in s.bodies:
        joint = body.G.parent
        offset = [float(x.value) for x in (joint - joint.parent).to(parent)]
        centre = [float(x.value) for x in (body.G - joint).to(body.frame)]
        I = [
            [float(s.space.tape.value(x)) for x in row] for row in body.inertia.to(body.frame).rows
        ]
        links.append((ca.DM(offset), ca.DM(centre), float(body.mass.value), ca.DM(I)))
        parent = body.frame
    return links


def casadi_explicit(
    rates: Any, n_x: int, problem: dict[str, Any], N: int, K: int, *, again: bool = False
) -> tuple[float, int, float, float]:
    """Cost, iterations, CPU seconds to build and to solve; `again`: of a second solve."""
    import casadi as ca

    begin, scheme = time.process_time(), radau(K)
    start, end = ([*problem[key].values()] for key in ("start", "end"))
    x0 = ca.SX.sym("x0", n_x)
    v, g, J, h = [x0], [], 0, problem["duration"] / N
    guess, low, high = [start], [start], [start]
    for k in range(N):
        xs, ws = (
            [ca.SX.sym(f"x{k}_{i}", n_x) for i in range(K)],
            [ca.SX.sym(f"w{k}_{i}") for i in range(K)],
        )
        for i in range(K):
            g.append(
                scheme.D[i, 0] * x0
                + sum(scheme.D[i, j + 1] * xs[j] for j in range(K))
                - h * rates(xs[i], ws[i])
            )
            J, v = J + h * scheme.weights[i] * ws[i] ** 2, [*v, xs[i], ws[i]]
            _guess(
                guess,
                low,
                high,
                (k + scheme.points[i]) / N,
                start,
                end,
                1,
                last=k == N - 1 and i == K - 1,
            )
        x0 = xs[-1]
    return _solve(v, J, g, (guess, low, high), begin, again=again)


def casadi_implicit(
    residual: Any,
    n: int,
    n_w: int,
    problem: dict[str, Any],
    N: int,
    K: int,
    *,
    again: bool = False,
) -> tuple[float, int, float, float]:
    """The same with accelerations as unknowns and inverse dynamics as rows."""
    import casadi as ca

    begin, scheme = time.process_time(), radau(K)
    start, end = ([*problem[key].values()] for key in ("start", "end"))
    x0 = ca.SX.sym("x0", 2 * n)
    v, g, J, h = [x0], [], 0, problem["duration"] / N
    guess, low, high = [start], [start], [start]
    for k in range(N):
        xs = [ca.SX.sym(f"x{k}_{i}", 2 * n) for i in range(K)]
        for i in range(K):
            a, w = ca.SX.sym(f"a{k}_{i}", n), ca.SX.sym(f"w{k}_{i}", n_w)
            rate = ca.vertcat(xs[i][n:], a)
            g.append(
                scheme.D[i, 0] * x0 + sum(scheme.D[i, j + 1] * xs[j] for j in range(K)) - h * rate
            )
            g.append(residual(xs[i][:n], xs[i][n:], a, w))
            J, v = J + h * scheme.weights[i] * ca.sumsqr(w), [*v, xs[i], a, w]
            _guess(
                guess,
                low,
                high,
                (k + scheme.points[i]) / N,
                start,
                end,
                n + n_w,
                last=k == N - 1 and i == K - 1,
            )
        x0 = xs[-1]
    return _solve(v, J, g, (guess, low, high), begin, again=again)


def _guess(
    guess: list[Any],
    low: list[Any],
    high: list[Any],
    tau: float,
    start: Sequence[float],
    end: Sequence[float],
    free: int,
    *,
    last: bool,
) -> None:
    """The straight line at a point, and the limits of its unknowns."""
    line = [a + (b - a) * tau for a, b in zip(start, end, strict=True)]
    guess.append([*line, *[0.0] * free])
    low.append([*(end if last else [-np.inf] * len(line)), *[-np.inf] * free])
    high.append([*(end if last else [np.inf] * len(line)), *[np.inf] * free])


def _solve(
    v: list[Any], J: Any, g: list[Any], point: tuple[Any, Any, Any], begin: float, *, again: bool
) -> tuple[float, int, float, float]:
    import casadi as ca

    quiet = {"ipopt.print_level": 0, "print_time": 0, "ipopt.tol": _TOLERANCE, "ipopt.sb": "yes"}
    solver = ca.nlpsol("solver", "ipopt", {"x": ca.vertcat(*v), "f": J, "g": ca.vertcat(*g)}, quiet)
    guess, low, high = (np.concatenate(x) for x in point)
    built = time.process_time()
    for _ in range(2 if again else 1):
        started = time.process_time()
        answer = solver(x0=guess, lbx=low, ubx=high, lbg=0, ubg=0)
    return (
        float(answer["f"]),
        solver.stats()["iter_count"],
        built - begin,
        time.process_time() - started,
    )


# ---- ours ----------------------------------------------------------------------------------------


def whole_call(
    build: Callable[[], da.System], problem: dict[str, Any], N: int, K: int, **options: Any
) -> tuple[float, int, float]:
    """Cost, iterations, CPU seconds of the description and da.optimize together."""
    begin = time.process_time()
    given = dict(problem)
    best = da.optimize(
        build(),
        given.pop("duration"),
        intervals=N,
        order=K,
        refine=False,
        audit=False,
        solver_tolerance=_TOLERANCE,
        **given,
        **options,
    )
    return best.cost, best.answer.solution.iterations, time.process_time() - begin


# ---- the table -----------------------------------------------------------------------------------

NOTE = (
    "The whole call, from the description to the solution: derive, differentiate twice, solve; the "
    "same mesh, order, guess and "
    "tolerance 1e-8 on both sides, one run each. CasADi is used as by hand: SX expressions, Radau "
    "collocation, its own Ipopt with exact "
    "derivatives. A second solve has other values and the functions of the first. Costs of both "
    "sides must agree to 1e-7; in the swing-up of five links the two solvers end in different "
    "local solutions, whose costs agree to 1e-3."
)


class Task(NamedTuple):
    """A system with its problem, mesh and order, CasADi's side, and the goal relative to its
    time.
    """

    name: str
    build: Callable[[], da.System]
    problem: dict[str, Any]
    mesh: tuple[int, int]
    by_hand: Callable[[], tuple[float, int, float, float]]
    goal: float
    # how far the costs may differ: a swing-up of five links has many solutions near each other
    tolerance: float = 1e-7


def tasks() -> list[Task]:
    """Cart-pole, a cart with five links moved and swung up, an arm of seven joints."""
    pole, five, seven = cart_problem(1, 2.0), cart_problem(5, 5.0, 0.0), arm_problem(7)
    up = cart_problem(5, 4.0)
    return [
        Task(
            "cart-pole, 60 × 5",
            partial(cart_with_links, 1),
            pole,
            (60, 5),
            lambda: casadi_explicit(cart_rates(), 4, pole, 60, 5),
            1.0,
        ),
        Task(
            "cart with five links, 40 × 4",
            partial(cart_with_links, 5),
            five,
            (40, 4),
            lambda: casadi_implicit(cart_residual(5), 6, 1, five, 40, 4),
            0.5,
        ),
        Task(
            "cart with five links, swing-up, 40 × 4",
            partial(cart_with_links, 5),
            up,
            (40, 4),
            lambda: casadi_implicit(cart_residual(5), 6, 1, up, 40, 4),
            0.5,
            tolerance=1e-3,
        ),
        Task(
            "arm of seven joints, 20 × 3",
            partial(arm, 7),
            seven,
            (20, 3),
            lambda: casadi_implicit(arm_residual(7), 7, 7, seven, 20, 3),
            0.3,
        ),
    ]


def second_solve(report: Report, again: Again) -> tuple[str, ...]:
    """Both tools once more with other end values, their functions and code as they are."""
    system = again.build()
    whole_call(lambda: system, again.first, *again.mesh)
    spent = [whole_call(lambda: system, again.second, *again.mesh) for _ in range(3)]
    ours, cost, iterations = min(x[2] for x in spent), spent[0][0], spent[0][1]
    theirs_cost, theirs_iterations, _, theirs = again.by_hand()
    report.check(
        f"{again.name}: same cost",
        f"{cost:.10g}, {theirs_cost:.10g}",
        passed=abs(cost - theirs_cost) <= 1e-7 * abs(cost),
    )
    met = "met" if ours <= theirs else "missed"
    goal = f"≤ 1× ({met})" if again.has_goal else "as measured"
    counts = f"{iterations}, {theirs_iterations}"
    return again.name, seconds(ours), seconds(theirs), f"{ours / theirs:.2f}×", goal, counts


class Again(NamedTuple):
    """A second solve: the first problem, the second one, mesh and order, and CasADi's side."""

    name: str
    build: Callable[[], da.System]
    first: dict[str, Any]
    second: dict[str, Any]
    mesh: tuple[int, int]
    by_hand: Callable[[], tuple[float, int, float, float]]
    has_goal: bool


def second_solves() -> list[Again]:
    """The cart-pole to 1.1 m, and the arm to 0.6."""
    pole, seven = cart_problem(1, 2.0), arm_problem(7)
    farther = {**pole, "end": {**pole["end"], "x": 1.1}}
    more = {**seven, "end": {k: 0.6 if x else 0.0 for k, x in seven["end"].items()}}
    return [
        Again(
            "cart-pole, second solve",
            partial(cart_with_links, 1),
            pole,
            farther,
            (60, 5),
            lambda: casadi_explicit(cart_rates(), 4, farther, 60, 5, again=True),
            has_goal=False,
        ),
        Again(
            "arm of seven joints, second solve",
            partial(arm, 7),
            seven,
            more,
            (20, 3),
            lambda: casadi_implicit(arm_residual(7), 7, 7, more, 20, 3, again=True),
            has_goal=True,
        ),
    ]


def run(report: Report, *, quick: bool) -> None:
    """Whole calls of both tools, and whether they find the same cost."""
    report.section("Optimal motions", NOTE)
    # generic code
    whole_call(partial(cart_with_links, 1), cart_problem(1, 1.0), 4, 3)
    rows = []
    for task in tasks()[:1] if quick else tasks():
        cost, iterations, ours = whole_call(task.build, task.problem, *task.mesh)
        theirs_cost, theirs_iterations, built, solved = task.by_hand()
        theirs = built + solved
        report.check(
            f"{task.name}: costs agree to {task.tolerance:g}",
            f"{cost:.10g}, {theirs_cost:.10g}",
            passed=abs(cost - theirs_cost) <= task.tolerance * abs(cost),
        )
        met = "met" if ours <= task.goal * theirs else "missed"
        counts = f"{iterations}, {theirs_iterations}"
        goal = f"≤ {task.goal:g}× ({met})"
        rows.append(
            (
                task.name,
                seconds(ours),
                f"{seconds(built)} + {seconds(solved)}",
                f"{ours / theirs:.2f}×",
                goal,
                counts,
            )
        )
    if not quick:
        rows += [second_solve(report, again) for again in second_solves()]
    headers = (
        "problem",
        "dalembert, whole call",
        "CasADi, build + solve",
        "ratio",
        "goal",
        "iterations",
    )
    report.table(headers, rows)
