"""Several phases: free switching times, impacts, and a gait without effort."""

import math

import numpy as np
import pytest

import dalembert as da
from optimal.optimal_systems import G, block, walker

FROM, TO = {"x": 0.0, "x.dot": 0.0}, {"x": 1.0, "x.dot": 0.0}


def test_two_phases_with_a_free_switching_time_equal_one() -> None:
    s = block()
    first = da.phase(s, (0.2, 0.8), minimize="F**2", start=FROM)
    second = da.phase(s, (0.2, 0.8), minimize="F**2", end=TO, integrals={})
    best = da.optimize([first, second])
    # both durations are free: the longest allowed ones cost least
    assert 12.0 / 1.6**3 == pytest.approx(best.cost, rel=1e-8)
    assert 1.6 == pytest.approx(best.duration, rel=1e-8)
    assert best.audit.passed, str(best)


def test_shortest_time_in_two_phases_switches_in_the_middle() -> None:
    s = block()
    push = da.phase(
        s, (0.1, 5.0), minimize="duration", start=FROM, bounds={"F": (0, 1)}, intervals=5
    )
    brake = da.phase(s, (0.1, 5.0), minimize="duration", end=TO, bounds={"F": (-1, 0)}, intervals=5)
    best = da.optimize([push, brake])
    assert 2.0 == pytest.approx(best.duration, abs=1e-8)
    assert [1.0, 1.0] == pytest.approx([p.duration for p in best.phases], abs=1e-5)


def test_a_plastic_impact_loses_the_momentum_of_what_stops() -> None:
    """Two blocks joined by a spring at rest length: one stops at a wall, the other keeps its
    speed.
    """
    s = da.System("two blocks")
    a, b, F = s.coordinate("a"), s.coordinate("b"), s.input("F")
    A, B = s.O.offset(a * s.N.x, "A"), s.O.offset(b * s.N.x, "B")
    s.particle("A", 1.0, A)
    s.particle("B", 2.0, B)
    s.force((F + 3 * (b - a - 1)) * s.N.x, at=A)
    s.force(-3 * (b - a - 1) * s.N.x, at=B)
    first = da.phase(
        s,
        1.0,
        minimize="F**2",
        start={"a": -1, "b": 0, "a.dot": 0, "b.dot": 0},
        end={"a": 0, "a.dot": (0.1, None)},
    )
    second = da.phase(s, 0.5, minimize="F**2", bounds={"F": 5})
    best = da.optimize([first, second], links=[da.link(impact=["-a"], unilateral=["-a"])])
    before, after = best.phases[0], best.phases[1]
    assert after["a.dot"][0] == pytest.approx(0.0, abs=1e-9)
    assert after["b.dot"][0] == pytest.approx(before["b.dot"][-1], abs=1e-9)
    unknowns = best.answer.solution.v[best.answer.transcription.link_unknowns[0]]
    # Λ along −a: the wall pushes backwards with the lost momentum
    assert unknowns[-1] == pytest.approx(1.0 * before["a.dot"][-1], abs=1e-9)


def test_a_wall_that_pulls_is_refused_by_its_impulse() -> None:
    s = block()
    first = da.phase(s, 1.0, minimize="F**2", start=FROM, end={"x": 1.0, "x.dot": (0.5, None)})
    second = da.phase(s, 0.5, minimize="F**2")
    with pytest.warns(da.DalembertWarning, match="no solution"):
        best = da.optimize(
            [first, second], links=[da.link(impact=["x"], unilateral=["x"])], most_iterations=200
        )
    assert not best.converged


def test_the_passive_gait_of_the_compass_walker_costs_nothing() -> None:
    """On a slope of 3° it walks without torque, with a short step and with a long one; the long
    one is stable, period 0.734 s.
    """
    s, foot, swing_foot = walker()
    start = {"stance": 0.2187, "swing": -0.3234, "stance.dot": -1.0918, "swing.dot": -0.3772}
    guess = da.simulate(s, 0.734, start=start, inputs={"tau": 0}, guess={"hx": -0.2, "hy": 1.0})
    step = da.phase(
        s,
        (0.65, 1.0),
        minimize="tau**2",
        start={foot["height"]: 0},
        end={foot["height"]: 0, foot["foot"]: (0.2, None)},
        guess=guess,
        bounds={"tau": 50},
    )
    swap = {"stance": "swing", "swing": "stance", "hx": "-l*sin(swing)", "hy": "l*cos(swing)"}
    best = da.optimize(
        [step],
        links=[da.link(swap, impact=[foot["along"], foot["height"]], unilateral=[foot["height"]])],
    )
    assert best.cost <= 1e-10
    assert best.audit.passed, str(best)
    assert _step_map_error(best) < 1e-7
    strike = da.support_change(
        s, swing_foot, gap=foot["height"], relabel=swap, when=foot["foot"] - 0.2
    )
    gait = da.periodic(s, start, events=[strike], inputs={"tau": 0}, guess={"hx": -0.2, "hy": 1.0})
    assert gait.period == pytest.approx(best.duration, abs=1e-6)
    assert gait.stability == "stable"
    for name in start:
        assert gait.start[name] == pytest.approx(best[name][0], abs=1e-6)
    fractions = np.linspace(0.0, 0.95, 9)
    motion = gait.run().at(fractions * gait.period)
    for name in start:
        there = np.interp(fractions * best.duration, best.t, best[name])
        assert motion[name] == pytest.approx(there, abs=1e-4)


def _step_map_error(best: da.Optimum) -> float:
    """The step repeated in minimal coordinates with the textbook's impact map: how far the next
    start is off.
    """
    m, m_hip, a, b, l = 5.0, 10.0, 0.5, 0.5, 1.0
    end = {name: best[name][-1] for name in ("stance", "swing", "stance.dot", "swing.dot")}
    angle = end["stance"] - end["swing"]
    c = math.cos(angle)
    # angular momentum about the new foot, and of the old stance leg about the hip (Goswami et al.
    # (1998), section 3.2)
    before = np.array(
        [[(m_hip * l**2 + 2 * m * a * l) * c - m * a * b, -m * a * b], [-m * a * b, 0.0]]
    )
    after = np.array(
        [
            [(m_hip + m) * l**2 + m * a**2 - m * b * l * c, m * b * (b - l * c)],
            [-m * b * l * c, m * b**2],
        ]
    )
    speeds = np.linalg.solve(after, before @ [end["stance.dot"], end["swing.dot"]])
    wanted = [end["swing"], end["stance"], speeds[0], speeds[1]]
    start = [best[name][0] for name in ("stance", "swing", "stance.dot", "swing.dot")]
    assert G == 9.81
    return float(np.abs(np.array(wanted) - start).max())
