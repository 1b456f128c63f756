"""Hybrid equations to read: text, LaTeX, Markdown and pages from the same steps."""

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.interface.report import terminal_renderer
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.interface.report.hybrid_report import hybrid
from dalembert.interface.report.renderers import HTML, LATEX, MARKDOWN


@pytest.fixture(scope="module")
def beam():
    return da.extended_hamilton(gallery.build("beam-on-ball-joint"))


def test_text(beam):
    shown = terminal_renderer.render_text(hybrid(beam, FormulaWriter(), steps=True))
    for line in (
        "1. A point of the member",
        "r − r_P = x B.x + v B.y",
        "ṙ = −ω_z v B.x + (v̇ + x ω_z) B.y + (ωₓ v − x ω_y) B.z",
        "V = 1/2 EI ∫₀ᴸ v″² dx",
        "B_v′ = ∂L̂/∂v″  [after Bar00 (62)]\n  B_v′ = −EI v″",
        "EI v″(L) = 0    [δv′(L)]",
        "Ordinary differential equations, along the speeds",
        "μ v̈ + μ x ω̇_z − μ ωₓ² v − μ ω_z² v + μ x ωₓ ω_y + EI v⁗ = 0    [v(x, t), 0 < x < L]",
        "v′(0) = 0    [geometric, x = 0]",
        "EI v‴(L) = 0    [natural, x = L]",
    ):
        assert line in shown
    assert "A point of the member" not in terminal_renderer.render_text(
        hybrid(beam, FormulaWriter())
    )


def test_latex_and_markdown(beam):
    for shown in (
        LATEX.text(hybrid(beam, FormulaWriter(), steps=True)),
        MARKDOWN.text(hybrid(beam, FormulaWriter(), steps=True)),
    ):
        assert r"\int_{0}^{L} v^{2}\,dx" in shown
        assert r"\mathrm{EI}\, {v^{(4)}}" in shown
        assert "∫" not in shown
        assert "″" not in shown


def test_a_page(beam):
    # every formula is read again as MathML, which refuses LaTeX that it does not know
    assert "∫" in HTML.document(hybrid(beam, FormulaWriter(), steps=True))


def test_a_remark_is_shown():
    from dalembert.gallery.beam_on_ball_joint import build

    shown = terminal_renderer.render_text(
        hybrid(da.extended_hamilton(build(polar=False)), FormulaWriter())
    )
    assert "nothing resists a change of ωₓ" in shown


def test_in_a_notebook(beam):
    shown = beam._repr_latex_()
    assert shown.startswith("$$\\begin{aligned}")
    assert r"\int_{0}^{L} x \ddot{v}\,dx" in shown
