"""K λ = r by loops over the rows that act, where unrolled code is too long."""

import itertools

import numpy as np
import pytest

import dalembert as da
from dalembert.runtime.contact import contact_equations
from friction.test_many_contacts import disks

R = 0.1
THREE = ((-0.105, 0.1), (0.105, 0.1), (0.003, 0.28))


def pile(count):
    places = [(0.22 * (i % 4) - 0.3 + 0.01 * i, 0.12 + 0.25 * (i // 4)) for i in range(count)]
    return disks(places, R)


def test_loops_give_the_forces_of_unrolled_code(monkeypatch):
    runs = []
    for limit in (4000, 0):
        monkeypatch.setattr(contact_equations, "_MAX_UNROLLED", limit)
        s, start = disks(THREE, R)
        runs.append(da.simulate(s, 0.3, start=start))
    unrolled, loops = runs
    assert [(e.name, e.action) for e in unrolled.events] == [
        (e.name, e.action) for e in loops.events
    ]
    names = [str(x.name) for c in unrolled.system.contacts for x in c.forces]
    for name in (*names, *(f"{c}{i}" for c in "xya" for i in range(3))):
        size = max(1.0, float(np.abs(unrolled[name]).max()))
        assert float(np.abs(unrolled[name] - loops[name]).max()) < 1e-9 * size, name
    assert max(float(np.abs(loops[name]).max()) for name in names) > 9.0


def test_ten_disks_with_all_pairs_never_overlap_and_gain_no_energy():
    s, start = pile(10)
    run = da.simulate(s, 1.3, start=start)
    assert 110 == 2 * len(run.modes)
    assert len(run.events) > 100
    for i, j in itertools.combinations(range(10), 2):
        apart = np.hypot(run[f"x{i}"] - run[f"x{j}"], run[f"y{i}"] - run[f"y{j}"])
        assert float(apart.min()) > 2 * R - 1e-9
    assert min(float(run[f"y{i}"].min()) for i in range(10)) > R - 1e-9
    assert float(np.diff(run.energy).max()) < 1e-9
    at_rest = np.array([run.modes[f"floor {i}"][-1] != "open" for i in range(10)])
    assert at_rest.sum() > 3
    N = [run[str(c.N.name)][-1] for c in s.contacts if c.name.startswith("floor")]
    assert all(n > 0.0 for n, closed in zip(N, at_rest, strict=True) if closed)


def box(mu):
    """A box with friction at its eight corners over a floor: 24 rows."""
    s = da.System("Box", gravity=9.81, up="z")
    mu = s.constant("mu", mu)
    at = s.free("x y z a b c")
    body = s.box("box", at, at.frame, 2.0, 1.0, 0.6, 0.4)
    for k, (i, j, n) in enumerate(itertools.product((1, -1), repeat=3)):
        B = at.frame
        P = at.offset(0.5 * i * B.x + 0.3 * j * B.y + 0.2 * n * B.z, f"P{k}")
        s.contact(P, s.N.z, on=body, friction=mu, along=(s.N.x, s.N.y), name=f"c{k}")
    return s


def test_a_box_slides_on_four_of_its_eight_corners_with_every_integrator():
    s, v, mu = box(0.4), 3.0, 0.4
    expected = v**2 / (2 * mu * 9.81)
    for integrator in ("native", "auto"):
        run = da.simulate(s, 1.0, start={"z": 0.2, "x.dot": v}, integrator=integrator)
        assert expected == pytest.approx(float(run["x"][-1]), rel=1e-9), integrator


@pytest.mark.slow
def test_forces_of_24_rows_are_expressions_where_an_option_needs_them():
    s, v, mu = box(0.4), 3.0, 0.4
    options = {"start": {"z": 0.2, "x.dot": v}}
    expected = v**2 / (2 * mu * 9.81)
    run = da.simulate(s, 1.0, **options, integrator="rosenbrock")
    assert expected == pytest.approx(float(run["x"][-1]), rel=1e-8)
    run = da.simulate(s, 1.0, **options, events=[da.event("x - 0.5", name="half")])
    (half,) = [e.t for e in run.events if e.name == "half"]
    a = mu * 9.81
    assert (v - np.sqrt(v * v - a)) / a == pytest.approx(half, abs=1e-9)
    run = da.simulate(s, 0.5, **options, sensitivities=["mu"])
    # x = v t − μ g t²/2
    assert -9.81 * 0.125 == pytest.approx(float(run.sensitivity("x", "mu")[-1]), rel=1e-7)


def test_what_needs_forces_as_expressions_is_refused_by_name():
    s, start = pile(8)
    for options, words in (
        ({"sensitivities": ["x0"]}, "sensitivities"),
        ({"integrator": "rosenbrock"}, "rosenbrock"),
        ({"events": [da.event("x0 - 0.1")]}, "events"),
    ):
        with pytest.raises(da.errors.NotApplicable, match=f"{words}.*72 rows that interact"):
            da.simulate(s, 0.1, start=start, **options)


def test_a_gap_that_dips_below_zero_right_after_a_step_begins_is_found():
    """y = h + v t + a t²/2 would be −3.5e-9 before it is positive again; steps are far longer."""
    s = da.System("Lifted", gravity=0)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("P", 1, P)
    s.force(20 * s.N.y, P)
    s.contact(P, name="ground")
    h, v = 1.5e-10, -3.8e-4
    run = da.simulate(s, 1.0, start={"x": 1, "x.dot": 1, "y": h, "y.dot": v})
    (hit,) = [e for e in run.events if e.action == "impact"]
    assert hit.t == pytest.approx((-v - np.sqrt(v * v - 40 * h)) / 20, rel=1e-6)
    assert float(run["y"].min()) > -1e-12
    assert float(run["y"][-1]) == pytest.approx(10 * (1 - hit.t) ** 2, rel=1e-12)
