"""MathML: what LaTeX says, as a tree."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dalembert as da
from dalembert.algebra.printing import latex, mathml
from dalembert.algebra.printing.mathml import NAMESPACE, escaped, math, presentation
from dalembert.errors import BadExpression
from dalembert.report.latex import escaped as latex_words

CORE = frozenset(
    [
        "math",
        "semantics",
        "annotation",
        "mrow",
        "mi",
        "mo",
        "mn",
        "mtext",
        "mspace",
        "msub",
        "msup",
        "msubsup",
        "mover",
        "mfrac",
        "msqrt",
        "mtable",
        "mtr",
        "mtd",
    ],
)


def tree(written):
    return ET.fromstring(math(written))


def text(written):
    """The letters that are seen, without the annotation."""
    return "".join(ET.fromstring(f"<r>{presentation(written)}</r>").itertext())


def test_products_powers_and_dots():
    assert (
        "<mrow><mfrac><mn>1</mn><mn>4</mn></mfrac><mi>m</mi><msup><mi>r</mi><mn>2</mn></msup>"
        '<mover accent="true"><mi>φ</mi><mo stretchy="false" style="padding-bottom:0.1em">¨</mo></mover></mrow>'
    ) == presentation(r"\frac{1}{4} m r^{2} \ddot{\phi}")


def test_functions_are_applied_and_stand_apart():
    thin = '<mspace width="0.167em"></mspace>'
    expected = f"<mrow><mi>m</mi>{thin}<msup><mi>cos</mi><mn>2</mn></msup><mo>\u2061</mo>{thin}<mi>θ</mi></mrow>"
    assert expected == presentation(r"m \cos^{2} \theta")


def test_indices_dots_and_primes_stack():
    assert "<msubsup><mi>u</mi><mn>1</mn><mn>2</mn></msubsup>" == presentation("u_{1}^{2}")
    assert "<msup><mi>v</mi><mo>′′</mo></msup>" == presentation("v''")


def test_a_matrix_is_a_table_between_brackets():
    found = tree(r"\Psi = {\begin{bmatrix}1 & 0 \\ r \cos \phi & 1\end{bmatrix}}")
    rows = found.findall(f".//{{{NAMESPACE}}}mtr")
    assert [2, 2] == [len(row) for row in rows]
    assert "Ψ=[10rcos\u2061φ1]" == text(r"\Psi = {\begin{bmatrix}1 & 0 \\ r \cos \phi & 1\end{bmatrix}}")


def test_the_latex_rides_along():
    (annotation,) = tree(r"a < b").findall(f".//{{{NAMESPACE}}}annotation")
    assert r"a < b" == annotation.text
    assert "application/x-tex" == annotation.get("encoding")


@pytest.mark.parametrize(
    "broken",
    [
        r"\frac{a}", "a_{1", r"\left(a", r"a\right)", "a}", "a^2^3", r"\unheard{a}", r"\begin{aligned}a", r"a & b", "a $ b", "_2",
        r"\begin{bmatrix}a\end{aligned}",
    ],
)  # fmt: skip
def test_what_is_no_latex_of_ours_is_refused(broken):
    with pytest.raises(BadExpression, match="LaTeX that cannot be read"):
        presentation(broken)


def test_an_expression_of_a_system():
    s = da.System("x")
    (theta_1,) = s.coordinates("theta_1")
    (m,) = s.constants("m")
    e = m * da.sin(theta_1) ** 2 * theta_1.dot.dot / (1 + da.sqrt(m))
    assert "θ" in mathml.math(latex(e))
    assert {f"{{{NAMESPACE}}}{tag}" for tag in CORE}.issuperset(el.tag for el in tree(latex(e)).iter())


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=20))
def test_any_words_survive(words):
    written = f"\\text{{{latex_words(words)}}}"
    assert "<script" not in math(written)
    ET.fromstring(math(written))
    ET.fromstring(f"<p>{escaped(words)}</p>")
