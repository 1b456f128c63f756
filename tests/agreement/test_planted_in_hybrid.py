"""A turned sign in anything that hybrid equations display, or a turned sign or a dropped term in
any of their formulas, is found.
"""

from dataclasses import replace
from functools import cache

import pytest

import dalembert as da
from agreement.test_planted_in_print import in_every_item, variants
from dalembert.mechanics.kinetics.quantity import Quantity
from dalembert.symbolic.algebra import formula as f
from flexible import test_hybrid as systems
from laws.printed_hybrid import HybridReader
from laws.test_printed_hybrid import derived


def floating(s):
    """A base that moves and turns every way, so that no term of a formula vanishes."""
    x, y = s.coordinates("x_c y_c")
    B = s.N.rotations("zyx", *s.coordinates("alpha beta gamma"))[-1]
    C = s.O.offset(x * s.N.x + y * s.N.y)
    M, H = s.constants(M=2, H=3)
    s.body("base", M, C, B, da.inertia(B, M, 2 * M, 3 * M))
    s.spring(M, C, s.O)
    s.force(H * B.x, C)
    s.torque(H * s.N.z, B)
    return C, B


CASES = {
    "tip": (floating, systems.loaded_tip),
    "shortened": (floating, systems.pressed),
    "everything": (floating, systems.everything),
    "sheared": (floating, systems.sheared),
    "shaft": (floating, systems.twisted_shaft),
}
# in speeds, with rows: where some terms vanish
OTHERS = {"ball": (systems.ball, systems.pressed), "sledge": (systems.sledge, systems.loaded_tip)}


@cache
def hybrid(name):
    return derived(*(CASES | OTHERS)[name])


@pytest.mark.each_time(2)
@pytest.mark.parametrize("name", [*CASES, *OTHERS])
def test_a_turned_sign_in_any_displayed_quantity(name):
    h = hybrid(name)
    planted = list(in_every_item(h))
    assert len(planted) > 10
    assert [] == [what for what, steps in planted if not HybridReader(h, steps).broken()]


@pytest.mark.each_time(2)
@pytest.mark.parametrize("name", CASES)
def test_a_turned_sign_or_a_dropped_term_in_any_printed_formula(name):
    h = hybrid(name)
    reader = HybridReader(h)
    planted, missed = 0, []
    # r − r_P is one name, not a difference to plant errors in
    names = {
        a.symbol: f.Symbol(f"from {k}")
        for k, a in enumerate(h.quantities)
        if isinstance(a.symbol, f.Sum)
    }
    reader.values |= {new: reader.values[old] for old, new in names.items()}
    for a in h.quantities:
        assert isinstance(a, Quantity)
        if a.formula == a.symbol:
            continue
        tree = f.substitute(a.formula, names)
        wrong = [*variants(tree), *([] if isinstance(tree, f.Equation) else [-tree])]
        planted += len(wrong)
        for tree in wrong:
            other = replace(a, rule=tree)
            reader.shown[id(other)] = reader.shown[id(a)]
            if reader.vanish(reader.differences(other)):
                missed.append((a.title, tree))
    assert planted > 10
    assert [] == missed
