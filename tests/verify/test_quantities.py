"""Single quantities: energies, momenta, velocities, matrices, derivatives, sums in δ's, counts."""

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.analysis.verify.tokens import CannotRead
from dalembert.analysis.verify.verdict import Kind
from dalembert.analysis.verify.verify import verify

CART = gallery.build("cart-and-bar")
VEHICLE = gallery.build("vehicle")

GIBBS_FUNCTION = (
    "S = 1/2 (M + m) x''^2 + m a x'' theta'' cos(theta) + 2/3 m a^2 theta''^2"
    " - m a x'' theta'^2 sin(theta)"
)
VIRTUAL_WORK = (
    "((M+m)x'' + m a theta'' cos(theta) - m a theta'^2 sin(theta) + k x - F) δx"
    " + (4/3 m a^2 theta'' + m a x'' cos(theta) + m a g sin(theta) - 2 a F cos(theta)) δθ = 0"
)


@pytest.mark.parametrize(
    "answer",
    [
        "T = 1/2 (M + m) x'^2 + m a x' theta' cos(theta) + 2/3 m a^2 theta'^2",
        "V = 1/2 k x^2 - m g a cos(theta)",
        "V = 1/2 k x^2 + m g a (1 - cos(theta))",
        "L = T - V",
        "H = T + V",
        "p_theta = m a x' cos(theta) + 4/3 m a^2 theta'",
        "Q_theta = 2 a F cos(theta)",
        "F_2 = 2 a F cos(theta) - m a g sin(theta)",
        "∂L/∂θ̇ = m a x' cos(theta) + 4/3 m a^2 theta'",
        "dL/dx = -k x",
        r"\frac{\partial T}{\partial \theta} = -m a \dot{x}\dot{\theta}\sin\theta",
        "v(bar).x = x' + a theta' cos(theta)",
        "a(bar).x = x'' + a theta'' cos(theta) - a theta'^2 sin(theta)",
        "w(bar).z = theta'",
        "∂v(bar).x/∂θ̇ = a cos(theta)",
        "r(bar).y = -a cos(theta)",
        "M = [[M + m, m a cos(theta)], [m a cos(theta), 4/3 m a^2]]",
        GIBBS_FUNCTION,
        VIRTUAL_WORK,
        "degrees of freedom = 2",
    ],
)
def test_right_quantities(answer):
    assert Kind.EQUAL is verify(CART, answer).kind


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            "T = 1/2 M x'^2 + m a x' theta' cos(theta) + 2/3 m a^2 theta'^2",
            "1/2 m ẋ² is missing on the right side",
        ),
        ("p_theta = m a x' cos(theta) + 1/3 m a^2 theta'", "1/3 m a² θ̇ should be 4/3 m a² θ̇"),
        ("Q_theta = a F cos(theta)", "a F cos θ should be 2 a F cos θ"),
        ("v(bar).y = a theta' cos(theta)", "a θ̇ cos θ should be a θ̇ sin θ"),
        ("V = 1/2 k x^2 + m g a cos(theta)", "m a g cos θ should be −m a g cos θ"),
    ],
)
def test_wrong_quantities_are_corrected(answer, sentence):
    result = verify(CART, answer)
    assert [sentence] == [change.sentence for change in result.rows[0].corrections[0]]


def test_the_quantity_may_be_named_apart():
    right = "1/2 (M + m) x'^2 + m a x' theta' cos(theta) + 2/3 m a^2 theta'^2"
    assert verify(CART, right, of="T").holds
    for name in ("dof", "freedoms", "degrees of freedom"):
        assert verify(CART, 2, of=name).holds
    assert verify(
        CART, [["M + m", "m*a*cos(theta)"], ["m*a*cos(theta)", "4/3*m*a**2"]], of="M"
    ).holds
    assert verify(CART, {"p_x": "(M + m)*x' + m*a*theta'*cos(theta)"}).holds


def test_a_wrong_number_of_freedoms():
    result = verify(VEHICLE, "degrees of freedom: 3")
    assert not result
    assert "2 degrees of freedom, not 3" in result.sentence


def test_a_principle_as_a_formula_is_one_of_the_equations():
    result = verify(CART, "d/dt(dL/dtheta') - dL/dtheta = Q_theta")
    assert (Kind.SUBSET, 1, 2) == (result.kind, result.rank, result.wanted)


def test_a_multiplier_by_itself():
    lam = "lambda = m u1 u2 + m L (h (F_D - F_C) - m L u1 u2)/(I_G + m L^2)"
    assert Kind.EQUAL is verify(VEHICLE, lam).kind
    wrong = verify(VEHICLE, lam.replace("= m u1", "= 2 m u1"))
    assert "2 m u₁ u₂ should be m u₁ u₂" == wrong.rows[0].corrections[0][0].sentence


def test_energies_of_a_system_without_bodies_that_are_asked_for_accelerations():
    s = da.System("Only energies")
    (x,) = s.coordinates("x")
    m, k = s.constants("m k")
    s.kinetic_energy(m * x.dot**2 / 2)
    s.potential(k * x**2 / 2)
    assert verify(s, "m x'' + k x = 0").holds
    assert "k x should" in verify(s, "m x'' - k x = 0").rows[0].corrections[-1][0].sentence


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("v_2(bar).x = a cos(theta)", True),
        ("v_2(bar).x = a sin(theta)", False),
        ("v_1(bar).x = 1", True),
        ("w_2(bar).z = 1", True),
        ("w_1(bar).z = 1", False),
        ("F_theta = 2 a F cos(theta) - m a g sin(theta)", True),
        ("F_theta = a F cos(theta) - m a g sin(theta)", False),
        ("2 degrees of freedom", True),
        ("1 degree of freedom.", False),
    ],
)
def test_partial_velocities_generalized_forces_and_freedoms(answer, holds):
    assert holds is verify(CART, answer).holds


@pytest.mark.parametrize(
    ("answer", "of", "words"),
    [
        ("F_thta = a F", None, "unknown name 'F_thta'"),
        ("v_9(bar).x = 1", None, "unknown name 'v_9'"),
        ("T = 1", "nosuch", "unknown name 'nosuch'"),
    ],
)
def test_quantities_that_do_not_exist_are_refused(answer, of, words):
    with pytest.raises(CannotRead, match=words):
        verify(CART, answer, of=of)
