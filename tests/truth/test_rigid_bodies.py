import math

import numpy as np

import dalembert as da
from dalembert.gallery import free_body_quaternion, lagrange_top
from truth.published import Published, difference, differences

TIGHT = {"rtol": 1e-13, "atol": 1e-13}
NO_TORQUE = {"M_1": 0, "M_2": 0, "M_3": 0}
RATES = ("omega_1", "omega_2", "omega_3")
QUATERNION = ("e_0", "e_1", "e_2", "e_3")


def tumbling(inertias, rates, known):
    """A free body from zero rotation; ω along the body's axes and the quaternion, scalar first,
    over the times.
    """
    s = free_body_quaternion.build(**dict(zip(("I_1", "I_2", "I_3"), inertias, strict=True)))
    run = da.simulate(
        s,
        known.t[-1],
        start=dict(zip(RATES, rates, strict=True)),
        inputs=NO_TORQUE,
        at=known.t,
        **TIGHT,
    )
    return run, *(np.column_stack([run[name] for name in names]) for names in (RATES, QUATERNION))


def test_euler_top():
    known = Published("euler_top")
    _, w, e = tumbling((1, 2, 3), (1, 0, 1), known)
    assert difference(w, known["w"]) <= 1e-12
    # the file's name says N to B; its numbers turn body components into inertial ones, as ours do
    assert difference(e, known["quat_N_to_B_scalar_first"]) <= 1e-12


def test_free_symmetric_body():
    known = Published("free_symmetric_body")
    run, w, e = tumbling((0.04, 0.04, 0.02), (2, 4, 6), known)
    assert difference(w, known["w"]) <= 1e-12
    # e and −e are the same attitude
    expected = known["quat"]
    assert difference(e * np.sign(np.sum(e * expected, axis=1))[:, None], expected) <= 1e-12
    # the mass centre falls freely
    assert difference(run["z"], -9.81 / 2 * known.t**2) <= 1e-12


def test_lagrange_top():
    known = Published("lagrange_top")
    run = da.simulate(
        lagrange_top.build(), 2, start={"theta": math.pi / 6, "psi.dot": 150}, at=known.t, **TIGHT
    )
    names = {"theta": "theta", "phi": "phi", "psi": "psi", "theta.dot": "thetadot"}
    assert max(differences(run, known, names).values()) <= 1e-11


def suslov():
    """ω·b₃ = 0 of a body that turns about its mass centre; products of inertia are entries of
    the tensor.
    """
    s = da.System("Suslov's problem")
    B = s.N.quaternion(*s.coordinates("e_0 e_1 e_2 e_3"), name="B")
    s.body("body", 1, s.O, B, da.inertia(B, 2, 3, 4, xz=0.8))
    s.constrain(B.w @ B.z, "no turning about b₃")
    s.speeds(w1=B.w @ B.x, w2=B.w @ B.y)
    return s


def test_suslov():
    known = Published("suslov")
    run = da.simulate(suslov(), 10, start={"w1": 1.2, "w2": -0.9}, at=known.t, **TIGHT)
    assert max(differences(run, known, {"w1": "w1", "w2": "w2"}).values()) <= 1e-13
