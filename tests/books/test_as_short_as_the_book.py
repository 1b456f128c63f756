"""Our equations, term for term as the books print them, and with no term more. Misprints are
corrected, as the gallery says.
"""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

import dalembert as da
from comparisons import combination, in_speeds
from dalembert import gallery
from dalembert.symbolic.algebra.normal_form.expansion import expand, normal_form
from dalembert.symbolic.algebra.normal_form.rational_form import RationalForm, factor_common
from dalembert.symbolic.algebra.scalar import as_node

ROOT = Path(__file__).parents[2]

# in the speeds or accelerations of the equations themselves: each printed result is one of our
# equations, by Kane
BY_KANE = {
    "mass-on-incline": None,
    "cart-and-bar": None,
    "rolling-disk": ("(4.57)", "(4.59)", "(4.60)"),
    "vehicle": ("(50), first", "(50), second"),
    "hoist": None,
    "positioning-device": None,
    "double-pendulum": None,
    "spherical-pendulum": None,
    "lagrange-top": None,
}
# in all n accelerations: the equations as Maggi's principle gives them
BY_MAGGI = {
    "knife-edge-rod": ("(4.31)", "(4.32)"),
    "vehicle": ("(55), first", "(55), second"),
}
# the rods' equations of motion in absolute angles, from Wik's Lagrangian
ABSOLUTE = (
    (
        "(m_1/3 + m_2)*l_1**2*alpha'' + m_2*l_1*l_2/2*(beta''*cos(alpha - beta) + "
        "beta'**2*sin(alpha - "
        "beta)) + (m_1/2 + m_2)*g*l_1*sin(alpha)"
    ),
    (
        "m_2*l_2**2/3*beta'' + m_2*l_1*l_2/2*(alpha''*cos(alpha - beta) - alpha'**2*sin(alpha "
        "- beta)) "
        "+ m_2*g*l_2/2*sin(beta)"
    ),
)
# the spherical pendulum's own equation along θ
ALONG_THETA = "m*l**2*theta'' - m*l**2*sin(theta)*cos(theta)*phi'**2 + m*g*l*sin(theta)"


def monomials(form: RationalForm) -> int:
    """How many terms are left after removal of common factors: the counter for both sides."""
    return len(factor_common(form)[1].numerator)


def check(d: da.Derivation, ours: int, book: int) -> None:
    """The same terms in any order, up to a common factor, and not one more."""
    (printed,) = expand(d.tape, (book,))
    (derived,) = normal_form(d.tape, (ours,))
    assert monomials(derived) <= monomials(printed)
    assert RationalForm(derived.numerator).same_terms(
        RationalForm(printed.numerator), up_to_factor=True
    )


def cases(chosen):
    for name, labels in chosen.items():
        for p in gallery.entry(name).printed:
            if p.combination and (labels is None or p.label in labels):
                yield pytest.param(name, p, id=f"{name} {p.label}")


@pytest.mark.parametrize(("name", "printed"), list(cases(BY_KANE)))
def test_by_kane(name, printed):
    d = da.kane(gallery.build(name))
    # ṡ is called v where it is a speed
    book = in_speeds(d.kinematics, printed.residual)
    check(d, combination(d, printed.combination), book)


@pytest.mark.parametrize(("name", "printed"), list(cases(BY_MAGGI)))
def test_by_maggi(name, printed):
    s = gallery.build(name)
    d = da.maggi(s)
    ((number, _),) = printed.combination
    check(d, d.native.printed[number - 1], as_node(d.tape, s.expression(printed.residual)))


@pytest.mark.parametrize("number", [1, 2])
def test_double_pendulum_in_absolute_angles(number):
    s = gallery.build("double-pendulum", angles="absolute")
    d = da.lagrange(s)
    check(d, d.equations.residuals[number - 1], as_node(d.tape, s.expression(ABSOLUTE[number - 1])))


def test_spherical_pendulum_along_theta():
    s = gallery.build("spherical-pendulum")
    d = da.lagrange(s)
    check(d, d.equations.residuals[0], as_node(d.tape, s.expression(ALONG_THETA)))


def test_a_longer_form_is_noticed():
    s = gallery.build("spherical-pendulum")
    d = da.lagrange(s)
    longer = s.expression(ALONG_THETA + " + m*l*g*(sin(theta)**2 + cos(theta)**2 - 1)")
    with pytest.raises(AssertionError):
        check(d, as_node(d.tape, s.expression(ALONG_THETA + " + m*l")), as_node(d.tape, longer))


# ---- the table of docs/equations.md ------------------------------------------------------------


@pytest.fixture(scope="module")
def reading():
    spec = importlib.util.spec_from_file_location("reading", ROOT / "benchmarks" / "reading.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["reading"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows():
    text = (ROOT / "docs" / "equations.md").read_text(encoding="utf-8")
    found = re.findall(
        r"^\| ([a-z-]+) \| (\d+) \(([\d, ]+)\) \| .*? \| (\d+)? ?.*? \| .*? \| (\d+)? ?.*? \| .*? "
        r"\|$",
        text,
        re.MULTILINE,
    )
    return {
        name: ([int(n) for n in each.split(",")], [int(n) for n in others if n])
        for name, _, each, *others in found
    }


def test_the_documented_sizes_are_ours_and_no_larger_than_sympys(reading):
    table = rows()
    assert set(reading.NAMES) == set(table)
    for name, (sizes, others) in table.items():
        assert sizes == reading.ours(name)[0]
        assert all(sum(sizes) <= theirs for theirs in others)
