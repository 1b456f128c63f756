"""First calls of every public function of a fresh process, made by several threads at once: prints
a digest of each result.

    python first_calls.py threads share shared|own

Each thread goes through so many parts of the list (1.0: all of it) from another place, so that
every function is somebody's first; with `shared` all threads work on the same systems.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import math
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dalembert as da
from dalembert import gallery
from dalembert.symbolic.algebra import functions

Systems = Callable[[str], da.System]


def _run(build: Systems, name: str = "simple-pendulum", **more: Any) -> Any:
    entry = gallery.entry(name)
    return da.simulate(
        build(name), 0.3, start=entry.start, inputs=entry.inputs, events=entry.events, **more
    )


def _bits(run: Any) -> bytes:
    return bytes(b"".join(x.tobytes() for r in (run, run.at(0.25)) for x in (r.t, r.q, r.u)))


def bits(name: str) -> bytes:
    """A run of a gallery system, to the last bit."""
    return _bits(_run(gallery.build, name))


def _simulations(build: Systems) -> bytes:
    """Explicit, constrained, with impacts, with energy kept, by SciPy."""
    runs = [_run(build, name) for name in ("double-pendulum", "four-bar", "bouncing-ball")]
    runs += [_run(build, keep_energy=True), _run(build, integrator="RK45")]
    return b"".join(map(_bits, runs))


def _jacobian(_: Systems) -> Any:
    s = _written_on("double-pendulum")
    return da.jacobian(s, s.bodies[1].G)


def _identified(build: Systems) -> Any:
    """Loads of a double pendulum in a motion of sines."""
    s = build("double-pendulum")
    q, u, a = ([[math.sin(k + j), math.cos(2 * k + j)] for k in range(20)] for j in range(3))
    table = {"t": range(20)}
    for j, name in enumerate(("alpha", "beta")):
        motion = zip(("", ".dot", ".dot.dot"), (q, u, a), strict=True)
        table |= {f"{name}{end}": [row[j] for row in x] for end, x in motion}
        table[f"tau_{name}"] = da.inverse_dynamics(s)(q, u, a)[:, j]
    return da.identify(s, table, noise=0.1).theta.tobytes()


def _rests(_: Systems) -> str:
    s = da.System("block", gravity=9.81)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("block", 1, P)
    s.force(s.N.x, at=P)
    s.contact(P, friction=0.3, name="floor")
    run = da.simulate(s, 0.3, start={x.dot: 0.05})
    return str(da.rests(s)) + hashlib.sha256(_bits(run)).hexdigest()


def _drawn(build: Systems) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return str(
            len(
                Path(str(da.animate(_run(build), Path(folder) / "run.html").path)).read_text(
                    encoding="utf-8"
                )
            )
            > 1000
        )


def _written(build: Systems) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return str(
            da.write_report(build("simple-pendulum"), Path(folder) / "page.html", duration=0.2).name
        )


def _beam(right: str = "free") -> da.System:
    """A clamped beam on a system of its own: amplitudes are declared on it."""
    s = da.System("beam")
    s.beam("beam", s.O, s.N.x, s.N.y, 2, 3, 5, left="clamped", right=right)
    return s


def _written_on(name: str) -> da.System:
    """A system of its own for results that are expressions: they stand on its tape, in whose
    order later results print their factors.
    """
    return gallery.build(name)


def _discretised(_: Systems) -> str:
    s = _beam()
    made = da.discretise(s, s.members["beam"], 2)
    return f"{made} {da.galerkin(da.extended_hamilton(s), da.kane(s))}"


def _balance(s: da.System) -> str:
    return str(da.balance(s, [s.bodies[0].name], about=s.O))


def _derived(principle: str) -> Callable[[Systems], str]:
    return lambda build: str(getattr(da, principle)(build("double-pendulum")))


def _saved_study(build: Systems) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        da.ensemble(
            build("double-pendulum"), 0.2, over={"alpha": [0.1, 0.5]}, save=f"{folder}/study.zarr"
        )
        return bytes(da.open_study(f"{folder}/study.zarr")["beta"].values.tobytes())


def _driven_pendulum() -> da.System:
    s = da.System("driven pendulum", gravity=9.81)
    phi = s.coordinate("phi")
    F = s.N.rotated(phi, s.N.z)
    s.particle("bob", 1, s.O.offset(-F.y))
    s.generalized_force(phi, s.input("tau"))
    return s


def _saved_orbit(build: Systems) -> str:
    s = build("simple-pendulum")
    with tempfile.TemporaryDirectory() as folder:
        da.periodic(s, mode=1).save(f"{folder}/orbit.json")
        again = da.open_orbit(f"{folder}/orbit.json", s)
        da.continuation(again, "energy", (-9.81, -9.7)).save(f"{folder}/family.json")
        return f"{again} {da.open_family(f'{folder}/family.json', s)}"


PRINCIPLES = (
    *("boltzmann_hamel", "central_equation", "dalembert", "gauss", "gibbs_appell", "hamilton"),
    *("jourdain", "kane", "lagrange", "maggi", "newton_euler"),
)

CALLS: dict[str, Callable[[Systems], Any]] = {
    **{name: _derived(name) for name in PRINCIPLES},
    "recursive": lambda build: da.recursive(build("double-pendulum")).udot,
    "agreement": lambda build: da.agreement(build("simple-pendulum")).agree,
    "animate": _drawn,
    "comparison": lambda build: [
        r.principle.title for r in da.comparison(build("simple-pendulum")).routes
    ],
    "angular_momentum": lambda _: da.angular_momentum(_written_on("gyroscope")),
    "kinetic_energy": lambda _: da.kinetic_energy(_written_on("double-pendulum")),
    "potential_energy": lambda _: da.potential_energy(_written_on("double-pendulum")),
    "momentum": lambda _: da.momentum(_written_on("double-pendulum")),
    "mass_centre": lambda _: da.mass_centre(_written_on("spatial-chain")).v,
    "jacobian": _jacobian,
    "compile": lambda build: da.compile(build("double-pendulum"))(
        [[0.1, 0.2]] * 5, [[0.3, 0.4]] * 5
    ).tobytes(),
    "constraints": lambda build: da.constraints(build("four-bar")),
    "energy_integrals": lambda build: da.energy_integrals(build("simple-pendulum")),
    "ensemble": lambda build: da.ensemble(
        build("double-pendulum"), 0.2, over={"alpha": [0.1, 0.5]}
    )["beta"].values.tobytes(),
    "open_study": _saved_study,
    "equilibria": lambda build: da.equilibria(
        build("simple-pendulum"), {"phi": (-1.0, 4.0)}, starts=4
    ),
    "equilibrium": lambda build: da.equilibrium(build("simple-pendulum")),
    "fit": lambda build: (
        da.fit(
            build("simple-pendulum"),
            {"t": [0, 0.2, 0.4], "phi": [1, 0.8, 0.4]},
            ["g"],
            start={"phi": 1.0},
        ).theta
    ),
    "forward_dynamics": lambda build: da.forward_dynamics(build("double-pendulum")).udot,
    "kinematics": lambda build: da.kinematics(build("four-bar")).n_u,
    "sampled": lambda build: str(da.sampled(abs, every=0.1)),
    "table": lambda build: da.table([0, 1, 2], [0, 1, 0], "cubic").coefficients.tobytes(),
    "lyapunov": lambda build: str(da.lyapunov(build("double-pendulum"), 2.0, start={"alpha": 1.0})),
    "linearize": lambda build: da.linearize(build("simple-pendulum")).A.tobytes(),
    "linearize_along": lambda build: b"".join(
        m.A.tobytes() for m in da.linearize_along(_run(build))
    ),
    "reactions": lambda build: da.reactions(build("double-pendulum")),
    "sensitivity": lambda build: da.sensitivity(_run(build), "l").derivatives.tobytes(),
    "simulate": _simulations,
    "stationary_potential": lambda build: da.stationary_potential(build("simple-pendulum")),
    "rests": _rests,
    "continuation": lambda build: da.continuation(build("simple-pendulum"), "g", (1.0, 2.0)),
    "discretise": _discretised,
    "extended_hamilton": lambda _: da.extended_hamilton(_beam()),
    "galerkin": _discretised,
    "member_buckling": lambda _: da.member_buckling(_beam("pinned"), count=1),
    "member_deflection": lambda _: da.member_deflection(_beam()),
    "member_modes": lambda _: da.member_modes(_beam(), count=2),
    "model_sensitivity": lambda build: da.model_sensitivity(
        build("simple-pendulum"), "l", {"phi": 0.0}
    ),
    "root_locus": lambda build: da.root_locus(build("simple-pendulum"), "l", [1.0, 2.0]),
    "routh": lambda build: da.routh(build("spherical-pendulum")),
    "balance": lambda build: _balance(build("double-pendulum")),
    "evaluate": lambda build: da.evaluate(
        build("double-pendulum"), "alpha.dot + 2*beta", at={"beta": 0.3, "alpha.dot": 0.7}
    ),
    "export": lambda build: da.export(build("double-pendulum"), "numpy"),
    "inverse_dynamics": lambda build: da.inverse_dynamics(build("double-pendulum"))(
        [0.1, 0.2], [0.3, 0.4], [0.5, 0.6]
    ).tobytes(),
    "conservative": lambda build: str(da.conservative(build("simple-pendulum"))),
    "multipliers": lambda build: da.multipliers(build("knife-edge-rod")),
    "identify": _identified,
    "regressor": lambda build: da.regressor(build("double-pendulum")).base.count,
    "state_values": lambda build: da.state_values(
        build("double-pendulum"), at={"beta": 0.3}
    ).M.tobytes(),
    "symmetry": lambda build: da.symmetry(build("spherical-pendulum"), {"phi": 1}),
    "virtual_work": lambda build: da.virtual_work(build("simple-pendulum")),
    "write_report": _written,
    "compare_speeds": lambda _: da.compare_speeds(
        once=gallery.build("rolling-disk"), again=gallery.build("rolling-disk")
    ),
    "premature_constraints": lambda build: da.premature_constraints(build("vehicle")),
    "tables": lambda _: sorted(da.tables({"t": [0, 1, 2], "F": [0, 3, 0]})),
    "bifurcation_diagram": lambda build: da.bifurcation_diagram(
        build("simple-pendulum"),
        "l",
        [1.0, 2.0],
        keep="phi",
        section="phi.dot",
        transient=1.0,
        duration=4.0,
        samples=100,
        start={"phi": 1.0},
        progress=False,
    ),
    "computed_torque": lambda _: da.computed_torque(_driven_pendulum(), {"phi": "sin(t)"}),
    "derivatives": lambda build: da.derivatives(build("double-pendulum"))([0.1, 0.2], [0.3, 0.4]),
    "kalman": lambda _: da.kalman(
        _driven_pendulum(), ["phi"], 0.1, noise=0.01, process=0.01, inputs={"tau": 0}
    ),
    "noise": lambda _: da.noise(1, 0.1, seed=3)(0.55),
    "delayed": lambda _: str(da.delayed(math.sin, 0.2, every=0.1)),
    "pade_delay": lambda _: str(da.pade_delay(_driven_pendulum(), "late", "phi", 0.1)),
    "observer": lambda _: da.observer(
        _driven_pendulum(), ["phi"], noise=0.01, process=0.01, about={"phi": math.pi}
    ).L.tobytes(),
    "lqr": lambda _: da.lqr(_driven_pendulum(), {"phi": math.pi}).K.tobytes(),
    "track": lambda _: da.track(
        da.simulate(_driven_pendulum(), 0.3, start={"phi": 1.0}, inputs={"tau": "sin(t)"})
    ),
    "periodic": lambda build: da.periodic(build("simple-pendulum"), mode=1).period,
    "open_orbit": _saved_orbit,
    "open_family": _saved_orbit,
    "poincare_map": lambda build: da.poincare_map(build("simple-pendulum"), "phi")(
        {"phi": 0.3, "phi.dot": 0.4}
    ),
    "verify": lambda build: da.verify(build("simple-pendulum"), "l*phi'' + g*sin(phi) = 0"),
}


def public_functions() -> set[str]:
    """Those that compute: not the elementary functions, inertias and declarations."""
    declared = {"event", "impact", "ellipsoid_contact", "ring_contact", "inertia"}
    declared |= {"phase", "link", "support_change"}
    # these need packages of the extras, or models of other tools
    declared |= {"crosscheck", "from_sympy", "load", "optimize", "to_casadi", "to_jax"}
    callables = {n: getattr(da, n) for n in da.__all__ if inspect.isfunction(getattr(da, n))}
    return {
        n
        for n, f in callables.items()
        if f.__module__ != functions.__name__ and not n.endswith("_inertia")
    } - declared


def digest(result: Any) -> str:
    return hashlib.sha256(result if isinstance(result, bytes) else str(result).encode()).hexdigest()


def main(threads: int, share: float, build: Systems) -> dict[str, str]:
    """{function: digest}, the same for all threads; "!" where they differ."""
    names, barrier = sorted(CALLS), threading.Barrier(threads)
    found: list[dict[str, str]] = [{} for _ in range(threads)]

    def work(k: int) -> None:
        first = k * len(names) // threads
        barrier.wait()
        for name in (names[first:] + names[:first])[: math.ceil(share * len(names))]:
            found[k][name] = digest(CALLS[name](build))

    workers = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    results = {name: {f[name] for f in found if name in f} for name in names}
    return {name: digests.pop() if len(digests) == 1 else "!" for name, digests in results.items()}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    same = functools.cache(gallery.build)
    for name in ("double-pendulum", "four-bar", "simple-pendulum", "bouncing-ball"):
        same(name)
    sys.stdout.write(
        json.dumps(
            main(
                int(sys.argv[1]),
                float(sys.argv[2]),
                same if sys.argv[3] == "shared" else gallery.build,
            )
        )
    )
