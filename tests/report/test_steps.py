"""Derivations to read."""

import re

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.interface.report import derivation_steps, system_report
from dalembert.interface.report.document_blocks import Display, Heading
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.interface.report.renderers import LATEX
from dalembert.interface.report.terminal_renderer import span_text
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES
from dalembert.mechanics.principles.derivation import Derivation, Step, StepItem
from dalembert.symbolic.algebra.printing.latex_notation import Latex
from dalembert.symbolic.algebra.printing.unicode_notation import Text

SMALL = ("cart-and-bar", "knife-edge-rod", "vehicle")


def text_of(block):
    lefts = [
        " = ".join("".join(map(span_text, left)) for left in (*line.equal, line.left))
        for line in block.lines
    ]
    return [
        f"{left}|{span_text(line.right)}" for left, line in zip(lefts, block.lines, strict=True)
    ]


def displays(d, writing, **how):
    """Title → lines of every part of a derivation."""
    found, title = {}, ""
    for block in derivation_steps.derivation(d, writing, **how):
        if isinstance(block, Heading):
            title = block.words
        elif isinstance(block, Display):
            found[title] = text_of(block)
    return found


def test_every_recorded_step_is_shown_once_in_order():
    d = da.lagrange(gallery.build("rolling-disk"))
    titles = [
        b.words
        for b in derivation_steps.derivation(d, FormulaWriter(), level="brief")
        if isinstance(b, Heading) and b.level == 3
    ]
    recorded = [step.title for step in d.steps if step.items]
    assert [f"{n}. {title}" for n, title in enumerate(recorded, 1)] == titles[: len(recorded)]


def test_steps_of_kane():
    shown = displays(da.kane(gallery.build("rolling-disk")), FormulaWriter(), level="brief")
    assert ["ẋ|−r ψ̇ cos φ", "ẏ|−r ψ̇ sin φ"] == shown["1. Speeds"]
    assert "ω of disk|φ̇ N.z + θ̇ A.x + ψ̇ B.z" in shown["3. Angular velocities"]
    assert "∂v/∂θ̇ of disk|r B.z" in shown["4. Partial velocities"]
    assert "F₂|−m r g cos θ" in shown["6. Generalized active forces"]


def test_zeros_share_a_line_and_rows_are_equations():
    shown = displays(da.lagrange(gallery.build("rolling-disk")), FormulaWriter(), level="brief")
    assert ["Qₓ = Q_y = Q_φ = Q_θ = Q_ψ|0"] == shown["10. Generalized forces"]
    assert ["|ẋ + r ψ̇ cos φ = 0", "|ẏ + r ψ̇ sin φ = 0"] == shown["11. Constraint rows"]


def test_the_same_equations_are_not_printed_twice():
    system = gallery.build("vehicle")
    shown: derivation_steps.ShownEquations = {}
    first = list(derivation_steps.derivation(da.kane(system), FormulaWriter(), shown=shown))
    second = list(derivation_steps.derivation(da.lagrange(system), FormulaWriter(), shown=shown))
    result = next(b for b in first if isinstance(b, Display))
    assert result not in second
    assert any("The same as by Kane's equations." in getattr(b, "spans", ()) for b in second)


@pytest.mark.each_time(11)
@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("derive", [f for _, f in PRINCIPLES], ids=[p.name for p, _ in PRINCIPLES])
def test_latex_of_every_principle_is_well_formed(name, derive):
    d = derive(da.kinematics(gallery.build(name)))
    body = re.sub(
        r"\\[{}]",
        "",
        LATEX.text(
            [
                *derivation_steps.derivation(d, FormulaWriter(), level="brief"),
                *derivation_steps.rates(d, FormulaWriter()),
            ]
        ),
    )
    assert body.isascii()
    assert body.count("{") == body.count("}")
    assert len(re.findall(r"\\left\b", body)) == len(re.findall(r"\\right\b", body))
    assert not re.search(r"_{[^{}]*}_", body)


def test_long_expressions_come_with_all_their_intermediates():
    d = da.kane(gallery.build("moving-knife-edge"))
    display = FormulaWriter().equations(
        d.tape, d.equations.residuals, d.equations.udot, d.equations.u
    )
    used = {
        int(n)
        for line in display.lines
        for n in re.findall(r"z_?(\d+)", span_text(line.right).translate(DIGITS))
    }
    assert display.definitions
    assert max(used) <= len(display.definitions)
    assert all(
        f"z{k}" == definition.left.name for k, definition in enumerate(display.definitions, 1)
    )


DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def with_items(*items: StepItem, formula: str = "x = y") -> list[str]:
    d = da.kane(gallery.build("rolling-disk"))
    made = Derivation(d.principle, d.kinematics, (Step("Step", formula, items),), d.native)
    return displays(made, FormulaWriter(), level="brief")["1. Step"]


def test_labels():
    d = da.kane(gallery.build("rolling-disk"))
    m = d.tape.names["m"]
    expected = {
        "F*_1": "F₁*",
        "p_theta": "p_θ",
        "theta'": "θ̇",
        "T̄": "T̄",
        "−∂H/∂phi": "−∂H/∂φ",
        "∂x/∂phi of disk": "∂x/∂φ of disk",
        "a name in words": "a name in words",
        "v of upper rod": "v of upper rod",
    }
    assert [f"{left}|m" for left in expected.values()] == with_items(
        *(StepItem(label, m) for label in expected)
    )


def test_a_coordinate_as_label():
    d = da.kane(gallery.build("rolling-disk"))
    m = d.tape.names["m"]
    assert ["along θ|m"] == with_items(StepItem("theta", m), formula="Σ m a·r_k")
    assert ["Q_θ|m"] == with_items(StepItem("theta", m), formula="Q_k = Σ F·r_k")
    assert ["|m = 0"] == with_items(StepItem("theta", m), formula="Q_k = 0")


def test_words_stay_words():
    assert ["why|because"] == with_items(StepItem("why", "because"))


def test_vectors():
    s = da.System("Vectors")
    x, y = s.coordinates("x y")
    B = s.N.rotated(y, s.N.z, "B")
    writing = FormulaWriter()
    assert "x N.x − N.y + (x − y) B.z" == Text()(
        writing.vector(x * s.N.x - s.N.y + (x - y) * B.z).tree
    )
    assert "0" == Text()(writing.vector(0 * s.N.x).tree)
    assert r"-x\,\mathbf{e}^{B}_{x}" == Latex()(writing.vector(-x * B.x).tree)
    odd = s.N.rotated(x, s.N.z, "a_b c")
    assert r"\mathbf{e}^{\text{a\_b c}}_{x}" == Latex()(writing.vector(odd.x).tree)


def test_speeds_that_are_rates_say_so():
    d = da.kane(gallery.build("double-pendulum"))
    (only,) = derivation_steps.rates(d, FormulaWriter())
    assert "The speeds are the rates of the coordinates, u = q̇." == "".join(
        map(span_text, only.spans)
    )


def test_a_derivation_document_begins_with_what_it_is_about():
    system = gallery.build("vehicle")
    subject = system_report.ReportSubject(system, "A title", "A source", "A description")
    blocks = list(system_report.derivation_report(subject, [da.kane(system)], FormulaWriter()))
    assert Heading(1, "A title") == blocks[0]
    assert ("A description",) == blocks[1].spans
    assert "F_r + F_r* = 0" == span_text(blocks[4].spans[0])
