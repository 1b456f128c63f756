"""Units are read exactly; dimensions follow from use; unlike terms are refused where they are
made.
"""

from __future__ import annotations

import dataclasses
import re
from fractions import Fraction

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.gallery import spatial_chain
from dalembert.mechanics.model.dimension_check import DimensionChecker
from dalembert.symbolic.units.quantities import (
    ascii_unit,
    has_unit,
    parse_quantity,
    parse_unit,
    unit_text,
)


@pytest.mark.parametrize(
    ("text", "value", "dimension"),
    [
        ("2 kg", 2, "kg"),
        ("50 cm", Fraction(1, 2), "m"),
        ("3 N/m", 3, "N/m"),
        ("9.81 m/s²", Fraction(981, 100), "m/s²"),
        ("1/2 kg*m**2", Fraction(1, 2), "kg m²"),
        ("7800 kg/m^3", 7800, "kg/m³"),
        ("1 in", Fraction(254, 10000), "m"),
    ],
)
def test_units_are_exact(text, value, dimension):
    found = parse_quantity(text)
    assert value == found.value
    assert dimension == unit_text(found.dimension)
    assert found.dimension == parse_unit(ascii_unit(found.dimension))[1]


def test_degrees_are_exact_to_the_last_digit_of_a_double():
    for k in range(1, 361):
        # π to forty digits
        assert float(Fraction("3.141592653589793238462643383279502884197") * k / 180) == float(
            parse_quantity(f"{k} deg").value
        )


@pytest.mark.parametrize(
    "text",
    [
        "20 degC",
        "50 Hz",
        "2 kHz",
        "3 A",
        "2 foo",
        "kg",
        "2 kg**",
        "2 m**m",
        "1 __import__('os')",
        "2 kg**999999999",
    ],
)
def test_what_is_no_unit_of_mechanics_is_refused(text):
    with pytest.raises(da.BadDescription):
        parse_quantity(text)


def test_a_number_by_itself_has_no_unit():
    assert not any(map(has_unit, ("2", "2/3", "1e-3", "2*pi", "pi/3", "x")))


def described():
    s = da.System("Pendulum")
    m, l, g, k = s.constants(m="2 kg", l="50 cm", g="9.81 m/s**2", k="3 N/m")
    s.gravity(-g * s.N.y)
    return s, m, l, k, s.rod("bar", s.pin("theta", s.O), m, l)


def test_what_is_not_said_is_inferred():
    s, m, *_ = described()
    x = s.slide("x", s.O)
    c = s.constant("c")
    s.particle("bead", m, x)
    s.dissipation(c * s["x"].dot ** 2 / 2)
    known = {name: unit_text(d) for name, d in s.known_dimensions().items()}
    assert {"theta": "", "x": "m", "c": "N s/m"}.items() <= known.items()


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        (
            lambda s, m, l, k, bar: s.potential(k * s["theta"] ** 2),
            "potential 1: k θ² has [N/m], but [N m] is needed",
        ),
        (
            lambda s, m, l, k, bar: s.potential(k * l**2 + m * l),
            "unlike terms: l² k has [N m], m l has [kg m]",
        ),
        (
            lambda s, m, l, k, bar: s.particle("p", l, s.O),
            "its mass: l has [m], but [kg] is needed",
        ),
        (lambda s, m, l, k, bar: s.force(m * s.N.x, bar.tip), "m has [kg], but [N] is needed"),
        (
            lambda s, m, l, k, bar: s.O.offset(0.5 * s.N.x),
            "a plain number has no dimension where units are used",
        ),
        (lambda s, m, l, k, bar: s.N.rotated(l, s.N.z), "l has [m], but no dimension is needed"),
        (lambda s, m, l, k, bar: s.constrain(s["theta"] + l), "unlike terms"),
        (lambda s, m, l, k, bar: s.potential(k * l**2 * da.sin(l)), "but sin takes a number"),
    ],
)
def test_unlike_terms_are_refused_at_the_line_that_makes_them(mistake, said):
    s, *others = described()
    before, tables = (
        s.cache_key(),
        (len(s.space.frames), len(s.space.points), dict(s.space.journal.dimensions.checked_counts)),
    )
    with pytest.raises(da.BadDimension, match=re.escape(said)):
        mistake(s, *others)
    # nothing of it stays, so the next declaration is read as if it had not been tried
    assert (before, tables) == (
        s.cache_key(),
        (len(s.space.frames), len(s.space.points), dict(s.space.journal.dimensions.checked_counts)),
    )
    s.potential(s["k"] * s["l"] ** 2 * s["theta"] ** 2 / 2)
    # θ̈ = −(m g l/2 + k l²) θ/(m l²/3)
    assert -33.93 == pytest.approx(da.linearize(s).A[1, 0])


def test_a_unit_that_does_not_fit_what_was_there_is_taken_back():
    s = da.System("Bead")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x, "P")
    k = s.constant("k")
    s.potential(k * x)
    s.units(k="N")
    with pytest.raises(da.BadDimension, match="its mass"):
        s.particle("bead", k, P)
    with pytest.raises(da.BadDimension, match=r"x has \[m\], not \[kg\]"):
        s.units(x="kg")
    with pytest.raises(da.BadDimension, match=r"k has \[N\], not \[kg\]"):
        s.units(k="kg")
    assert {"k": "N", "x": "m"} == {n: unit_text(d) for n, d in s.known_dimensions().items()}
    with pytest.raises(da.BadDimension):
        s.specified("k_2", k + s.t)
    m = s.constant("k_2", "2 kg")
    s.particle("bead", m, P)
    assert da.agreement(s).holds


