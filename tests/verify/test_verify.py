"""The verdict on whole answers, each kind of it, on systems whose equations a book prints."""

import math

import pytest
import sympy

import dalembert as da
from dalembert import gallery
from dalembert.analysis.verify.truth import truth_of
from dalembert.analysis.verify.verdict import Kind
from dalembert.analysis.verify.verify import verify
from dalembert.symbolic.algebra.exact.verdict import TimeLimit

FIRST = "(M+m)x'' + m a theta'' cos(theta) - m a theta'^2 sin(theta) + k x = F"
SECOND = "4/3 m a^2 theta'' + m a x'' cos(theta) + m a g sin(theta) = 2 a F cos(theta)"
CART = gallery.build("cart-and-bar")
VEHICLE = gallery.build("vehicle")
PENDULUM = gallery.build("simple-pendulum")


def sides(row):
    left, _, right = row.partition("=")
    return f"({left}) - ({right})"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (f"{FIRST}\n{SECOND}", Kind.EQUAL),
        (f"{SECOND}; {FIRST}", Kind.EQUAL),
        (f"m*({sides(FIRST)}) = 0\n{SECOND}", Kind.EQUAL),
        (f"{sides(FIRST)} + 2*({sides(SECOND)}) = 0\n{FIRST}", Kind.COMBINED),
        (FIRST, Kind.SUBSET),
        (f"{FIRST}\n{FIRST}", Kind.SUBSET),
        (f"cos(theta)*({sides(FIRST)}) = 0\n{SECOND}", Kind.CONDITIONAL),
        (f"{FIRST}\n{SECOND.replace('4/3', '1.333')}", Kind.ROUNDED),
        (f"{FIRST}\n{SECOND.replace('4/3', '1/3')}", Kind.DIFFERS),
        ("m g = 0", Kind.DIFFERS),
    ],
)
def test_kinds_of_verdicts(answer, kind):
    assert kind is verify(CART, answer).kind


def test_equal_means_proved_with_a_bound():
    result = verify(CART, f"{FIRST}\n{SECOND}")
    assert result
    assert 0 < result.bound < 1e-30


def test_the_missing_equation_is_named():
    result = verify(CART, FIRST)
    assert (1, 2) == (result.rank, result.wanted)
    assert ("the equation along θ̇",) == result.missing


def test_where_a_factor_vanishes_is_printed():
    result = verify(CART, f"cos(theta)*({sides(FIRST)}) = 0\n{SECOND}")
    assert "cos θ" == result.condition


def test_the_combination_of_rows_is_printed():
    result = verify(CART, f"{sides(FIRST)} + 2*m*({sides(SECOND)}) = 0\n{FIRST}")
    assert "row 1 = [equation along ẋ] + (2 m)·[equation along θ̇]" == result.combination[0]


def test_an_energy_integral_is_true_where_the_body_moves():
    result = verify(PENDULUM, "1/2 m l^2 phi'^2 - m g l cos(phi) = const")
    assert (Kind.CONDITIONAL, "φ̇") == (result.kind, result.condition)


def test_the_solved_form_is_equal():
    assert verify(PENDULUM, "phi'' = -g/l sin(phi)").kind is Kind.EQUAL


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("theta", "-theta", "θ → −θ"),
        ("F", "-F", "F → −F"),
        ("theta", "pi/2 - theta", "θ → π/2 − θ"),
    ],
)
def test_other_coordinates_and_signs_are_recognised(old, new, text):
    s = CART
    rate = {"theta": "-theta'", "F": ""}[old]
    rows = []
    for row in (FIRST, SECOND):
        written = (
            row.replace(f"{old}''", "(ACC)").replace(f"{old}'", "(RATE)").replace(old, f"({new})")
        )
        rows.append(written.replace("RATE", rate).replace("ACC", f"{rate}'"))
    result = verify(s, "\n".join(rows))
    assert Kind.SUBSTITUTED is result.kind
    assert text == result.substitution


def test_relative_for_absolute_angles():
    relative, absolute = gallery.build("pendulum-relative"), gallery.build("pendulum-absolute")
    equations = da.kane(absolute).equations
    rows = "\n".join(f"{equations.scalar(r)} = 0" for r in equations.residuals)
    names = [f"theta_{k}" for k in (1, 2, 3)]
    let = dict(zip(names, (q.name for q in relative.q), strict=True))
    result = verify(relative, rows, let=let)
    assert Kind.SUBSTITUTED is result.kind
    assert "absolute" in result.substitution


LAGRANGE = (
    "m X'' = (F_C+F_D) cos(theta) - {0} sin(theta); m Y'' = (F_C+F_D) sin(theta) + {0} cos(theta);"
    " I_G theta'' = (F_D-F_C) h - L {0}"
)


def test_rows_with_multipliers_in_both_signs():
    assert verify(VEHICLE, LAGRANGE.format("lambda")).kind is Kind.EQUAL
    turned = verify(VEHICLE, LAGRANGE.format("(-lambda)"))
    assert (Kind.SUBSTITUTED, "λ₁ → −λ₁") == (turned.kind, turned.substitution)


