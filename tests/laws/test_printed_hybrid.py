"""What hybrid equations print is what was computed: every formula gives its value, and the
statements give the equations.
"""

import pytest

import dalembert as da
from dalembert import gallery
from flexible import test_hybrid as systems
from laws.printed_hybrid import HybridReader

BASES = [systems.fixed, systems.cart, systems.ball, systems.sledge, systems.quaternion]
GALLERY = [name for name in gallery.names() if gallery.build(name).members]


def derived(base, declare, *, speeds=None):
    s = da.System("system", gravity=9.81)
    declare(s, *base(s))
    return da.extended_hamilton(s, speeds=speeds)


def check(h):
    assert [] == HybridReader(h).broken()
    # what is told last of each kind are the equations themselves
    shown = {(step.title, str(item.label)): item.value for step in h.steps for item in step.items}
    assert {o.residual for o in h.ordinary} | {p.residual for p in h.partial} <= set(shown.values())
    assert {b.residual for b in h.boundary if b.kind == "natural"} <= set(shown.values())


@pytest.mark.each_time(12)
@pytest.mark.parametrize("declare", systems.MEMBERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("base", BASES, ids=lambda f: f.__name__)
def test_every_printed_formula_gives_what_is_printed(base, declare):
    check(derived(base, declare))


@pytest.mark.parametrize("base", [systems.sledge, systems.quaternion], ids=lambda f: f.__name__)
def test_in_speeds_with_rows(base):
    check(derived(base, systems.loaded_tip, speeds=True))


@pytest.mark.parametrize("declare", [known[0] for known in systems.KNOWN], ids=lambda f: f.__name__)
def test_of_members_alone(declare):
    check(systems.hybrid(declare))


@pytest.mark.parametrize("name", GALLERY)
@pytest.mark.parametrize("speeds", [False, True])
def test_in_the_gallery(name, speeds):
    try:
        h = da.extended_hamilton(gallery.build(name), speeds=speeds)
    except da.NotApplicable:
        # something is attached to a point of the expanded member
        return
    check(h)


def test_of_two_members():
    s = da.System("frame", gravity=3)
    theta = s.coordinate("theta")
    B = s.N.rotated(theta, s.N.z)
    EI, mu, L, F, m = s.constants(EI=1, mu=1, L=2, F=1, m=3)
    s.beam("a", s.O, B.x, B.y, L, EI, mu, shortening=True, right=s.end(mass=m, force=F * s.N.x))
    s.beam("b", s.O, B.y, B.x, 3, EI, mu, load=F * s.N.y)
    check(da.extended_hamilton(s))
