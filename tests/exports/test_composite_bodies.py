"""M and f from link to link are those of M u̇ = f."""

import numpy as np

import dalembert as da
from agreement.test_compiled_route import hand
from dalembert.exchange.exports.composite_rigid_body import tree_equations
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate


def test_flywheels_and_coordinates_that_move_several_links_are_in_the_mass_matrix():
    s = hand()
    kin = da.kinematics(s).fork()
    M, f = tree_equations(kin)
    names = [x.name for x in s.q]
    q, u = [0.3, -0.4, 0.5, 0.7], [1.0, -2.0, 0.5, 0.3]
    state = da.state_values(
        s, dict(zip(names, q, strict=True)) | {f"{n}.dot": x for n, x in zip(names, u, strict=True)}
    )
    known = dict(zip((*kin.q, *kin.u), (*q, *u), strict=True)) | {s.symbols["g"].scalar.i: 9.0}
    found = np.array(evaluate(kin.tape, [*M, *f], known.__getitem__, FloatArithmetic()))
    assert np.allclose(state.M.ravel(), found[:16], rtol=1e-12)
    assert np.allclose(state.f, found[16:], rtol=1e-12)
