"""Contacts: scenes of many contacts, ten thousand bodies that bounce and slide, and landings
against MuJoCo's rollouts with the errors of both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy
from measure import Timing, race, timed
from numpy.typing import NDArray
from results import Report, Slower, Within

import dalembert as da

Numbers = NDArray[numpy.float64]
NOTE: Final = (
    "Scenes: whole calls of `da.simulate` for 3 s of motion at the default tolerance; the first "
    "call also derives and compiles, with an empty cache. Bodies: one thread, CPU time of one run "
    "in `da.ensemble` without audit, against the loop of whole calls of `da.simulate`. Landings: "
    "particles that fall on a plane with friction and slide until they stop, where the law of "
    "impact without restitution gives the place in closed form; MuJoCo runs them by `rollout` with "
    "its default contacts, which are soft, at its default step and at a twentieth of it."
)
_G, _MU = 9.81, 0.3
_DURATION = 3.0
_MOST = 2.0


class Scene(NamedTuple):
    """A system, its initial conditions, and a check of its last state."""

    name: str
    system: da.System
    start: dict[str, float]
    error: Callable[[Any], float]
    limit: float


def falling_balls(count: int) -> Scene:
    """Balls over a floor with friction, which never touch one another."""
    s, start = da.System("Balls", gravity=_G), {}
    for k in range(count):
        x, y = s.coordinates(f"x{k} y{k}")
        P = s.O.offset((k + x) * s.N.x + y * s.N.y, f"P{k}")
        s.particle(f"b{k}", 1, P)
        s.contact(P, friction=_MU, restitution=0.5, name=f"c{k}")
        start |= {f"y{k}": 0.3 + 0.01 * k, f"x{k}.dot": 0.5}
    return Scene(f"{count} balls over a floor", s, start, _height("y0", 0.0), 1e-9)


def column(count: int) -> Scene:
    """Particles above one another, each of which lands on the one below."""
    s, start, below = da.System("Column", gravity=_G), {}, None
    for k in range(count):
        y = s.coordinate(f"y{k}")
        P = s.O.offset(y * s.N.y, f"P{k}")
        body = s.particle(f"P{k}", 1, P)
        on = {} if below is None else {"through": below[0], "against": below[1]}
        s.contact(P, name=f"c{k}", **on)
        start[f"y{k}"] = 0.01 * (k + 1)
        below = (P, body)

    def error(run: Any) -> float:
        return abs(float(run["N_c0"][-1]) / (count * _G) - 1)

    return Scene(f"a column of {count}", s, start, error, 1e-9)


def chain(links: int) -> Scene:
    """Particles joined by rods that fall on the ground, with friction at each."""
    s = da.System("Chain", gravity=_G)
    x, y = s.coordinates("x y")
    P, start = s.O.offset(x * s.N.x + y * s.N.y, "P"), {"y": 0.3, "x.dot": 0.5}
    for k in range(links + 1):
        if k:
            angle = s.coordinate(f"a{k}")
            P = P.offset(0.2 * s.N.rotated(angle, s.N.z).x, f"P{k}")
            start[f"a{k}"] = 0.4 * (-1) ** k + 0.05 * k
        s.particle(f"m{k}", 1, P)
        s.contact(P, friction=_MU, name=f"c{k}")
    return Scene(f"a chain of {links} links", s, start, _height("y", 0.0), 1e-6)


def disks(count: int) -> Scene:
    """Disks with friction on a floor, each of which may touch every other."""
    r, bodies, start = 0.1, [], {}
    s = da.System("Disks", gravity=_G)
    for i in range(count):
        x, y, a = s.coordinates(f"x{i} y{i} a{i}")
        B = s.N.rotated(a, s.N.z, f"B{i}")
        G = s.O.offset(x * s.N.x + y * s.N.y, f"G{i}")
        body = s.body(f"d{i}", 1, G, B, da.inertia(B, *[r * r / 2] * 3))
        s.contact(G, radius=r, on=body, friction=_MU, name=f"floor {i}")
        for j, (other, carrier) in enumerate(bodies):
            ball = {"ball": other, "radius": (r, r), "against": carrier}
            s.contact(G, on=body, friction=_MU, name=f"pair {j} {i}", **ball)
        bodies.append((G, body))
        row, place = divmod(i, 4)
        start |= {f"x{i}": 0.23 * place + 0.11 * (row % 2), f"y{i}": 0.11 + 0.25 * row}

    def error(run: Any) -> float:
        """The deepest penetration of two disks or of a disk and the floor."""
        deepest = max(r - float(run[f"y{i}"].min()) for i in range(count))
        for i in range(count):
            for j in range(i):
                apart = numpy.hypot(run[f"x{i}"] - run[f"x{j}"], run[f"y{i}"] - run[f"y{j}"])
                deepest = max(deepest, 2 * r - float(apart.min()))
        return deepest

    return Scene(f"{count} disks, all pairs", s, start, error, 1e-8)


def _height(name: str, expected: float) -> Callable[[Any], float]:
    return lambda run: abs(float(run[name][-1]) - expected)


def landing() -> da.System:
    """A particle over a plane with friction."""
    s = da.System("Landing", gravity=_G)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("block", 1, P)
    s.contact(P, friction=_MU, name="floor")
    return s


def bouncing_block() -> da.System:
    """A particle that bounces, slides and stops."""
    s = da.System("Bouncing", gravity=_G)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("block", 1, P)
    s.contact(P, friction=_MU, restitution=0.4, name="floor")
    return s


def landing_place(height: Numbers, speed: Numbers) -> Numbers:
    """x = v t + max(v − μ g t, 0)²/(2 μ g), t = √(2 h/g): flight, impact with friction, slip."""
    time = numpy.sqrt(2 * height / _G)
    after = numpy.maximum(speed - _MU * _G * time, 0.0)
    return speed * time + after**2 / (2 * _MU * _G)


def run(report: Report, *, quick: bool) -> None:
    """Ensembles, landings, scenes."""
    report.section("Contacts", NOTE)
    _bodies(report, 1000 if quick else 10_000)
    _landings(report, 64 if quick else 512)
    _scenes(report, quick=quick)


def _scenes(report: Report, *, quick: bool) -> None:
    rows = []
    links, many = (4, 4) if quick else (10, 10)
    for scene in (falling_balls(20), column(20), chain(links), disks(many)):
        report.progress(scene.name)

        results: list[Any] = []

        def simulate(scene: Scene = scene, results: list[Any] = results) -> None:
            results[:] = [da.simulate(scene.system, _DURATION, start=scene.start)]

        first, _ = timed(simulate)
        timing = race({"dalembert": simulate}, rounds=3, block=0.0)["dalembert"]
        report.compare(f"{scene.name}, 3 s", {"dalembert": timing}, {"dalembert": Within(_MOST)})
        error = scene.error(results[0])
        report.check(
            f"{scene.name}: height, weight or penetration at the end",
            f"{error:.1e} ≤ {scene.limit:g}",
            passed=results[0].finished and error <= scene.limit,
        )
        rows.append((scene.name, f"{first:.2f}", str(len(results[0].events))))
    report.table(("scene", "first call, CPU s", "events"), rows)


def _bodies(report: Report, count: int) -> None:
    report.progress(f"{count} bodies")
    system, generator = bouncing_block(), numpy.random.default_rng(3)
    over = {
        ("y", "x.dot"): numpy.column_stack(
            [generator.uniform(0.1, 1.0, count), generator.uniform(0.5, 3.0, count)]
        )
    }
    few = 200

    def study() -> da.Ensemble:
        return da.ensemble(system, _DURATION, over=over, audit=False, threads=1)

    def loop() -> list[tuple[float, float]]:
        return [
            (float(one["x"][-1]), float(one["y"][-1]))
            for y, v in over["y", "x.dot"][:few]
            for one in [da.simulate(system, _DURATION, start={"y": y, "x.dot": v})]
        ]

    ends = study()
    expected = [(float(ends["x"][k]), float(ends["y"][k])) for k in range(few)]
    report.check(
        f"{count} bodies have the bits of single runs", f"{few} ends", passed=loop() == expected
    )
    times = race({"dalembert": study, "loop": loop}, rounds=3, block=0.0, limit=60.0)
    timings = {"dalembert": times["dalembert"].per(count), "loop": times["loop"].per(few)}
    report.compare(f"{count} bodies that bounce and slide, 3 s", timings, {"loop": Slower(3.0)})


_MUJOCO: Final = """
<mujoco>
  <option gravity="0 0 -9.81" timestep="{step}" cone="elliptic"/>
  <worldbody>
    <geom type="plane" size="50 5 1" friction="{mu} 0 0"/>
    <body><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
      <geom type="sphere" size="0.05" pos="0 0 0.05" mass="1" friction="{mu} 0 0"/></body>
  </worldbody>
