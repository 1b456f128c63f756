"""The largest integrable part of all rows together, and the positions in disguise that it stands
for.
"""

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.analysis.constraint_analysis.declared_rows import collect_rows
from dalembert.analysis.constraint_analysis.integrability import involutive_closure
from dalembert.symbolic.algebra.dual_numbers import jacobian
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.normal_form.antiderivative import antiderivative


def masses(names):
    s = da.System("Masses")
    q = s.coordinates(names)
    for k, x in enumerate(q):
        s.particle(f"mass {k}", 1, s.O.offset(x * s.N.x, f"P{k}"))
    return s, *q


def constant(found, k=0):
    return found.hidden[k].phi


def equal(s, phi, text):
    """Whether φ is what the text says, up to a number."""
    t = phi.tape
    return provably_zero(t, [(phi - s.expression(text)).i])[0]


def test_rolling_disk_one_of_three_the_height_of_the_contact():
    s = gallery.build("rolling-disk-centre")
    found = da.constraints(s)
    assert (1, 6, 3) == (found.integrable, found.configuration_freedoms, found.velocity_freedoms)
    assert equal(s, constant(found), "z - r*sin(theta)")
    assert ("rolling of disk along z",) == found.hidden[0].rows
    assert (3, 4, 5) == found.growth_vector


def test_rolling_disk_on_its_contact_point_none_of_two():
    found = da.constraints(gallery.build("rolling-disk"))
    assert (0, ()) == (found.integrable, found.hidden)
    assert "0 of 2 velocity constraints; every position can be reached" in str(found)


def test_two_wheeled_robot_one_of_three_although_no_row_alone_is_integrable():
    s = gallery.build("two-wheeled-robot")
    found = da.constraints(s)
    assert 1 == found.integrable
    assert equal(s, constant(found), "phi - R*(theta_r - theta_l)/(2*L)")
    assert ("rolling of the right wheel", "rolling of the left wheel") == found.hidden[0].rows
    assert "1 of 3 velocity constraints" in str(found)


@pytest.mark.parametrize(
    "name",
    [
        "chaplygin-sleigh",
        "snakeboard",
        "knife-edge-rod",
        "vehicle",
        "moving-knife-edge",
        "ball-on-turntable",
        "suslov",
        "whipple-bicycle",
    ],
)
def test_nonholonomic_systems_of_the_gallery_have_nothing_integrable(name):
    assert 0 == da.constraints(gallery.build(name)).integrable


def test_a_moving_row_is_integrable_with_the_motion_it_is_bound_to():
    s = gallery.build("positioning-device")
    found = da.constraints(s)
    assert 1 == found.integrable
    # Ω = t/2 in the description
    assert equal(s, constant(found), "phi - t**2/4")
    text = str(da.constraints(gallery.build("positioning-device"), inputs={"Omega": "cos(2*t)"}))
    assert "φ − 1/2 sin(2 t) = constant" in text


def test_an_integrating_factor_that_clears_denominators():
    s, x, y, z = masses("x y z")
    s.constrain((x * x.dot + y * y.dot) * da.exp(z), "rod")
    found = da.constraints(s, start={"x": 1})
    assert 1 == found.integrable
    assert equal(s, constant(found), "x**2/2 + y**2/2")


def test_products_of_waves_and_powers_are_integrated():
    s, x, y = masses("x y")
    phi = x**2 * da.sin(3 * y - s.t) * da.cos(y) + y * da.cos(x) ** 2
    s.constrain(phi.dot, "rate of a wave")
    found = da.constraints(s)
    assert 1 == found.integrable
    t = constant(found).tape
    difference = constant(found) - phi
    # two functions with the same slopes differ by a constant
    slopes = [difference.dot]
    assert provably_zero(t, [e.i for e in slopes])[0]


def test_two_functions_that_only_an_ansatz_separates():
    s, x, y, z, w = masses("x y z w")
    r = s.constant("r", 0.5)
    first, second = x + y + z * da.sin(y), x**2 + r * y + 3 * z
    c, d = da.cos(w), da.sin(w)
    s.constrain(c * first.dot - d * second.dot, "one")
    s.constrain(d * first.dot + c * second.dot, "two")
    found = da.constraints(s, start={"x": 0.4, "y": 0.3, "z": 0.2})
    assert 2 == found.integrable
    assert {True} == {
        any(
            provably_zero(p.phi.tape, [(p.phi - k * e).i])[0]
            for e in (first, second)
            for k in (1, -1, r, 1 / r)
        )
        for p in found.hidden
    }
    assert 2 == len(found.hidden)


