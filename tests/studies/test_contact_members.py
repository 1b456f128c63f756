"""Ensembles with contacts: native code alone, bit-identical to single runs."""

import numpy as np
import pytest

import dalembert as da

G = 9.81


def sliding_block():
    s = da.System("block", gravity=G)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("block", 1, P)
    s.contact(P, friction=0.3, restitution=0.4, name="floor")
    # some begin inside the ground
    return s, {"x.dot": 3.0}, "y", np.linspace(-0.05, 0.5, 12), 1.5


def block_on_belt():
    s = da.System("belt")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x)
    s.particle("block", 1, P)
    s.force(-4 * x * s.N.x, at=P)
    s.friction(x.dot - 0.3, 0.2, normal=9.81, static=0.35, name="belt")
    return s, {}, "x", np.linspace(-0.5, 1.0, 9), 8.0


def box_on_two_corners():
    """Dependent contacts need the general laws: members are run again by Python."""
    s = da.System("box", gravity=G)
    x, y, a = s.coordinates("x y a")
    B = s.N.rotated(a, s.N.z, "B")
    C = s.O.offset(x * s.N.x + y * s.N.y)
    body = s.body("box", 2, C, B, da.inertia(B, *[2 * 1.25 / 12] * 3))
    for name, side in (("left", -1), ("right", 1)):
        corner = C.offset(side * B.x / 2 - B.y / 4, name, B)
        s.contact(corner, friction=0.4, on=body, name=name)
    return s, {"y": 0.5, "x.dot": 1.0}, "a", np.array([0.1, 0.2]), 0.6


@pytest.mark.parametrize("build", [sliding_block, block_on_belt, box_on_two_corners])
def test_members_with_contacts_have_the_bits_of_single_runs(build):
    s, start, name, values, duration = build()
    study = da.ensemble(s, duration, over={name: values}, start=start, threads=2)
    assert study.data.attrs["members run"] == "native code in threads (contacts)"
    kept = [k for k in ("x", "y", "x.dot", "y.dot") if k in study.data]
    for k, value in enumerate(values):
        given = {**start, name: float(value)}
        if name == "y" and value < 0:
            assert int(study.data["outcome"][k]) == 2
            with pytest.raises(da.DalembertError, match="inside 'floor'"):
                da.simulate(s, duration, start=given)
            continue
        run = da.simulate(s, duration, start=given)
        assert [float(run[x][-1]) for x in kept] == [float(study[x][k]) for x in kept]
        assert run.solution.steps == int(study.data["steps"][k])
        assert run.integrals.relative_drift == float(study.data["drift"][k])


def test_threads_and_chunks_change_no_bit():
    s, start, name, _, duration = block_on_belt()
    values = np.linspace(-1.0, 1.0, 300)
    one = da.ensemble(s, duration, over={name: values}, start=start, threads=1)
    two = da.ensemble(s, duration, over={name: values}, start=start, threads=3, chunk=170)
    for kept in ("x", "x.dot", "drift", "steps"):
        np.testing.assert_array_equal(one.data[kept], two.data[kept])


@pytest.mark.parametrize("keep", [["T_floor"], ["max(y)"]])
def test_forces_and_extremes_are_kept_by_single_runs(keep):
    s, start, _, _, duration = sliding_block()
    study = da.ensemble(s, duration, over={"y": [0.1, 0.2]}, start=start, keep=keep)
    run = da.simulate(s, duration, start={**start, "y": 0.2})
    expected = run["T_floor"][-1] if keep == ["T_floor"] else run["y"].max()
    assert float(study[keep[0]][1]) == pytest.approx(float(expected), rel=1e-9)


def test_constants_of_contacts_vary_with_the_bits_of_single_runs():
    s = da.System("block", gravity=G)
    x, y = s.coordinates("x y")
    m, mu, e = s.constants("m mu e")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("block", m, P)
    s.force(0.5 * s.N.x, P)
    s.contact(P, friction=mu, restitution=e, name="floor")
    # impossible ones among them
    over = {"mu": [-0.1, 0.1, 0.4], "e": [0.0, 0.6, 1.2], "m": [-1.0, 2.0]}
    given = {"start": {"y": 0.2, "x.dot": 2.0}}
    study = da.ensemble(s, 0.8, over=over, threads=2, chunk=7, **given)
    assert study.data.attrs["members run"] == "native code in threads (contacts)"
    for index in np.ndindex(3, 3, 2):
        values = {name: over[name][k] for name, k in zip(over, index, strict=True)}
        outcome = int(study.data["outcome"][index])
        if values["mu"] < 0 or values["e"] > 1 or values["m"] < 0:
            assert outcome == 2
            continue
        run = da.simulate(s, 0.8, values=values, **given)
        assert outcome == 0
        for kept in ("x", "x.dot", "y.dot"):
            assert float(run[kept][-1]) == float(study.data[kept][index])
        assert run.integrals.relative_drift == float(study.data["drift"][index])
