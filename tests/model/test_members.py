"""Members as a user declares them, and what is refused at the line that declares it."""

import pytest

import dalembert as da
from dalembert.errors import BadDescription, IllPosed


@pytest.fixture
def s():
    return da.System("members")


def beam(s, name="beam", **changed):
    given = {
        "at": s.O,
        "along": s.N.x,
        "bending": s.N.y,
        "length": 2,
        "stiffness": 3,
        "density": 4,
    } | changed
    return s.beam(name, **given)


def test_a_beam_knows_its_fields_and_their_geometric_conditions(s):
    b = beam(s, bending=(s.N.y, s.N.z), axial=5, torsion=6, polar=7, right="pinned")
    assert ["v", "w", "u", "phi"] == [f.symbol for f in b.fields]
    assert ((0, 0), (0, 1), (1, 0)) == b.essential_conditions(b.fields[0])
    # bent, it draws its far end in: that end slides along
    assert ((0, 0),) == b.essential_conditions(b.fields[2])
    assert s.members == {"beam": b}
    assert str(b) == "Member('beam': beam, clamped–pinned)"


def test_shear_makes_sections_turn_by_themselves(s):
    b = beam(s, shear=5, rotary=1)
    assert [("v", 1), ("psi", 1)] == [(f.symbol, f.order) for f in b.fields]
    assert [((0, 0),), ((0, 0),)] == [b.essential_conditions(f) for f in b.fields]


def test_properties_are_functions_of_the_place(s):
    L, EI = s.constants(L=2, EI=5)
    b = beam(s, length=L, stiffness=lambda x: EI * (1 - x / L) ** 3)
    assert "x_beam" == b.x.name
    assert b.stiffness[0] == EI * (1 - b.x / L) ** 3


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"stiffness": -1}, "beam 'beam': its stiffness is -1; it must be positive"),
        ({"stiffness": 0}, "its stiffness is 0"),
        ({"density": 0}, "its density is 0; it must be positive"),
        ({"density": lambda x: 1 - x}, r"its density is 0 at x = 0\.5 of its length"),
        ({"length": -2}, "its length is -2"),
        ({"bending": ()}, "give one direction of bending or two"),
        ({"shear": 1}, "give rotary="),
        ({"stiffness": (1, 2, 3)}, "stiffness has 3 entries"),
        (
            {"left": "free"},
            r"its ends \(free–free\) allow a rigid motion: it can move sideways as a whole",
        ),
        (
            {"left": "pinned"},
            r"its ends \(pinned–free\) allow a rigid motion: it can rotate as a whole",
        ),
        (
            {"left": "sliding"},
            r"its ends \(sliding–free\) allow a rigid motion: it can move sideways",
        ),
        ({"left": "glued"}, "end 'glued': an end is clamped"),
    ],
)
def test_bad_properties_are_refused(s, changed, message):
    with pytest.raises(BadDescription, match=message):
        beam(s, **changed)
    assert {} == s.members


def test_directions_at_right_angles_in_one_frame(s):
    with pytest.raises(BadDescription, match="its directions are not at right angles"):
        beam(s, bending=s.N.x)
    with pytest.raises(BadDescription, match=r"an axis must be fixed in the parent frame"):
        beam(s, along=s.N.x, bending=s.N.rotated(s.coordinate("theta"), s.N.z).y)


def test_what_moves_cannot_be_a_property(s):
    q = s.coordinate("q")
    with pytest.raises(
        BadDescription, match="its stiffness depends on q; it must not change with time"
    ):
        beam(s, stiffness=1 + q**2)
    with pytest.raises(BadDescription, match="its length depends on q"):
        beam(s, length=2 + q)


@pytest.mark.parametrize(
    ("support", "what"), [("clamped", "turning_spring"), ("pinned", "spring"), ("pinned", "damper")]
)
def test_an_end_that_is_held_and_sprung_is_over_supported(s, support, what):
    with pytest.raises(
        BadDescription,
        match=f"its right end is over-supported, {support} there and given a "
        f"{what.replace('_', ' ')}",
    ):
        beam(s, right=s.end(support, **{what: 1}))


def test_springs_hold_what_supports_leave_loose(s):
    beam(s, "one", left=s.end("free", spring=1), right=s.end("free", spring=1))
    beam(s, "two", left=s.end("pinned", turning_spring=1))
    beam(s, "three", left="free", loose=True)
    beam(s, "four", right=s.end("pinned", mass=1))
    assert 4 == len(s.members)


def test_ends_are_refused_in_words(s):
    with pytest.raises(BadDescription, match="end: its turning spring is -1; it must be positive"):
        s.end(turning_spring=-1)
    with pytest.raises(BadDescription, match="a body with a moment of inertia has a mass too"):
        s.end(inertia=1)
    with pytest.raises(
        BadDescription,
        match="its right end has a spring, but no motion of this member acts on it; give "
        "axial_spring=",
    ):
        s.bar("bar", s.O, s.N.x, 1, 1, 1, right=s.end(spring=1))


def test_a_string_needs_a_tension(s):
    with pytest.raises(
        BadDescription, match="it has no stiffness; give its tension, or shortening=True"
    ):
        s.string("string", s.O, s.N.x, s.N.y, 1, 1)


def test_names_are_used_once(s):
    beam(s)
    with pytest.raises(BadDescription, match="'beam' is declared already, as a member"):
        beam(s)
    with pytest.raises(BadDescription, match="'beam' is declared already"):
        s.coordinate("beam")


def test_a_continuum_is_not_ignored_in_silence(s):
    beam(s)
    s.particle("p", 1, s.O.offset(s.coordinate("q") * s.N.x))
    with pytest.raises(
        IllPosed,
        match=r"beam 'beam' is a continuum.*da\.discretise\(s, beam, "
        r"4\).*da\.extended_hamilton\(s\)",
    ):
        da.kane(s)
