"""60 systems: each verdict on an energy integral against runs from five random starts.

The systems have moving coordinates, loads that are conservative in part, prescribed motions,
moving constraints and quasi-velocities; constants, starts and starting times are drawn. An integral
that exists is evaluated along each run. It is

    constant      if it changes by less than 1e-9 of max(|K₂| + |𝒰| + |Z|) in all runs,
    not constant  if it changes by more than 1e-5 of it in at least one.

For U the candidate V as a function of position is evaluated also where U does not exist: K + U then
changes. Writes benchmarks/energy_verdicts.csv.

    python benchmarks/energy_verdicts.py [first [last]]
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import dalembert as da
from dalembert import gallery
from dalembert.analysis.integrals.run_integrals import cached_energies

SEED = 20260734
STARTS = 5
DURATION = 1.5
CONSTANT, CHANGING = 1e-9, 1e-5
SYMBOLS = ("E_Z", "E", "𝓗", "H", "K + 𝒰", "K + U")
COLUMNS = ("number", "system", "speeds", "verdicts", *SYMBOLS, "reason", "agrees")

# a motion f(t) of a coordinate or of a prescribed motion, as text
MOTIONS = ("3*t", "2 - t", "t**2", "sin(2*t)", "cos(t)/2")


@dataclass(frozen=True)
class Case:
    """A system, the motions of what is prescribed, and what is known of its starts."""

    system: da.System
    inputs: dict[str, str] = field(default_factory=dict)
    # names of the coordinates and of the speeds that are drawn
    start: tuple[str, ...] = ()
    # constants that are zero, as verdict and runs count them
    values: dict[str, float] = field(default_factory=dict)


def motion(rng: np.random.Generator) -> str:
    """None in two of five draws."""
    return "0" if rng.random() < 0.4 else str(rng.choice(MOTIONS))


def constants(s: da.System, rng: np.random.Generator, names: str) -> list[da.Scalar]:
    return [s.constant(name, round(float(rng.uniform(0.5, 2.0)), 3)) for name in names.split()]


# ---- a particle in moving coordinates ------------------------------------------------------------

# forces along x and y; X and Y stand for the absolute position
FORCES = (
    ("-k*x - c*x.dot", "-k*y"),
    ("-k*y", "-k*x"),
    ("-k*y - c*x.dot", "-k*x - c*y.dot"),
    ("-k*x + b*y", "-k*y - b*x"),
    ("-k*x + b*y", "-k*y + b*x"),
    ("b*y.dot", "-b*x.dot"),
    ("-k*(X)", "-k*(Y)"),
    ("-k*(X) - c*x", "0"),
    ("-k", "b"),
    ("-k*x**3 - c*y", "-c*x - b*y"),
    ("-k*sin(x) - c*cos(y)", "c*x*sin(y)"),
    ("-k*x*sin(t)", "-b*y"),
)
POTENTIALS = ("", "m*9.81*(Y)", "k*((X)**2 + (Y)**2)/2", "k*(x**2 + y**2)/2", "k*x**2/2 + b*(Y)")


def particle(rng: np.random.Generator) -> Case:
    """A particle at (x + f(t), y + g(t)) with a random potential and random forces."""
    s = da.System("Particle in moving coordinates")
    s.coordinates("x y")
    values = constants(s, rng, "m k c b")
    f, g = motion(rng), motion(rng)
    inputs = {}
    if rng.random() < 0.3:
        s.specified("a")
        inputs["a"] = str(rng.choice(MOTIONS))
        f = "a"
    X, Y = f"x + {f}", f"y + {g}"
    P = s.O.offset(s.expression(X) * s.N.x + s.expression(Y) * s.N.y, "P")
    s.particle("particle", sum(values[1:], values[0]), P)
    V = str(rng.choice(POTENTIALS)).replace("X", X).replace("Y", Y)
    if V:
        s.potential(s.expression(V), "V")
    if rng.random() < 0.6 or not V:
        F = [e.replace("X", X).replace("Y", Y) for e in FORCES[rng.integers(len(FORCES))]]
        s.force(s.expression(F[0]) * s.N.x + s.expression(F[1]) * s.N.y, P, name="F")
    if rng.random() < 0.3:
        w = rng.choice(("t", "sin(t)", "2*t**2"))
        s.speed("u1", s.expression(f"x.dot + y.dot + {w}"))
        s.speed("u2", s.expression("y.dot - x.dot"))
        return Case(s, inputs, ("x", "y", "u1", "u2"))
    return Case(s, inputs, ("x", "y", "x.dot", "y.dot"))


# ---- mechanisms with prescribed motions ----------------------------------------------------------


def pendulum(rng: np.random.Generator) -> Case:
    """A rod on a pivot that moves along x or y, with or without damping."""
    s = da.System("Pendulum on a moving pivot", gravity=9.81)
    theta = s.coordinate("theta")
    (c,) = constants(s, rng, "c")
    B = s.N.rotated(theta, s.N.z, "B")
    axis, text = (s.N.x, s.N.y)[rng.integers(2)], motion(rng)
    inputs = {}
    if rng.random() < 0.5:
        h = s.specified("h")
        inputs["h"] = text
    else:
        h = s.expression(text)
    pivot = s.O.offset(h * axis, "pivot")
    s.particle("bob", 1 + c, pivot.offset(-B.y, "P"))
    if rng.random() < 0.5:
        torque = str(rng.choice(("-c*theta.dot", "-c*sin(theta) - c*theta.dot", "-c*sin(theta)")))
        s.torque(s.expression(torque) * s.N.z, on=B, name="torque")
    if rng.random() < 0.4:
        s.speed("u", theta.dot + s.expression(str(rng.choice(("t", "sin(t)", "3")))))
        return Case(s, inputs, ("theta", "u"))
    return Case(s, inputs, ("theta", "theta.dot"))


def turntable(rng: np.random.Generator) -> Case:
    """A particle on springs on a rotating table, in coordinates of the table."""
    s = da.System("Particle on a rotating table")
    x, y = s.coordinates("x y")
    m, k, c = constants(s, rng, "m k c")
    text = str(rng.choice(("2*t", "t**2", "sin(t)", "0.5*t")))
    inputs = {}
    if rng.random() < 0.5:
        psi = s.specified("psi")
        inputs["psi"] = text
    else:
        psi = s.expression(text)
    A = s.N.rotated(psi, s.N.z, "A")
    P = s.O.offset(x * A.x + y * A.y, "P")
    s.particle("particle", m + c, P)
    s.potential(k * (x**2 + y**2) / 2, "springs")
    if rng.random() < 0.4:
        s.force(-c * (x.dot * A.x + y.dot * A.y), P, name="drag")
    if rng.random() < 0.3:
        s.speed("u1", x.dot - y)
        s.speed("u2", y.dot + x)
        return Case(s, inputs, ("x", "y", "u1", "u2"))
    return Case(s, inputs, ("x", "y", "x.dot", "y.dot"))


def wire(rng: np.random.Generator) -> Case:
    """A particle on a wire that moves: a constraint row with the time in it."""
    s = da.System("Particle on a moving wire")
    x, y = s.coordinates("x y")
    m, k = constants(s, rng, "m k")
    f = s.expression(str(rng.choice(("0", "3*t", "sin(t)/3"))))
    P = s.O.offset((x + f) * s.N.x + y * s.N.y, "P")
    s.particle("particle", m, P)
    s.potential(k * ((x + f) ** 2 + y**2) / 2, "springs")
    kind = rng.integers(3)
    if kind == 0:
        s.constrain(x + f - y / 2 - 1, "fixed wire")
    elif kind == 1:
        s.constrain(x - y / 2 - 1, "wire of the coordinates")
    else:
        s.constrain(y.dot - x * x.dot - s.expression("cos(t)/4"), "moving row")
    return Case(s, {}, ("y", "y.dot") if kind < 2 else ("x", "y", "x.dot"))


FAMILIES: tuple[tuple[int, Callable[[np.random.Generator], Case]], ...] = (
    (26, particle),
    (12, pendulum),
    (8, turntable),
    (6, wire),
)
SPHERE = ("s", "alpha", "beta", "omega_y", "v")
FROM_GALLERY: tuple[tuple[str, tuple[str, ...], dict[str, str], dict[str, float]], ...] = (
    ("hoist", ("theta", "theta.dot"), {"x": "3*cos(t)"}, {}),
    ("hoist", ("theta", "theta.dot"), {"x": "2*t"}, {}),
    ("bead-on-hoop", ("theta", "theta.dot"), {"psi": "8*t"}, {}),
    ("bead-on-hoop", ("theta", "theta.dot"), {"psi": "t**2"}, {}),
    ("double-pendulum", (), {}, {}),
    ("positioning-device", SPHERE, {"Omega": "4"}, {"b": 0.0}),
    ("positioning-device", SPHERE, {"Omega": "t/2"}, {"b": 0.0}),
    ("positioning-device", SPHERE, {"Omega": "4"}, {}),
)


def cases() -> Iterator[Case]:
    """All systems, in their order."""
    rng = np.random.default_rng(SEED)
    for count, family in FAMILIES:
        for _ in range(count):
            yield family(rng)
    for name, start, inputs, values in FROM_GALLERY:
        yield Case(gallery.build(name), inputs, start, values)


# ---- brute force ---------------------------------------------------------------------------------


def runs(case: Case, rng: np.random.Generator) -> Iterator[da.Trajectory]:
    """Five runs from random starts with nonzero speeds, at random times."""
    kin = da.kinematics(case.system)
    names = case.start or (*(str(kin.name(i)) for i in kin.q), *(str(kin.name(i)) for i in kin.u))
    for _ in range(STARTS):
        drawn = {
            name.replace("'", ".dot"): float(rng.choice((-1, 1)) * rng.uniform(0.3, 1.2))
            for name in names
        }
        yield da.simulate(
            case.system,
            DURATION,
            start=drawn,
            inputs=case.inputs,
            values=case.values,
            t0=float(rng.uniform(0.2, 3.0)),
            rtol=1e-13,
            atol=1e-13,
            progress=False,
        )


def changes(run: da.Trajectory) -> dict[str, float]:
    """How far each integral and candidate moves along a run, relative to the energies."""
    found, E = run.integrals, cached_energies(run.kinematics)
    (U,) = run.rows([E.classical.U])
    scale = float(np.max(np.abs(found.K2) + np.abs(found.potential) + np.abs(found.Z)))
    K = found.K2 + found.K1 + found.K0
    values = (found.E_Z, found.E, found.H, found.K2 - found.K0 + U, found.C, K + U)
    return {s: float(np.ptp(x)) / scale for s, x in zip(SYMBOLS, values, strict=True)}


def check(case: Case, seed: int) -> dict[str, str]:
    """The verdicts, the largest change of each integral, and whether they agree."""
    found = da.energy_integrals(case.system, inputs=case.inputs, values=case.values)
    moved = [changes(run) for run in runs(case, np.random.default_rng(seed))]
    largest = {s: max(m[s] for m in moved) for s in SYMBOLS}
    letters = ["–" if not v.exists else "c" if v.constant else "n" for v in found.verdicts]
    agrees = all(
        {"c": largest[s] < CONSTANT, "n": largest[s] > CHANGING, "–": True}[letter]
        for s, letter in zip(SYMBOLS, letters, strict=True)
    )
    # without U its candidate is no integral
    if letters[-1] == "–":
        agrees = agrees and largest["K + U"] > CHANGING
    reason = found.why_no_potential or (
        f"H: {found.why_no_hamiltonian}" if found.why_no_hamiltonian else ""
    )
    return {
        "system": found.system,
        "speeds": " ".join(found.speeds),
        "verdicts": " ".join(letters),
        **{s: f"{largest[s]:.1e}" for s in SYMBOLS},
        "reason": reason,
        "agrees": "yes" if agrees else "NO",
    }


def main() -> None:
    given = [int(x) for x in sys.argv[1:]]
    first, last = (*given, 1, 10**6)[0], (*given[1:], 10**6)[0]
    path = Path(__file__).with_suffix(".csv")
    rows = {}
    if path.exists() and first > 1:
        with path.open(encoding="utf-8", newline="") as file:
            rows = {int(row["number"]): row for row in csv.DictReader(file)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DalembertWarning)
        for number, case in enumerate(cases(), 1):
            if first <= number <= last:
                rows[number] = {"number": str(number), **check(case, SEED + number)}
                print(*rows[number].values(), flush=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[n] for n in sorted(rows))
    print(f"{sum(row['agrees'] == 'yes' for row in rows.values())} of {len(rows)} agree")


if __name__ == "__main__":
    main()