def test_an_integral_that_is_not_elementary_is_counted_but_not_written():
    s, x, y = masses("x y")
    s.constrain(y.dot - da.exp(x**2) * x.dot, "bell")
    found = da.constraints(s)
    assert (1, ()) == (found.integrable, found.hidden)
    assert "1 of them is not written out here" in str(found)


def test_a_row_that_is_integrable_only_where_another_holds():
    s, x, z, w, v = masses("x z w v")
    s.constrain(z.dot + x * w * v.dot, "slope")
    assert 0 == da.constraints(s).integrable
    s.constrain(x, "on the plane")
    # off x = 0 the two together are not integrable; on it z is constant
    assert involutive_closure(collect_rows(s)).n_integrals == 1
    assert 1 == da.constraints(s).integrable


def test_redundant_rows_take_no_part_in_what_can_be_reached():
    s, x, y, phi, a, b = masses("x y phi a b")
    s.constrain(-x.dot * da.sin(phi) + y.dot * da.cos(phi), "knife edge")
    s.constrain(a - b, "equal")
    # repeats it only where it holds
    s.constrain((a - b) * (1 + b**2), "equal again")
    found = da.constraints(s)
    assert ["equal again"] == [row.row for row in found.redundant]
    assert (0, 4, 3) == (found.integrable, found.configuration_freedoms, found.velocity_freedoms)


def test_engel_system_needs_brackets_of_brackets():
    s, w, x, y, z = masses("w x y z")
    # dz − y dx = 0, dy − w dx = 0: growth 2, 3, 4
    s.constrain(z.dot - y * x.dot, "first")
    s.constrain(y.dot - w * x.dot, "second")
    found = da.constraints(s)
    assert ((2, 3, 4), 0) == (found.growth_vector, found.integrable)


def test_two_rows_of_which_a_combination_is_integrable_with_factors_that_move():
    s, x, y, z = masses("x y z")
    # neither row is integrable; cos y · first + sin y · second = d(x z)
    first, second = da.cos(s["y"]), da.sin(s["y"])
    a = (x * z).dot
    b = x.dot + z * y.dot
    s.constrain(first * a - second * b, "first")
    s.constrain(second * a + first * b, "second")
    found = da.constraints(s, start={"x": 1, "z": 2})
    assert 2 == found.integrable
    assert ("first", "second") == found.hidden[0].rows


@pytest.mark.parametrize(
    "name",
    [
        "rolling-disk-centre",
        "two-wheeled-robot",
        "snakeboard",
        "chaplygin-sleigh",
        "whipple-bicycle",
    ],
)
def test_first_step_of_the_derived_flag_by_differential_forms(name):
    """I′ = {Σ c_i θ_i : Σ c_i dθ_i = 0 on the allowed velocities}: no bracket, no elimination,
    floats at a random position.
    """
    rows = collect_rows(gallery.build(name))
    random = np.random.default_rng(3)
    n, nodes = rows.n, [r.A.get(k, rows.tape.zero) for r in rows.linear for k in range(rows.n)]
    state = {i: random.uniform(0.3, 0.8) for i in (*rows.q, *symbols_of(rows.tape, nodes))}
    A, dA = jacobian(rows.tape, nodes, rows.q, state)
    A, dA = A.reshape(-1, n), dA.reshape(-1, n, n)
    D = np.linalg.svd(A)[2][len(A) :]
    # dθ(v, w) = Σ v_j w_k (∂_j A_k − ∂_k A_j)
    on_D = np.einsum("vj,ikj,wk->ivw", D, dA - dA.transpose(0, 2, 1), D).reshape(len(A), -1)
    derived = len(A) - np.linalg.matrix_rank(on_D, tol=1e-9)
    assert n - involutive_closure(rows).growth[1] == derived


@pytest.mark.parametrize(
    "text", ["x**3", "sin(2*x + y)", "x*cos(x)", "x**2*sin(y - x)*cos(3*x)", "sin(x)**3*cos(x)**2",
    "y/(1 + y**2)*cos(x)", "a*x*cos(b*x)/c"]
)  # fmt: skip
def test_antiderivatives_are_checked_by_differentiation(text):
    s, *_ = masses("x y")
    s.constants("a b c")
    e = s.expression(text)
    slope = antiderivative(e, s["x"])
    from dalembert.symbolic.algebra.expression_graph import gradient

    (d,) = gradient(e.tape, {slope.i: e.tape.one}, [s["x"].i])
    assert provably_zero(e.tape, [e.tape.sub(d, e.i)])[0]


@pytest.mark.parametrize("text", ["1/(x + 1)", "exp(x)", "sin(x**2)", "sqrt(x)", "1/cos(x)"])
def test_what_is_not_tried_is_none(text):
    s, *_ = masses("x y")
    e = s.expression(text)
    assert antiderivative(e, s["x"]) is None
