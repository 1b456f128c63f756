"""What is printed for a symbol where that is not its name."""

import pickle

import pytest

import dalembert as da
from dalembert.errors import BadDescription


def system():
    s = da.System("Pendulum")
    th = s.coordinate("th", display="θ₁")
    m, l, g = (
        s.constant("mass", 2, display="m_A"),
        s.constant("len", 1, display="ℓ"),
        s.constant("g", 9.81),
    )
    B = s.N.rotated(th, s.N.z, "B")
    s.particle("bob", m, s.O.offset(-l * B.y, "P"))
    s.gravity(-g * s.N.y)
    return s


def test_every_printer_uses_it():
    d = da.lagrange(system())
    assert "m_A ℓ² θ̈₁ = −m_A ℓ g sin θ₁" == str(d.equations)
    assert (
        r"m_{A} \ell^{2} \ddot{\theta}_{1} &= -m_{A} \ell g \sin \theta_{1}" in d.equations.latex()
    )
    assert "<msub>" in d._repr_html_()
    assert "θ̇₁" == str(system()["th"].dot)


def test_programs_keep_the_name():
    s = system()
    assert "th" in s.symbols
    run = da.simulate(s, 0.1, start={"th": 1.0})
    assert 1.0 == run["th"][0]


def test_quantities_of_a_coordinate_carry_it(capsys):
    from dalembert.interface.report import system_report, terminal_renderer
    from dalembert.interface.report.formula_writer import FormulaWriter

    s = system()
    text = terminal_renderer.render_text(
        system_report.derivation_report(
            system_report.ReportSubject(s, "P"), [da.lagrange(s)], FormulaWriter(), level="full"
        )
    )
    assert "p_θ₁ = m_A ℓ² θ̇₁" in text
    assert "∂V/∂θ₁ = m_A ℓ g sin θ₁" in text
    assert "θ₁" in text.split("\nsymbol")[1].split("\nm_A")[0]


def test_names_with_an_index_need_none():
    s = da.System("x")
    assert "θ₁" == str(s.coordinate("theta_1"))


def test_speeds_inputs_and_motions():
    s = da.System("x")
    q = s.coordinate("q")
    assert "ω_B" == str(s.speed("w", q.dot, display="omega_B"))
    assert "F₁" == str(s.input("push", display="F₁"))
    assert "Ω" == str(s.specified("rate", display="Ω"))


def test_afterwards():
    s = da.System("Double pendulum", gravity=9.81)
    upper = s.rod("upper", s.pin("alpha", s.O), mass=1, length=1)
    s.rod("lower", s.pin("beta", upper.tip), mass=1, length=1)
    before = str(da.kane(s).equations)
    s.display(alpha="φ₁", beta="φ₂")
    assert before.replace("α", "φ₁") != before
    assert "φ̈₁" in str(da.kane(s).equations)
    assert "φ̈₁" in str(pickle.loads(pickle.dumps(da.kane(s))).equations)


@pytest.mark.parametrize("bad", ["", "<script>", "a b", "x'", "1", "θ̇", r"\theta", "$x$", 3])
def test_what_cannot_be_displayed(bad):
    with pytest.raises(BadDescription, match="cannot be displayed"):
        da.System("x").coordinate("q", display=bad)


def test_two_symbols_never_look_the_same():
    s = da.System("x")
    s.coordinate("th", display="θ")
    with pytest.raises(BadDescription, match="would be printed as θ, like the coordinate 'th'"):
        s.coordinate("theta")
    with pytest.raises(BadDescription, match="cannot be displayed as 'θ'"):
        s.constant("c", display="θ")
    assert "c" not in s.symbols
    with pytest.raises(BadDescription, match="no symbol 'foo'"):
        s.display(foo="x")
