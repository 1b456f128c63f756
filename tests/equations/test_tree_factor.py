"""ż, λ and the projection along the spanning tree against dense factors of M and A."""

import pickle

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import NotApplicable
from dalembert.mechanics.equations import sparse_saddle_point
from dalembert.mechanics.equations.tree_factor import TreeFactor, tree_solution
from dalembert.mechanics.kinematics.system_kinematics import kinematics, unreduced_kinematics
from dalembert.runtime.dynamics.compile import saddle_equations, select_equations
from dalembert.runtime.ode.constrained import constrained_rates
from dalembert.runtime.ode.constrained.constrained_rates import Workspace
from dalembert.runtime.simulation import model
from dalembert.runtime.states.run_values import parameter_vector, run_values
from dalembert.symbolic.algebra.expression_graph import dependencies


def ring(n, *, relative=False, spatial=False):
    """Rods in a closed loop, with absolute angles or each against the one before."""
    s = da.System("Ring", gravity=9.81)
    tip, F = s.O, s.N
    for k in range(n):
        base = F if relative else s.N
        F = base.rotated(s.coordinate(f"q_{k}"), base.z, f"turn {k}")
        if spatial:
            F = F.rotated(s.coordinate(f"p_{k}"), F.y, f"tilt {k}")
        s.body(f"rod {k}", 1, tip.offset(F.x / 2, frame=F), F, da.rod_inertia(F.x, 1, 1))
        tip = tip.offset(F.x, f"tip {k}", F)
    s.coincide(tip, s.O, "closure")
    return s


def held_slider():
    """A body with a quaternion, a slider on it and a pendulum on the slider, whose bob is held."""
    s = da.System("Held slider", gravity=9.81)
    x, y, z, r, a = s.coordinates("x y z r a")
    B = s.N.quaternion(*s.coordinates("e_0 e_1 e_2 e_3"), name="B")
    G = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, "G")
    s.body("base", 2, G, B, da.inertia(B, 1, 2, 3))
    slider = G.offset(r * B.x, "slider")
    s.particle("slider", 1, slider)
    arm = B.rotated(a, B.z, "arm")
    bob = slider.offset(arm.x, "bob")
    s.particle("bob", 1, bob)
    s.coincide(bob, s.O.offset(2 * s.N.x), "held")
    return s


def rates_of(s, monkeypatch):
    monkeypatch.setattr(sparse_saddle_point, "factor_saddle_point", lambda *_: None)
    kin, equations = saddle_equations(unreduced_kinematics(kinematics(s)))
    chosen = run_values(kin, {}, {})
    found = model.native_model(chosen, equations)
    return found.rates, np.array(parameter_vector(chosen, found.parameters), dtype=float)


CASES = {
    "absolute": lambda: ring(9),
    "relative": lambda: ring(9, relative=True),
    "absolute in space": lambda: ring(5, spatial=True),
    "quaternion and slider": held_slider,
}


@pytest.mark.parametrize("case", CASES)
def test_accelerations_multipliers_and_projection_are_those_of_dense_factors(case, monkeypatch):
    s = CASES[case]()
    rates, p = rates_of(s, monkeypatch)
    assert rates.sparse_rates is not None
    rng = np.random.default_rng(3)
    for _ in range(3):
        x = rng.normal(size=rates.n_in)
        along, dense = (Workspace(rates, p, projecting=True) for _ in range(2))
        dense._fields.straight_count = dense._fields.back_count = 0
        found = []
        for space in (along, dense):
            space.select_rows(x)
            found.append((space.evaluate(x), space.multipliers.copy()))
        assert 0 == along.sparse_fallbacks
        for a, b in zip(*found, strict=True):
            assert np.abs(a - b).max() <= 1e-11 * np.abs(b).max()
    on_rows = next(
        y
        for _ in range(50)
        if (y := dense.project_state(0.0, rng.normal(size=len(x) - 1))) is not None
    )
    beside = on_rows + 1e-6 * rng.normal(size=len(on_rows))
    projected = [space.project_state(0.1, beside) for space in (along, dense)]
    assert np.abs(projected[0] - projected[1]).max() <= 1e-12
    assert np.abs(projected[0] - beside).max() >= 1e-8


def operations(n):
    kin, equations = select_equations(ring(n), "native")
    tape, groups = tree_solution(kin, equations)
    return len(dependencies(tape, [i for nodes in groups for i in nodes]))


def test_operations_grow_with_the_number_of_links():
    first, second, third = map(operations, (12, 24, 36))
    assert third - second <= 1.1 * (second - first)
    assert third <= 450 * 36


def test_a_coordinate_that_moves_several_links_has_no_factor():
    s = da.System("Coupled", gravity=9.81)
    a, b = s.coordinates("a b")
    F, G = s.N.rotated(a, s.N.z, "F"), s.N.rotated(a + b, s.N.z, "G")
    tip = s.O.offset(F.x, "tip")
    s.particle("first", 1, tip)
    s.particle("second", 1, tip.offset(G.x, "end"))
    with pytest.raises(NotApplicable, match="several links"):
        TreeFactor(kinematics(s).fork())


def test_entries_of_many_rates_are_compiled_where_the_orthogonal_solver_needs_them(monkeypatch):
    monkeypatch.setattr(constrained_rates, "_MAX_EAGER_RATES", 5)
    rates, p = rates_of(ring(9), monkeypatch)
    X = np.random.default_rng(4).normal(size=(3, rates.n_in))
    along = rates.with_multipliers(X, p)
    A = rates.constraint_matrix(X[0], p)
    assert "all" not in rates._entries.__dict__
    dense = rates._orthogonal_batch(X, p)
    assert "all" in rates._entries.__dict__
    assert np.abs(along - dense).max() <= 1e-11 * np.abs(dense).max()
    assert A.tolist() == rates.rows(X[:1], p, mass=True)["A"][0].tolist()
    again = pickle.loads(pickle.dumps(rates))
    assert along.tolist() == again.with_multipliers(X, p).tolist()


def test_states_in_which_the_rows_nearly_depend_on_each_other_are_solved_with_orthogonal_factors(
    monkeypatch,
):
    monkeypatch.setattr(constrained_rates, "_MAX_EAGER_RATES", 5)
    rates, p = rates_of(ring(9), monkeypatch)
    stretched = np.zeros((1, rates.n_in))
    stretched[0, :9] = 0.3 + 1e-3 * np.arange(9)
    assert rates._sparse_batch(stretched, p)[1].tolist() == [True]
    found, dense = (f(stretched, p) for f in (rates.with_multipliers, rates._orthogonal_batch))
    assert found.tolist() == dense.tolist()
