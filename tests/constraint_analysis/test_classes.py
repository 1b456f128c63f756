"""Holonomic or not is a matter of the set of rows: decided by brackets, not by how a row is
written.
"""

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.interface.report import system_tables, terminal_renderer
from dalembert.interface.report.formula_writer import FormulaWriter


def knife_edge(*, turns: bool) -> da.System:
    s = da.System("Knife edge")
    x, y, psi = s.coordinates("x y psi")
    B = s.N.rotated(psi, s.N.z, "B")
    G = s.O.offset(x * s.N.x + y * s.N.y, "G")
    s.particle("sledge", 1, G)
    s.particle("bow", 1, G.offset(B.x, "P"))
    s.constrain(G.v @ B.y, "edge")
    if not turns:
        s.constrain(psi.dot, "no turn")
    return s


def cylinder() -> da.System:
    s = da.System("Cylinder that rolls straight")
    x, theta = s.coordinates("x theta")
    r = s.constant("r", 1)
    B = s.N.rotated(theta, s.N.z, "B")
    s.body("cylinder", 2, s.O.offset(x * s.N.x, "G"), B, da.cylinder_inertia(B.z, 2, r, 1))
    s.constrain(x.dot + r * theta.dot, "rolling")
    return s


def spun() -> da.System:
    s = da.System("Spun")
    phi, z = s.coordinates("phi z")
    Omega = s.specified("Omega")
    B = s.N.rotated(phi, s.N.y, "B")
    s.particle("bead", 1, s.O.offset(B.x + z * s.N.z, "P"))
    s.constrain(phi.dot - Omega, "drive")
    return s


def words(s: da.System) -> dict[str, str]:
    return {c.name: str(c) for c in da.constraints(s).classes}


def test_a_knife_edge_is_nonholonomic_alone_and_holonomic_where_nothing_turns():
    assert {"edge": "nonholonomic"} == words(knife_edge(turns=True))
    assert False is da.constraints(knife_edge(turns=True)).holonomic
    held = da.constraints(knife_edge(turns=False))
    assert True is held.holonomic
    assert {
        "edge": "holonomic after integration",
        "no turn": "holonomic after integration: ψ = constant",
    } == words(knife_edge(turns=False))
    assert "−x sin ψ + y cos ψ = constant" in str(held)


def test_a_cylinder_that_rolls_straight_is_holonomic_after_integration():
    assert {"rolling": "holonomic after integration: x + r θ = constant"} == words(cylinder())


def test_a_given_rate_is_rheonomic_and_holonomic():
    assert {"drive": "rheonomic, holonomic after integration"} == words(spun())


@pytest.mark.parametrize(
    ("name", "holonomic"),
    [
        ("four-bar", True),
        ("rolling-disk", False),
        ("whipple-bicycle", False),
        ("appell-hamel", None),
    ],
)
def test_the_set_of_rows_of_the_gallery(name, holonomic):
    assert holonomic is da.constraints(gallery.build(name)).holonomic


def test_rows_that_integrate_together_and_not_one_by_one():
    found = da.constraints(gallery.build("two-wheeled-robot"))
    assert {"nonholonomic"} == {c.kind for c in found.classes}
    assert 1 == found.integrable


def test_a_full_reach_leaves_no_doubt():
    assert () == da.constraints(gallery.build("whipple-bicycle")).notes


SAID = {
    "cylinder": (
        cylinder(),
        "rolling, holonomic after integration: x + r θ = constant",
        "1 holonomic (1 of them after integration) and 0 nonholonomic",
    ),
    "edge": (
        knife_edge(turns=True),
        "edge, nonholonomic",
        "0 holonomic and 1 nonholonomic constraint rows: 3 degrees of freedom in configuration",
    ),
    "edge held": (
        knife_edge(turns=False),
        "Together the rows edge, no turn integrate: −x sin ψ + y cos ψ = constant",
        "2 holonomic (2 of",
    ),
    "spun": (
        spun(),
        "drive, rheonomic, holonomic after integration",
        "1 degree of freedom in configuration from a given start, 1 in velocity",
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_derivations_say_the_same(name):
    s, *expected = SAID[name]
    kin, W = da.kinematics(s), FormulaWriter()
    text = terminal_renderer.render_text(
        [
            *system_tables.constraints(kin, W),
            system_tables.dof_summary(kin),
            system_tables.dof_table(kin, W),
        ]
    )
    for line in expected:
        assert line in text
