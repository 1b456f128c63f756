"""Euler's loads, from the characteristic equation with the compressive force as the unknown."""

import math

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import NotApplicable


def member(left, right, EI=3, L=2, **more):
    s = da.System("column")
    ends = [e(s) if callable(e) else e for e in (left, right)]
    s.beam("beam", s.O, s.N.x, s.N.y, L, EI, 1, left=ends[0], right=ends[1], **more)
    return s


EULER = [
    ("pinned", "pinned", math.pi, "sin kL = 0"),
    ("clamped", "free", math.pi / 2, "cos kL = 0"),
    ("clamped", "clamped", 2 * math.pi, "1 − cos kL − 1/2 kL sin kL = 0"),
    ("clamped", "pinned", 4.493409457909064, "sin kL − kL cos kL = 0"),
    ("clamped", "sliding", math.pi, "sin kL = 0"),
]


@pytest.mark.parametrize(("left", "right", "kL", "printed"), EULER)
def test_eulers_cases(left, right, kL, printed):
    found = da.member_buckling(member(left, right), count=2)
    assert kL**2 * 3 / 2**2 == pytest.approx(found.critical, rel=1e-15)
    assert kL == pytest.approx(found.loads[0].wave_number, rel=1e-15)
    assert printed == found.characteristic[0].text
    assert 1e-17 > found.loads[0].error
    assert found.forces == sorted(found.forces)


def test_the_shape_it_buckles_into():
    load = da.member_buckling(member("pinned", "pinned"), count=1).loads[0]
    x = np.linspace(0, 2, 21)
    assert np.sin(math.pi * x / 2) == pytest.approx(load.shape(x), abs=1e-13)


def test_a_spring_at_the_end():
    # rigid limit of a cantilever with a lateral spring: between the free and the pinned column
    free, held = (
        da.member_buckling(member("clamped", right), count=1).critical
        for right in ("free", "pinned")
    )
    sprung = da.member_buckling(
        member("clamped", lambda s: s.end("free", spring=4)), count=1
    ).critical
    assert free < sprung < held
    # tan kL = kL − (kL)³ EI/(k L³)
    z = math.sqrt(sprung * 4 / 3)
    assert z - z**3 * 3 / (4 * 8) == pytest.approx(math.tan(z), rel=1e-12)


def test_the_lowest_frequency_vanishes_at_the_critical_force():
    P = da.member_buckling(member("clamped", "pinned"), count=1).critical
    frequencies = [
        da.member_modes(member("clamped", "pinned", tension=-P * share), count=1).frequencies[0]
        for share in (0, 0.5, 0.999999)
    ]
    assert frequencies[0] > frequencies[1] > 1000 * frequencies[2] / 2
    with pytest.raises(NotApplicable, match="not stable in its straight state"):
        da.member_modes(member("clamped", "pinned", tension=-P * 1.0001), count=1)


def test_a_tapered_column():
    # EI (1 + x)⁴ v″ + P v = 0, pinned on 0 ≤ x ≤ 1: v = (1 + x) sin(k/(1 + x) + c), so k/2 = π and
    # P = 4π² EI
    s = member("pinned", "pinned", EI=lambda x: (1 + x) ** 4, L=1)
    found = da.member_buckling(s, count=2)
    assert [4 * math.pi**2, 16 * math.pi**2] == pytest.approx(found.forces, rel=1e-12)
    assert "degree" in str(found)


def test_shear_lowers_the_load():
    # pinned, Engesser: P = P_E/(1 + P_E/kGA)
    s = member("pinned", "pinned", shear=50, rotary=1)
    P_E = math.pi**2 * 3 / 4
    assert P_E / (1 + P_E / 50) == pytest.approx(da.member_buckling(s, count=1).critical, rel=1e-13)


def test_its_own_weight_lowers_the_load():
    # a standing column buckles under its own weight alone at q L = 7.8373 EI/L²
    def column(q):
        s = da.System("column", gravity=q, up="x")
        s.beam("beam", s.O, s.N.x, s.N.y, 1, 1, 1, shortening=True)
        return s

    P = [da.member_buckling(column(q), count=1).critical for q in (1e-9, 2, 4, 7.837)]
    assert math.pi**2 / 4 == pytest.approx(P[0], rel=1e-8)
    assert P == sorted(P, reverse=True)
    assert 1e-3 > P[-1] > 0
    with pytest.raises(NotApplicable, match="not stable in its straight state"):
        da.member_buckling(column(7.838), count=1)


def test_what_does_not_bend_does_not_buckle():
    s = da.System("shaft")
    s.bar("bar", s.O, s.N.x, 1, 1, 1)
    with pytest.raises(NotApplicable, match="does not bend, so it does not buckle"):
        da.member_buckling(s)
    with pytest.raises(NotApplicable, match="'chain' does not bend, so it does not buckle"):
        da.member_buckling(gallery.build("hanging-chain"))


def test_the_table_and_the_plot(tmp_path):
    found = da.member_buckling(member("pinned", "pinned", EI=1, L=1))
    assert "9.869604401089358" in str(found)
    assert "k² = P" in str(found)
    found.plot(tmp_path / "buckled.png")
    assert (tmp_path / "buckled.png").stat().st_size > 5_000
