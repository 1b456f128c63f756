"""What a notebook shows."""

import html5lib
import pytest

import dalembert as da
from dalembert import gallery


def results():
    s = gallery.build("rolling-disk")
    d = da.kane(s)
    yield "System", s, "rolling of disk along x"
    yield "Derivation", d, r"\ddot{\phi}"
    yield "Equations", d.equations, r"\ddot{\phi}"
    yield "Agreement", da.agreement(s, compiled=False), "agree exactly"
    yield "EnergyIntegrals", da.energy_integrals(gallery.build("positioning-device")), "constant"
    yield "Trajectory", da.simulate(s, 0.1, start={"theta": 1.2, "psi.dot": 6.0}), "T + V"


@pytest.fixture(scope="module")
def shown():
    return {name: (result, words) for name, result, words in results()}


@pytest.mark.parametrize(
    "name", ["System", "Derivation", "Equations", "Agreement", "EnergyIntegrals", "Trajectory"]
)
def test_every_result_shows_itself(shown, name):
    result, words = shown[name]
    html = result._repr_html_()
    html5lib.HTMLParser(strict=True).parse(
        f"<!DOCTYPE html><html><head><title>x</title></head><body>{html}</body></html>"
    )
    assert words in html
    assert words in result._repr_markdown_()
    assert words in result._repr_latex_()


def test_equations_are_one_formula_that_mathjax_knows(shown):
    latex = shown["Equations"][0]._repr_latex_()
    assert latex.startswith(r"$$\begin{aligned}")
    assert latex.endswith("\\end{aligned}$$")
    assert latex.count("{") == latex.count("}")


def test_a_system_can_be_looked_at_before_it_is_complete():
    s = da.System("Nothing yet")
    assert "Nothing yet" in s._repr_html_()
    s.coordinate("th", display="θ₁")
    assert "<msub><mi>θ</mi><mn>1</mn></msub>" in s._repr_html_()