def test_rows_in_dependent_accelerations_hold_on_the_motions_that_constraints_allow():
    rows = "m X'' cos(theta) + m Y'' sin(theta) = F_C + F_D\n"
    rows += "-m L X'' sin(theta) + m L Y'' cos(theta) + I_G theta'' = h (F_D - F_C)"
    assert Kind.ADMISSIBLE is verify(VEHICLE, rows).kind


def test_constraint_equations():
    assert verify(VEHICLE, "-X' sin(theta) + Y' cos(theta) - L theta' = 0").kind is Kind.EQUAL
    wrong = verify(VEHICLE, "-X' sin(theta) + Y' cos(theta) + L theta' = 0")
    assert "L θ̇ should be −L θ̇" == wrong.rows[0].corrections[0][0].sentence


def test_a_position_that_satisfies_the_constraint_may_be_used():
    s = da.System("Pendulum in x and y")
    x, y = s.coordinates("x y")
    m, l, g = s.constants("m l g")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("bob", m, P)
    s.gravity(-g * s.N.y)
    s.constrain(x**2 + y**2 - l**2, "rod")
    equations = da.kane(s).equations
    (row,) = equations.residuals
    plain = str(equations.scalar(row))
    assert verify(s, f"{plain} = 0").holds
    # on the circle y² = l² − x²
    longer = f"({plain})*(x^2 + y^2) - ({plain})*l^2 + {plain} = 0"
    assert verify(s, longer).holds
    assert verify(s, "x^2 + y^2 = l^2").kind is Kind.EQUAL
    assert not verify(s, "x^2 + y^2 = 2 l^2")


def test_a_constraint_put_into_T_too_early_is_explained():
    result = verify(VEHICLE, "m u1' = F_C + F_D; (I_G + m L^2) u2' = h (F_D - F_C)")
    assert any("put into T before" in note for note in result.notes)


def test_sympy_expressions_and_equations():
    x, th, M, m, a, k, F = sympy.symbols("x theta M m a k F")
    xdd, thdd, thd = sympy.symbols("x'' theta'' theta'")
    left = (M + m) * xdd + m * a * thdd * sympy.cos(th) - m * a * thd**2 * sympy.sin(th)
    assert Kind.SUBSET is verify(CART, [sympy.Eq(left, F - k * x)]).kind
    wrong = verify(CART, sympy.Eq(left, F + k * x))
    assert "k x should be −k x" == wrong.rows[0].corrections[0][0].sentence


def test_a_derivation_of_the_library_is_an_answer():
    assert verify(CART, da.lagrange(CART)).holds


def test_functions_of_numbers():
    right = verify(PENDULUM, lambda q, _u, p: [-p["g"] / p["l"] * math.sin(q[0])])
    assert Kind.AGREES is right.kind
    assert "evidence, not a proof" in right.sentence
    wrong = verify(PENDULUM, lambda q, _u, p: [p["g"] / p["l"] * math.sin(q[0])])
    assert "-1 times" in wrong.rows[0].note


def test_tables_of_numbers():
    phi = [0.1, 0.5, 1.0]
    g, l = (float(PENDULUM.symbols[name].value) for name in ("g", "l"))
    table = {"phi": phi, "phi'": [0.0, 1.0, 2.0], "phi''": [-g / l * math.sin(x) for x in phi]}
    assert verify(PENDULUM, table).holds
    assert not verify(PENDULUM, table | {"phi''": [1.0, 2.0, 3.0]})


def test_a_matrix_of_a_linear_model():
    model = da.linearize(PENDULUM, {})
    assert verify(PENDULUM, model.A, of="A").holds
    assert not verify(PENDULUM, -model.A, of="A")


def test_marks_for_rows_and_terms():
    result = verify(CART, f"{FIRST}\n{SECOND.replace('2 a F', 'a F')}", marks=10)
    assert (8.8, 10) == (result.points, result.most)
    assert 10 == verify(CART, f"{FIRST}\n{SECOND}", marks=10).points
    assert 5 == verify(CART, FIRST, marks=10).points


@pytest.mark.parametrize(
    "answer", ["", "  \n ", "hello world", "0 = 0", "m", b"\xff\xfe=", "x'' = q7", 3.5, "=", "x =="]
)
def test_bad_answers_are_refused_with_a_sentence(answer):
    with pytest.raises(da.DalembertError):
        verify(CART, answer)


def test_an_answer_of_ten_megabytes_is_refused_at_once():
    with pytest.raises(da.DalembertError, match="at most"):
        verify(CART, "x'' = F\n" * 1_300_000)


def test_an_exhausted_clock_is_undecided(monkeypatch):
    from dalembert.analysis.verify import truth

    monkeypatch.setattr(truth, "TimeLimit", lambda: TimeLimit(-1.0))
    result = verify(CART, f"{FIRST}\n{SECOND}")
    assert (Kind.UNDECIDED, None) == (result.kind, result.holds)
    with pytest.raises(da.Undecided):
        bool(result)


def test_the_same_truth_serves_many_answers():
    assert truth_of(CART) is truth_of(CART)
