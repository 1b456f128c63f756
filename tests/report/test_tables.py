"""What a system consists of."""

from fractions import Fraction

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.interface.report import result_blocks, system_tables
from dalembert.interface.report.document_blocks import FormulaSpan, TableBlock
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.interface.report.terminal_renderer import span_text
from dalembert.symbolic.algebra.printing.print_tree import NamedSymbol

W = FormulaWriter()


def rows(table: TableBlock) -> dict[str, tuple[str, ...]]:
    return {span_text(row[0]): tuple(map(span_text, row[1:])) for row in table.rows}


def words_of(blocks) -> str:
    return " ".join("".join(map(span_text, b.spans)) for b in blocks if hasattr(b, "spans"))


def test_symbols_with_their_meaning():
    found = rows(system_tables.symbol_table(gallery.build("moving-knife-edge"), W))
    assert ("theta", "coordinate", "orientation of frame B", "") == found["θ"]
    assert ("L", "constant", "0.4") == (*found["L"][:2], found["L"][3])
    assert ("w", "prescribed motion", "", "1/5 sin(2 t)") == found["w"]
    assert found["u₁"][1:] == ("speed", "", "Ẋ cos θ + Ẏ sin θ − β Y cos(Ω t)")


def test_what_has_no_value_says_so():
    s = da.System("Open")
    x, a = s.coordinate("x"), s.constant("a")
    F, y = s.input("F"), s.specified("y")
    s.particle("P", a, s.O.offset((x + y) * s.N.x))
    s.force(F * s.N.x, at=s.O)
    found = rows(system_tables.symbol_table(s, W))
    assert ("no value", "given at run time", "given at run time") == (
        found["a"][3],
        found["F"][3],
        found["y"][3],
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Fraction(981, 100), "9.81"),
        (3, "3"),
        (Fraction(1, 3), "1/3"),
        (Fraction(1, 10**20), "1e-20"),
    ],
)
def test_numbers(value, expected):
    assert expected == system_tables.number(value)


def test_loads_and_where_they_contribute():
    s = da.System("Bead", gravity=9.81)
    x = s.coordinate("x")
    k, c = s.constants(k=2, c=1)
    P = s.O.offset(x * s.N.x, "P")
    s.particle("bead", 1, P)
    s.potential(k * x**2 / 2, "spring")
    s.dissipation(c * x.dot**2 / 2, "damper")
    s.force(3 * s.N.y, at=P, name="guide")
    s.force(s.N.x, at=P, reaction=P, name="pair")
    (table,) = system_tables.load_table(da.kinematics(s), W)
    assert {
        "weight of bead": (
            "−9.81 N.y at P",
            "none: noncontributing (does no work in any admissible motion)",
        ),
        "guide": ("3 N.y at P", "none: noncontributing (does no work in any admissible motion)"),
        "pair": (
            "N.x at P, −N.x at P",
            "none: noncontributing (does no work in any admissible motion)",
        ),
        "spring": ("V = 1/2 k x²", "ẋ"),
        "damper": ("D = 1/2 c ẋ²", "ẋ"),
    } == rows(table)


def test_no_loads():
    s = da.System("Free")
    s.particle("P", 1, s.O.offset(s.coordinate("x") * s.N.x))
    assert "No loads act on it." == words_of(system_tables.load_table(da.kinematics(s), W))


def test_freedoms_of_configuration_and_of_velocity():
    def said(name):
        return words_of([system_tables.dof_summary(da.kinematics(gallery.build(name)))])

    assert (
        "1 coordinate, no constraint rows: 1 degree of freedom in configuration, 1 in velocity."
        == said("simple-pendulum")
    )
    assert said("free-body-quaternion").startswith(
        "7 coordinates, 1 holonomic and 0 nonholonomic constraint rows: 6 degrees"
    )


def test_quaternion_norms_are_named():
    assert "norm of the quaternion of B" in words_of(
        system_tables.constraints(da.kinematics(gallery.build("free-body-quaternion")), W)
    )


def test_what_drops_out_is_named():
    d = da.kane(gallery.build("hoist"))
    assert "No equation of motion depends on m_Q, x." == words_of(
        result_blocks.absent_parameters(d, W)
    )
    assert "" == words_of(
        result_blocks.absent_parameters(da.kane(gallery.build("cart-and-bar")), W)
    )


def test_a_printed_result_is_believed_only_if_it_follows():
    s = gallery.build("simple-pendulum")
    d = da.kane(s)
    entry = gallery.entry("simple-pendulum").printed[0]
    combination = tuple((n, s.expression(k)) for n, k in entry.combination)
    right = result_blocks.PublishedResult("right", s.expression(entry.residual), combination)
    wrong = result_blocks.PublishedResult("wrong", 2 * s.expression(entry.residual), combination)
    assert [True, False] == [v.holds for v in result_blocks.check_published([right, wrong], d)]
    shown = list(result_blocks.published_results([right, wrong], "LL76 §5", d, W))
    assert "1 of 2 do NOT follow from the derived equations." == words_of(shown)
    notes = [line.note for block in shown for line in getattr(block, "lines", ())]
    assert [("LL76 right",), ("LL76 wrong: NOT reproduced",)] == notes
    assert [] == list(result_blocks.published_results([], "", d, W))


def test_bodies():
    found = rows(system_tables.body_table(gallery.build("cart-and-bar"), W))
    assert {"cart": ("particle", "M", "C", ""), "bar": ("rigid body", "m", "G", "B")} == found
    assert (
        FormulaSpan(NamedSymbol("M", "M"))
        == system_tables.body_table(gallery.build("cart-and-bar"), W).rows[0][2]
    )


def test_contacts_say_what_their_forces_follow_from():
    s = da.System("block", gravity=9.81)
    x, y = s.coordinates("x y")
    mu = s.constant("mu", 0.3)
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("block", 2, P)
    s.contact(P, friction=mu, static=0.5, restitution=0.2, name="floor")
    s.friction(x.dot - 1, 0.1, normal=7, name="belt")
    found = rows(system_tables.contact_table(s, W))
    assert ("y", "N_floor", "ẋ", "μ", "1/2", "1/5") == found["floor"]
    assert ("", "7", "ẋ − 1", "1/10", "1/10", "") == found["belt"]
    symbols = rows(system_tables.symbol_table(s, W))
    assert {"solved for during the simulation"} == {
        symbols[name][-1] for name in ("N_floor", "T_floor", "T_belt")
    }
    assert (
        system_tables.contact_table(s, W) == list(system_tables.load_table(da.kinematics(s), W))[-1]
    )