def test_without_units_nothing_is_asked():
    s = da.System("Pendulum", gravity=9.81)
    s.rod("bar", s.pin("theta", s.O), 1, 1)
    s.potential(s["theta"] ** 2)
    assert {} == s.known_dimensions()


def without_values(s):
    """A system whose constants are known by their use alone; motions keep no plain numbers."""
    for symbol, x in list(s.symbols.items()):
        s.symbols[symbol] = dataclasses.replace(x, value=None, motion=None)
    return s


@pytest.mark.parametrize("name", gallery.names())
def test_every_gallery_system_has_dimensions(name):
    s = without_values(gallery.build(name))
    d = DimensionChecker(s)
    d.check_new()
    known = d.known_dimensions()
    # given back as units, they fit
    s.dimensions |= {
        n: known[n] for n, x in s.symbols.items() if x.kind == "constant" and n in known
    }
    again = DimensionChecker(s)
    again.check_new()
    assert known == again.known_dimensions()
    # what only a motion contains is not known without it
    assert set(s.symbols) - set(known) <= {"Omega"}


def test_the_chain_has_dimensions_where_its_numbers_have_names_and_not_where_they_are_plain():
    d = DimensionChecker(without_values(spatial_chain.build(symbolic=True)))
    d.check_new()
    assert {"m_3": "kg", "c_2x": "m", "I_1xy": "kg m²", "g": "m/s²"}.items() <= {
        n: unit_text(x) for n, x in d.known_dimensions().items()
    }.items()
    with pytest.raises(da.BadDimension, match=r"a plain number has no dimension|takes a number"):
        DimensionChecker(without_values(spatial_chain.build())).check_new()


def test_values_with_units_are_read_wherever_values_are():
    s = da.System("Pendulum")
    m, l, g = s.constants(m="2 kg", l="50 cm", g="9.81 m/s**2")
    s.gravity(-g * s.N.y)
    s.rod("bar", s.pin("theta", s.O), m, l)
    heavier = {"m": "3000 g"}
    # θ̈ = ∓3 g/2l θ
    assert -1.5 * 9.81 == pytest.approx(da.linearize(s, values={"l": "1000 mm"}).A[1, 0])
    assert 3 * 9.81 == pytest.approx(da.linearize(s, about={"theta": "180 deg"}).A[1, 0])
    (upright,) = da.equilibria(s, {"theta": ("170 deg", "3.2 rad")}, values=heavier)
    assert 180 == pytest.approx(np.degrees(upright.point["theta"]))
    assert da.equilibrium(s, guess={"theta": "170 deg"}).point == pytest.approx(upright.point)
    text = str(da.energy_integrals(s, values=heavier))
    assert all(head in text for head in ("K₂ [J]   = ", "𝒫_nc [W] = ", "Ż [W]    = "))
    for read in (da.linearize, da.energy_integrals, da.equilibrium):
        with pytest.raises(da.DalembertError, match=r"m: '3 s' has \[s\], but \[kg\] is needed"):
            read(s, values={"m": "3 s"})


def test_what_is_shown_says_its_unit(tmp_path):
    s, *_ = described()
    s.particle("bead", s["m"], s.slide("x", s.O))
    s.potential(s["k"] * s["x"] ** 2 / 2)
    run = da.simulate(
        s, 0.1, start={"theta": "30 deg", "x": "2 cm", "x.dot": "1 m/s"}, progress=False
    )
    assert pytest.approx((0.5235987755982988, 0.02), rel=1e-15) == run.q[0]
    run.write(tmp_path / "run.csv")
    head = (tmp_path / "run.csv").read_text(encoding="utf-8").partition("\n")[0]
    assert "t [s],theta [rad],x [m],theta.dot [rad/s],x.dot [m/s]" == head.strip()
    run.plot("x", path=tmp_path / "run.svg")
    assert "x  [m]" in (tmp_path / "run.svg").read_text(encoding="utf-8")
    assert "N m" == s.unit("m*g*x")
    assert all(head in str(run.start) for head in ("theta [rad]  ", "x [m]  ", "x.dot [m/s]  "))
    assert " relative to " in str(run.integrals)
    assert " J, " in str(run.integrals)
    with pytest.raises(da.BadDescription, match=r"x: '2 kg' has \[kg\], but \[m\] is needed"):
        da.simulate(s, 0.1, start={"x": "2 kg"})


def test_forces_rests_modes_and_pages_say_their_units():
    from dalembert.interface.page.parts.motion import plot_groups

    s, m, l, k, _ = described()
    x, y = s.coordinates("x y")
    s.particle("bead", m, s.O.offset(x * s.N.x + y * s.N.y, "B"))
    s.potential(k * x**2 / 2)
    s.constrain(y - l, name="shelf")
    rest = str(da.equilibrium(s))
    # two kilograms on a shelf
    assert "λ of 'shelf' = 19.62 N" in rest
    assert "theta = 0 rad\n" in rest
    assert "eigenvalue [1/s]" in str(da.linearize(s))
    run = da.simulate(s, 0.1, start={"theta": "30 deg"}, progress=False)
    assert "force of shelf  19.62 N" in str(run.reactions)
    panels = [p for _, group in plot_groups(run, run) for p in group]
    titles = "".join(text for p in panels for text in (p.title, *(c.name for c in p.curves)))
    assert all(unit in titles for unit in ("[rad]", "[m]", "[rad/s]", "[m/s]", "[N]"))


def test_nothing_says_a_unit_where_none_was_given():
    s = gallery.build("cart-and-bar")
    run = da.simulate(s, 0.1, start={"theta": 0.1}, inputs={"F": 0}, progress=False)
    assert not any(
        sign in f"{run}{run.reactions}{da.linearize(s)}" for sign in ("[", " N\n", " J", "rad")
    )
