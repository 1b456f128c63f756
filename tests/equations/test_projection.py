"""The way back onto the rows."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.mechanics.equations.saddle_point import constraint_projection
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate, symbols_of


def test_a_quaternion_is_normalised_and_no_mass_is_asked():
    s = da.System("Body and pendulum", gravity=9.81)
    P = s.free("x y z e_0 e_1 e_2 e_3")
    m = s.constant("m", 2)
    s.body("body", m, P, P.frame, da.inertia(P.frame, 1, 2, 2.5))
    s.rod("rod", s.pin("theta", P.offset(P.frame.x)), mass=1, length=1)
    kin = kinematics(s)
    back = constraint_projection(kin)
    e = {kin.name(q): i for q, i in zip(kin.q, range(8), strict=True)}
    assert {"e_0", "e_1", "e_2", "e_3"} == {kin.name(i) for i in symbols_of(back.tape, back.step)}
    q = np.array([1.0, 2.0, 3.0, 0.5, 0.6, -0.7, 0.8, 0.3])
    at = dict(zip(kin.q, q, strict=True))
    step = np.array(evaluate(back.tape, back.step, at.__getitem__, FloatArithmetic()))
    moved = q + step
    turned = [e[f"e_{k}"] for k in range(4)]
    assert 1 == pytest.approx(np.linalg.norm(moved[turned]), abs=1e-15)
    assert moved[turned] == pytest.approx(q[turned] / np.linalg.norm(q[turned]))
    assert [0.0] * 4 == [step[k] for k in range(8) if k not in turned]
