"""MathML: a tree as elements, with its LaTeX beside it."""

import xml.etree.ElementTree as ET
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

import dalembert as da
from dalembert.symbolic.algebra.formula import Partial, Rate, Symbol
from dalembert.symbolic.algebra.printing import expression_tree, latex
from dalembert.symbolic.algebra.printing.formula_layout import formula_tree
from dalembert.symbolic.algebra.printing.mathml import NAMESPACE, MathML, escape, math, row
from dalembert.symbolic.algebra.printing.print_tree import (
    Equality,
    Factors,
    Letter,
    MatrixBrackets,
    Numeral,
    Prose,
    SignedTerms,
    Superscript,
    UnitVector,
)
from dalembert.symbolic.algebra.printing.print_tree import NamedSymbol as Named

CORE = frozenset({
    "math", "semantics", "annotation", "mrow", "mi", "mo", "mn", "mtext", "mspace", "msub", "msup",
    "msubsup", "mover", "mfrac", "msqrt",
    "mtable", "mtr", "mtd",
})  # fmt: skip


def named(name):
    return Named(name, name)


def written(tree):
    return row(MathML()(tree))


def seen(tree):
    """The letters that are seen, without the annotation."""
    return "".join(ET.fromstring(f"<r>{written(tree)}</r>").itertext())


def test_products_powers_and_dots():
    tree = Factors(
        (Numeral(Fraction(1, 4)), named("m"), Superscript(named("r"), 2), named("phi''"))
    )
    assert (
        "<mrow><mfrac><mn>1</mn><mn>4</mn></mfrac><mi>m</mi><msup><mi>r</mi><mn>2</mn></msup>"
        '<mover accent="true"><mi>φ</mi><mo stretchy="false" '
        'style="padding-bottom:0.1em">¨</mo></mover></mrow>'
    ) == written(tree)


def test_functions_are_applied_and_stand_apart():
    s = da.System("x")
    theta, m = s.coordinate("theta"), s.constant("m")
    thin = '<mspace width="0.167em"></mspace>'
    expected = (
        f"<mrow><mi>m</mi>{thin}<msup><mi>cos</mi><mn>2</mn></msup>"
        f"<mo>\u2061</mo>{thin}<mi>θ</mi></mrow>"
    )
    assert expected == written(expression_tree(m * da.cos(theta) ** 2))


def test_indices_dots_and_primes_stack():
    assert "<msubsup><mi>u</mi><mn>1</mn><mn>2</mn></msubsup>" == written(
        Superscript(named("u1"), 2)
    )
    assert "<msup><mi>v</mi><mo>′′</mo></msup>" == written(named("v′′"))
    assert "<msup><msubsup><mi>v</mi><mn>1</mn><mo>′</mo></msubsup><mn>2</mn></msup>" == written(
        Superscript(named("v1′"), 2)
    )


def test_formulas_of_the_books():
    T, q = Symbol("T", bar=True), Symbol("q", ("k",), dots=1)
    assert "ddt∂T¯∂q˙k" == seen(formula_tree(Rate(Partial(T, q))))
    assert "<msup><mi>A</mi><mi>T</mi></msup>" == written(formula_tree(Symbol("A").T))
    assert "<msubsup><mi>F</mi><mi>r</mi><mo>∗</mo></msubsup>" == written(
        formula_tree(Symbol("F", ("r",), star=True))
    )


def test_a_matrix_is_a_table_between_brackets():
    tree = Equality(
        Letter("Ψ"), MatrixBrackets(((named("a"), named("b")), (named("c"), Numeral(Fraction(1)))))
    )
    assert [2, 2] == [
        len(found) for found in ET.fromstring(math(tree)).findall(f".//{{{NAMESPACE}}}mtr")
    ]
    assert "Ψ=[abc1]" == seen(tree)


def test_the_latex_rides_along():
    tree = SignedTerms(((True, named("alpha")),))
    (annotation,) = ET.fromstring(math(tree)).findall(f".//{{{NAMESPACE}}}annotation")
    assert r"-\alpha" == annotation.text
    assert "application/x-tex" == annotation.get("encoding")


def test_an_expression_of_a_system():
    s = da.System("x")
    (theta_1,) = s.coordinates("theta_1")
    (m,) = s.constants("m")
    e = m * da.sin(theta_1) ** 2 * theta_1.dot.dot / (1 + da.sqrt(m))
    found = ET.fromstring(math(expression_tree(e)))
    assert {f"{{{NAMESPACE}}}{tag}" for tag in CORE}.issuperset(el.tag for el in found.iter())
    assert latex(e) == found.find(f".//{{{NAMESPACE}}}annotation").text


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=20))
def test_any_words_survive(words):
    for tree in (Prose(words), UnitVector(words, "x"), named(words or "x")):
        assert "<script" not in math(tree)
        ET.fromstring(math(tree))
    ET.fromstring(f"<p>{escape(words)}</p>")