</mujoco>
"""


class _Rollouts:
    """The same landings by mujoco.rollout with one step size."""

    def __init__(self, step: float, height: Numbers, speed: Numbers) -> None:
        import mujoco
        from mujoco import rollout

        text = _MUJOCO.format(step=step, mu=_MU)
        self._model: Any = mujoco.MjModel.from_xml_string(text)
        self._data: Any = mujoco.MjData(self._model)
        self._rollout: Any = rollout.rollout
        self._steps = round(_DURATION / step)
        size = mujoco.mj_stateSize(self._model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self._starts = numpy.zeros((len(height), size))
        # time, positions, velocities
        self._starts[:, 2], self._starts[:, 3] = height, speed

    def run(self) -> Numbers:
        """x at the end, some runs at a time, so that their paths fit into memory."""
        ends = []
        for first in range(0, len(self._starts), 32):
            part = self._starts[first : first + 32]
            states, _ = self._rollout(self._model, self._data, part, nstep=self._steps)
            ends.append(states[:, -1, 1])
        return numpy.concatenate(ends)


def _landings(report: Report, count: int) -> None:
    report.progress(f"{count} landings")
    system, generator = landing(), numpy.random.default_rng(4)
    height, speed = generator.uniform(0.1, 1.0, count), generator.uniform(1.0, 4.0, count)
    exact = landing_place(height, speed)
    over = {("y", "x.dot"): numpy.column_stack([height, speed])}

    def study() -> da.Ensemble:
        return da.ensemble(system, _DURATION, over=over, audit=False, threads=1)

    works: dict[str, Callable[[], object]] = {"dalembert": study}
    ends: dict[str, Numbers] = {"dalembert": study()["x"].values}
    unavailable: dict[str, str] = {}
    for step in (2e-3, 1e-4):
        name = f"mujoco.rollout, step {step:g} s"
        try:
            peer = _Rollouts(step, height, speed)
        except ImportError as problem:
            unavailable[name] = f"not there: {problem}"
            continue
        works[name], ends[name] = peer.run, peer.run()
    errors = {name: numpy.abs(end - exact) for name, end in ends.items()}
    found = {n: t.per(count) for n, t in race(works, rounds=3, block=0.0, limit=60.0).items()}
    timings: dict[str, Timing | str] = {**found, **unavailable}
    report.compare(f"{count} landings, 3 s", timings)
    report.table(
        ("tool", "median error of x, m", "largest"),
        [(n, f"{numpy.median(e):.1e}", f"{e.max():.1e}") for n, e in errors.items()],
    )
    largest = float(errors["dalembert"].max())
    report.check(
        f"{count} landings against their closed form",
        f"{largest:.1e} m ≤ 1e-9 m",
        passed=largest <= 1e-9,
    )
