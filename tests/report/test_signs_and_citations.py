"""What a derivation prints is what was declared and what the source prints: signs of constraint
rows, indices, zero components, citations.
"""

import re

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.interface.report.derivation_steps import derivation
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.interface.report.renderers import HTML
from dalembert.interface.report.terminal_renderer import render_text

# as declared; the opposite signs contradict + Aᵀλ
ROWS = {
    "vehicle": ["−Ẋ sin θ + Ẏ cos θ − L θ̇ = 0"],
    "knife-edge-rod": ["−ẋ sin φ + ẏ cos φ = 0"],
    "positioning-device": [
        "φ̇ − Ω = 0",
        "ṡ − r β̇ sin α + r γ̇ cos α cos β = 0",
        "−(L + s) φ̇ − r β̇ cos α − r γ̇ sin α cos β = 0",
    ],
}


def steps(d):
    return list(derivation(d, FormulaWriter(), level="full"))


def printed(d):
    return render_text(steps(d))


@pytest.mark.parametrize("principle", [da.lagrange, da.hamilton], ids=["lagrange", "hamilton"])
@pytest.mark.parametrize("name", ROWS)
def test_a_constraint_row_is_printed_as_it_is_declared(name, principle):
    text = printed(principle(gallery.build(name)))
    shown = text[text.index("A q̇ + b = 0") :]
    lines = [line.strip().partition("    [")[0] for line in shown.splitlines()]
    assert ROWS[name] == lines[1 : 1 + len(ROWS[name])]


def test_a_page_has_the_same_signs():
    page = HTML.text(steps(da.lagrange(gallery.build("vehicle"))))
    words = re.sub(r"<[^>]*>|\s|\u2061", "", page)
    assert "−X˙sinθ+Y˙cosθ−Lθ˙=0[nosideslipatA]" in words


def test_the_row_has_the_signs_of_its_force():
    """The coefficient of Ẋ in the row is that of λ₁ in the equation of X."""
    text = printed(da.lagrange(gallery.build("vehicle")))
    assert "m Ẍ = −λ₁ sin θ + (F_C + F_D) cos θ" in text
    assert "−Ẋ sin θ + Ẏ cos θ − L θ̇ = 0" in text


def test_slopes_along_quasi_coordinates_carry_their_index():
    text = printed(da.boltzmann_hamel(gallery.build("positioning-device")))
    assert "∂T̄/∂π₂ = 7/5 m (L + s) Ω²" in text
    assert "∂T̄/∂π_r = 7/5" not in text


def test_zero_components_are_not_printed():
    text = printed(da.dalembert(gallery.build("positioning-device")))
    assert "F2.x" in text
    assert not re.search(r"(?<![\w.])0 [A-Z]\w*\.[xyz]", text)


def test_moments_along_equal_axes_cancel():
    """Ḣ is along N.z and the moments of the joint along B.z, the same axis."""
    s = gallery.build("vehicle")
    assert "0" == str(da.balance(s, ["vehicle"], about=s.bodies[0].G).moment)


def test_potential_energy_and_angular_velocity_cite_their_own_equations():
    system = gallery.build("cart-and-bar")
    sources = {
        (step.title, step.source)
        for d in (da.lagrange(system), da.hamilton(system), da.kane(system))
        for step in d.steps
    }
    assert ("Potential energy", "Mei85 (7.42)") in sources
    assert ("Slopes of the potential energy", "Mei85 (7.42), (7.44)") in sources
    assert {"Gre03 (4.42)"} == {
        source for title, source in sources if title == "Angular velocities"
    }
