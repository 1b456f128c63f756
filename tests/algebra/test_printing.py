"""Expressions and equations read as a book prints them, in Unicode and in LaTeX."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given, settings

from algebra.disk import RollingDisk, constants, coordinates, lagrangian_operator
from algebra.expressions import fresh, texts
from dalembert.symbolic.algebra.functions import (
    acos,
    asin,
    atan,
    atan2,
    cos,
    cosh,
    exp,
    log,
    sign,
    sin,
    sinh,
    sqrt,
)
from dalembert.symbolic.algebra.normal_form.expansion import expand, normal_form
from dalembert.symbolic.algebra.normal_form.rational_form import ZERO
from dalembert.symbolic.algebra.parser import parse
from dalembert.symbolic.algebra.printing import (
    EquationSides,
    equation,
    equation_latex,
    equation_text,
    latex,
    text,
)
from dalembert.symbolic.algebra.printing.common_subexpressions import with_intermediates
from dalembert.symbolic.algebra.printing.latex_notation import Latex
from dalembert.symbolic.algebra.printing.symbol_names import latex_name, parts, unicode_name
from dalembert.symbolic.algebra.printing.unicode_notation import Text
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape

# ---- names
# -----------------------------------------------------------------------------------------

NAMES = {
    "x": ("x", "x"),
    "theta": ("θ", r"\theta"),
    "theta'": ("θ̇", r"\dot{\theta}"),
    "theta''": ("θ̈", r"\ddot{\theta}"),
    "theta_1": ("θ₁", r"\theta_{1}"),
    "theta_1'": ("θ̇₁", r"\dot{\theta}_{1}"),
    "theta_1''": ("θ̈₁", r"\ddot{\theta}_{1}"),
    "x''": ("ẍ", r"\ddot{x}"),
    "u1": ("u₁", "u_{1}"),
    "u1'": ("u̇₁", r"\dot{u}_{1}"),
    "q12": ("q₁₂", "q_{12}"),
    "I_G": ("I_G", "I_{G}"),
    "I_t": ("Iₜ", "I_{t}"),
    "F_C": ("F_C", "F_{C}"),
    "omega_x": ("ωₓ", r"\omega_{x}"),
    "omega_y": ("ω_y", r"\omega_{y}"),
    "lambda_1": ("λ₁", r"\lambda_{1}"),
    "lam_1": ("λ₁", r"\lambda_{1}"),
    "Omega": ("Ω", r"\Omega"),
    "Omega'": ("Ω̇", r"\dot{\Omega}"),
    "length": ("length", r"\mathrm{length}"),
    "length'": ("length′", r"{\mathrm{length}'}"),
    "length_1": ("length₁", r"\mathrm{length}_{1}"),
    "k_spring": ("k_spring", r"k_{\mathrm{spring}}"),
    "a_NB_1": ("a_NB_1", r"a_{\mathrm{NB},1}"),
    "m_alpha": ("m_α", r"m_{\alpha}"),
    "i'": ("i′", r"\dot{i}"),
    "x'''": ("x⃛", r"\dddot{x}"),
    "x'''''": ("x′′′′′", "{x^{(5)}}"),
    "m1a_b": ("m1a_b", r"\mathrm{m1a\_b}"),
    "_x": ("_x", r"\mathrm{\_x}"),
}


@pytest.mark.parametrize("name", NAMES)
def test_names(name):
    assert NAMES[name] == (unicode_name(name), latex_name(name))


def test_parts_of_a_name():
    assert parts("theta_1''") == ("theta", ("1",), 2)
    assert parts("u12'") == ("u", ("12",), 1)


# ---- expressions
# -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def s() -> dict[str, Scalar]:
    tape = Tape()
    moving = "x y theta phi theta_1 theta_2 u1 u2"
    fixed = "m M r g k l I_G"
    found = dict(zip(moving.split(), coordinates(tape, moving), strict=True))
    return (
        found
        | dict(zip(fixed.split(), constants(tape, fixed), strict=True))
        | {"pi": Scalar(tape, tape.pi)}
    )


EXPRESSIONS = {
    "x": ("x", "x"),
    "-x": ("−x", "-x"),
    "x - x + 0*y": ("0", "0"),
    "0*x + 7": ("7", "7"),
    "0*x - 3/7": ("−3/7", r"-\frac{3}{7}"),
    "0*x + pi": ("π", r"\pi"),
    "9.81*m": ("9.81 m", "9.81 m"),
    "(0.123 + 0.456*cos(theta))*x*m - 0.125*x": ("(0.123 m − 1/8) x + 0.456 m x cos θ", None),
    "-m - g": ("−m − g", "-m - g"),
    "3*m*r**2*theta/2": ("3/2 m r² θ", r"\frac{3}{2} m r^{2} \theta"),
    "cos(theta)**2": ("cos² θ", r"\cos^{2} \theta"),
    "sin(theta)*cos(theta)": ("sin θ cos θ", r"\sin \theta \cos \theta"),
    "cos(theta_1 - theta_2)": ("cos(θ₁ − θ₂)", r"\cos\left(\theta_{1} - \theta_{2}\right)"),
    "cos(theta_2 - theta_1)**2": ("cos²(θ₁ − θ₂)", r"\cos^{2}\left(\theta_{1} - \theta_{2}\right)"),
    "sin(theta/2)": ("sin(θ/2)", r"\sin\left(\frac{\theta}{2}\right)"),
    "cos(theta + pi/4)": ("cos(θ + π/4)", r"\cos\left(\theta + \frac{\pi}{4}\right)"),
    "sin(2*theta)": ("sin(2 θ)", r"\sin\left(2 \theta\right)"),
    "(M + m)*x": ("(m + M) x", None),
    "(m + M)*g*l*sin(theta)": ("(m + M) g l sin θ", None),
    "(m - M)*g*sin(theta) - x": ("−x + (m − M) g sin θ", None),
    "k*(M - m)*x": ("(M − m) k x", r"\left(M - m\right) k x"),
    "-k*(1 + cos(theta)**2)": ("−k cos² θ − k", None),
    "g*sin(theta)/l": ("g sin(θ)/l", r"\frac{g \sin \theta}{l}"),
    "m*g*l*sin(theta)/(I_G + m*l**2)": (
        "m g l sin(θ)/(m l² + I_G)",
        r"\frac{m g l \sin \theta}{m l^{2} + I_{G}}",
    ),
    "(x + y)/(1 + r*cos(theta))": ("(x + y)/(1 + r cos θ)", r"\frac{x + y}{1 + r \cos \theta}"),
    "-x/(m + r)": ("−x/(m + r)", r"-\frac{x}{m + r}"),
    "-1/(m*r)": ("−1/(m r)", r"-\frac{1}{m r}"),
    "sqrt(x**2 + y**2)": ("√(x² + y²)", r"\sqrt{x^{2} + y^{2}}"),
    "0*x + sqrt(2)/2": ("1/2 √2", r"\frac{1}{2} \sqrt{2}"),
    "2*atan2(y, x)": ("2 atan2(y, x)", r"2 \operatorname{atan2}\left(y, x\right)"),
    "sign(-x)": ("−sign(x)", r"-\operatorname{sign}\left(x\right)"),
    "abs(x - y)**3": ("(x − y)² |x − y|", None),
    "exp(-k*x)": ("exp(−k x)", r"\exp\left(-k x\right)"),
    "exp(x)**2": ("exp(x)²", r"\exp\left(x\right)^{2}"),
    "asin(x)*acos(y)*atan(x)*log(y)": (
        None,
        r"\arcsin\left(x\right) \arctan\left(x\right) \arccos\left(y\right) \log\left(y\right)",
    ),
    "sinh(x)**2": ("sinh² x", r"\sinh^{2} x"),
    "x**12": ("x¹²", "x^{12}"),
    "u1*u2": ("u₁ u₂", "u_{1} u_{2}"),
}


@pytest.mark.parametrize("raw", EXPRESSIONS)
def test_expressions(s, raw):
    e = parse(raw, s, s["x"].tape)
    expected = EXPRESSIONS[raw]
    shown = text(e), latex(e)
    assert expected == tuple(
        None if wanted is None else got for wanted, got in zip(expected, shown, strict=True)
    )
    assert shown == (str(e), e.latex())


def test_the_energy_of_the_disk_4_45():
    disk = RollingDisk()
    assert str(disk.energy) == (
        "1/8 m r² (1 + 5 cos² θ) φ̇² + 5/8 m r² θ̇² + 1/4 m r² ψ̇² + 1/2 m ẋ² + 1/2 m ẏ² + 1/2 m "
        "r² φ̇ ψ̇ cos θ"
        " − m r φ̇ ẋ cos φ cos θ − m r φ̇ ẏ sin φ cos θ + m r θ̇ ẋ sin φ sin θ − m r θ̇ ẏ cos φ "
        "sin θ"
    )


# ---- equations
# -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def disk() -> RollingDisk:
    return RollingDisk()


PRINTED = {
    "4.57": "1/4 m r² (1 + 5 cos² θ) φ̈ + 3/2 m r² ψ̈ cos θ − 5/2 m r² φ̇ θ̇ sin θ cos θ − 1/2 m "
    "r² θ̇ ψ̇ sin θ = 0",
    "4.59": "5/4 m r² θ̈ + 5/4 m r² φ̇² sin θ cos θ + 3/2 m r² φ̇ ψ̇ sin θ = −m g r cos θ",
    "4.60": "3/2 m r² ψ̈ + 3/2 m r² φ̈ cos θ − 5/2 m r² φ̇ θ̇ sin θ = 0",
}


def equation_form(tape, residual, unknowns):
    (form,) = normal_form(tape, (residual,))
    return equation(form, tape, [tape.nodes[i][1] for i in unknowns])[0]


@pytest.mark.parametrize("number", PRINTED)
def test_equations_of_the_disk(disk, number):
    printed, derived = disk.reduced[number]
    unknowns = [q.dot.dot.i for q in disk.q]
    assert PRINTED[number] == equation_text(disk.tape, derived.i, unknowns)
    # the sign of the residual does not matter
    assert PRINTED[number] == equation_text(disk.tape, (-derived).i, unknowns)
    one, two = (equation_form(disk.tape, e.i, unknowns) for e in (printed, -derived))
    assert one == two
    assert one.same_terms(two, up_to_factor=False)


def test_equations_are_the_same_up_to_a_common_factor(disk):
    printed, derived = disk.reduced["4.59"]
    m, _, r = disk.parameters
    unknowns = [q.dot.dot.i for q in disk.q]
    one, two = (equation_form(disk.tape, e.i, unknowns) for e in (printed, 4 * derived / (m * r)))
    assert one.same_terms(two)
    assert not one.same_terms(two, up_to_factor=False)
    assert one.term_count == 4


def test_an_equation_in_latex(disk):
    _, derived = disk.reduced["4.59"]
    assert equation_latex(disk.tape, derived.i, [q.dot.dot.i for q in disk.q]) == (
        r"\frac{5}{4} m r^{2} \ddot{\theta} + \frac{5}{4} m r^{2} \dot{\phi}^{2} \sin \theta \cos "
        r"\theta"
        r" + \frac{3}{2} m r^{2} \dot{\phi} \dot{\psi} \sin \theta = -m g r \cos \theta"
    )


def test_cart_and_bar_mei85_example_7_3_h():
    tape = Tape()
    x, theta = coordinates(tape, "x theta")
    M, m, a, k, g, F = constants(tape, "M m a k g F")
    X, Y = x + a * sin(theta), -a * cos(theta)
    T = M * x.dot**2 / 2 + m * (X.dot**2 + Y.dot**2) / 2 + m * a**2 * theta.dot**2 / 6
    first = lagrangian_operator(T, x) + k * x - F
    second = lagrangian_operator(T, theta) + m * g * a * sin(theta) - 2 * F * a * cos(theta)
    unknowns = [x.dot.dot.i, theta.dot.dot.i]
    assert (
        equation_text(tape, first.i, unknowns)
        == "(M + m) ẍ + m a θ̈ cos θ − m a θ̇² sin θ = −k x + F"
    )
    assert (
        equation_text(tape, second.i, unknowns)
        == "4/3 m a² θ̈ + m a ẍ cos θ = −m a g sin θ + 2 a F cos θ"
    )
    printed = (
        (M + m) * x.dot.dot
        + m * a * (theta.dot.dot * cos(theta) - theta.dot**2 * sin(theta))
        + k * x
        - F
    )
    (terms,) = expand(tape, (printed.i,))
    assert equation_form(tape, first.i, unknowns).same_terms(
        EquationSides(terms, ZERO), up_to_factor=False
    )


def test_vehicle_bar00_50():
    tape = Tape()
    m, L, h, I_G, F_C, F_D = constants(tape, "m L h I_G F_C F_D")
    u1, u2 = coordinates(tape, "u1 u2")
    unknowns, rates = [u1.dot.i, u2.dot.i], [u1.i, u2.i]
    first = m * (u1.dot - L * u2**2) - F_C - F_D
    second = (I_G + m * L**2) * u2.dot + m * L * u1 * u2 - h * (F_D - F_C)
    assert equation_text(tape, first.i, unknowns, rates) == "m u̇₁ − m L u₂² = F_C + F_D"
    assert (
        equation_text(tape, second.i, unknowns, rates)
        == "(m L² + I_G) u̇₂ + m L u₁ u₂ = h (F_D − F_C)"
    )
    # what the unknowns are rates of need not be said
    assert equation_text(tape, second.i, unknowns) == equation_text(tape, second.i, unknowns, rates)


def test_hoist_and_sphere_mit22():
    tape = Tape()
    theta, s, Omega = coordinates(tape, "theta s Omega")
    m_B, g, L, I, m, k, b = constants(tape, "m_B g L I m k b")
    pendulum = theta.dot.dot + m_B * g * L / (I + m_B * L**2) * sin(theta)
    assert equation_text(tape, pendulum.i, [theta.dot.dot.i]) == "(m_B L² + I) θ̈ = −m_B g L sin θ"
    sphere = (
        Fraction(7, 5) * m * s.dot.dot
        + b * s.dot
        + (k - Fraction(7, 5) * m * Omega**2) * s
        - Fraction(7, 5) * m * L * Omega**2
    )
    assert equation_text(tape, sphere.i, [s.dot.dot.i]) == "7/5 m s̈ + b ṡ = 7/5 m (L + s) Ω² − k s"


def test_double_pendulum():
    tape = Tape()
    q1, q2 = coordinates(tape, "theta_1 theta_2")
    m1, m2, l1, l2, g = constants(tape, "m_1 m_2 l_1 l_2 g")
    x, y = l1 * sin(q1), -l1 * cos(q1)
    X, Y = x + l2 * sin(q2), y - l2 * cos(q2)
    L = m1 * (x.dot**2 + y.dot**2) / 2 + m2 * (X.dot**2 + Y.dot**2) / 2 - m1 * g * y - m2 * g * Y
    unknowns = [q1.dot.dot.i, q2.dot.dot.i]
    assert equation_text(tape, lagrangian_operator(L, q2).i, unknowns) == (
        "m₂ l₂² θ̈₂ + m₂ l₁ l₂ θ̈₁ cos(θ₁ − θ₂) − m₂ l₁ l₂ θ̇₁² sin(θ₁ − θ₂) = −m₂ l₂ g sin θ₂"
    )


def test_statics_and_empty_equations():
    tape = Tape()
    (x,) = coordinates(tape, "x")
    k, F = constants(tape, "k F")
    assert equation_text(tape, (k * x - F).i, []) == "k x − F = 0"
    assert equation_text(tape, (F - k * x).i, []) == "k x − F = 0"
    assert equation_text(tape, tape.zero, []) == "0 = 0"


# ---- long expressions
# ------------------------------------------------------------------------------


def chain(links: int) -> Scalar:
    """A product of sums that has 2ⁿ terms when multiplied out."""
    tape = Tape()
    xs, ys = (constants(tape, " ".join(f"{letter}{n}" for n in range(links))) for letter in "xy")
    e = xs[0] + ys[0]
    for x, y in zip(xs[1:], ys[1:], strict=True):
        e = e * (x + y) + x * e
    return e


def test_long_expressions_have_named_intermediates():
    e = chain(14)
    shown = text(e)
    count = int(re.search(r", with (\d+) intermediates: ", shown)[1])
    assert count == len(re.findall(r"z[₀-₉]+ = ", shown))
    assert count == 13
    assert shown.startswith(
        "z₁₃ (x₁₃ + y₁₃) + x₁₃ z₁₃, with 13 intermediates: z₁ = x₀ + y₀; z₂ = z₁ (x₁ + y₁) + x₁ "
        "z₁; "
    )
    assert r"\text{with 13 intermediates: }" in latex(e)
    equation = equation_text(e.tape, e.i, [])
    assert " = 0, with 13 intermediates: " in equation


def test_intermediates_stay_clear_of_the_users_names():
    e = chain(14)
    z1 = Scalar(e.tape, e.tape.symbol("z1"))
    assert "zz₁ = " in text(e + z1) or "zz1 = " in text(e + z1)


@pytest.mark.slow
def test_nothing_is_cut_from_ten_thousand_additions():
    tape = Tape()
    total = Scalar(tape, tape.symbol("a"))
    for n in range(10_000):
        total = total * (1 + Scalar(tape, tape.symbol(f"b{n}")))
    shown = text(total)
    assert all(
        f"b{n}".translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")) in shown
        for n in (0, 5000, 9999)
    )


def test_deeply_nested_functions(s):
    e = s["x"]
    for _ in range(2000):
        e = sin(e)
    assert text(e).count("sin") == latex(e).count("\\sin") == 2000


def test_what_has_no_value_is_still_shown(s):
    x = s["x"]
    assert text(1 / (sin(x) ** 2 + cos(x) ** 2 - 1)) == "1/(sin(x)² + cos(x)² − 1)"
    assert text(log(x - 2 * x + x)) == "log(x + x − 2 x)"


PLAIN = {
    "a - (b - c)": "a − (b − c)",
    "a - (b + c)*a": "a − a (b + c)",
    "a/(b*c)": "a/(b c)",
    "(a/b)/c": "(a/b)/c",
    "a*(b/c)": "a (b/c)",
    "-(a + b)/c": "−(a + b)/c",
    "-(a + b) - c": "−(c + a + b)",
    "(a - b)**2": "(a − b)²",
    "sin(-(a - b))*3/2": "3/2 sin(b − a)",
    "(2*a)**2 + 1/b**2": None,
    "atan2(-a, b) + abs(c)": "atan2(−a, b) + |c|",
    "a*(-1/2) - b": None,
}


@pytest.mark.parametrize("raw", PLAIN)
def test_expressions_as_computed(raw):
    tape = Tape()
    names = dict(zip("abc", constants(tape, "a b c"), strict=True))
    e = parse(raw, names, tape)
    shown = Text()(with_intermediates(tape, e.i))
    assert PLAIN[raw] in (shown, None)
    # read back, the text means the same
    read = shown.replace("−", "-").replace("²", "**2").replace("|c|", "abs(c)")
    read = re.sub(r"(?<=[\w)2]) (?=[\w(])", "*", read)
    assert parse(read, names, tape) == e or abs(_at(parse(read, names, tape)) - _at(e)) < 1e-12


def _at(e: Scalar) -> float:
    from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
    from dalembert.symbolic.algebra.expression_graph import evaluate

    values = {"a": 0.3, "b": 1.7, "c": -2.1}
    return evaluate(e.tape, (e.i,), lambda i: values[e.tape.nodes[i][1]], FloatArithmetic())[0]


# ---- always
# ----------------------------------------------------------------------------------------


def assert_balanced(formula: str) -> None:
    depth = 0
    for c in re.sub(r"\\[{}]", "", formula):
        depth += (c == "{") - (c == "}")
        assert depth >= 0
    assert depth == 0
    assert len(re.findall(r"\\left", formula)) == len(re.findall(r"\\right", formula))
    assert not re.search(r"\^\{[^{}]*\}\^", formula)


@settings(max_examples=60, deadline=None)
@given(texts(max_leaves=10))
def test_every_expression_prints(raw):
    tape, names = fresh()
    e = parse(raw, names, tape)
    assert text(e)
    assert "\n" not in text(e)
    assert_balanced(latex(e))
    assert_balanced(Latex()(with_intermediates(tape, e.i)))
    size = len(tape)
    equation_text(tape, e.i, [names["x"].i])
    assert_balanced(equation_latex(tape, e.i, [names["x"].i], [names["y"].i]))
    # printing leaves the tape as it was
    assert len(tape) == size


def test_every_function_prints(s):
    x, y = s["x"], s["y"]
    for f in (sin, cos, exp, log, sqrt, sinh, cosh, asin, acos, atan, abs, sign):
        for e in (f(x), f(x) ** 3, -f(x * y) / 2, f(x) / (1 + f(y)), f(f(x))):
            assert text(e)
            assert_balanced(latex(e))
    assert text(atan2(x, y) ** 2) == "atan2(x, y)²"
