"""Printed results for special cases of systems that no book prints in general."""

import pytest

import dalembert as da
from comparisons import PRINCIPLES
from dalembert.gallery import double_pendulum, pendulum_absolute, pendulum_relative, spatial_chain
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import Substitution
from dalembert.symbolic.algebra.scalar import as_node


@pytest.mark.parametrize("principle", PRINCIPLES)
def test_chain_about_parallel_axes_is_the_pendulum_of_LL76_section_5(principle):
    # hinges about x, masses concentrated at the end of rods along −z: relative angles q_1, q_2
    s = spatial_chain.build(2, axes="x", symbolic=True)
    d = principle(s)
    t = d.tape
    kept = {"l_2z": "-l_1", "c_1z": "-l_1", "c_2z": "-l_2"}
    lengths = {name: s.constant(name, 1) for name in ("l_1", "l_2")}
    values = {name: -lengths[text[1:]] for name, text in kept.items()}
    gone = [
        x
        for x in s.symbols
        if x.startswith(("l_1", "l_2", "c_", "I_")) and x not in {*kept, *lengths}
    ]
    special = Substitution(
        t,
        {as_node(t, s[name]): t.zero for name in gone}
        | {as_node(t, s[name]): as_node(t, e) for name, e in values.items()},
    )
    E1, E2 = (special(e) for e in d.equations.residuals)
    absolute = [
        as_node(
            t,
            s.expression(
                pendulum_relative.to_relative_angles(pendulum_absolute.published_equation(i, 2))
            ),
        )
        for i in (1, 2)
    ]
    assert all(provably_zero(t, [t.sub(t.sub(E1, E2), absolute[0]), t.sub(E2, absolute[1])]))


@pytest.mark.parametrize("principle", PRINCIPLES)
def test_rods_in_absolute_angles_as_Wik_prints_them(principle):
    d = principle(double_pendulum.build(angles="absolute"))
    t, s = d.tape, d.kinematics.system
    printed = [
        (
            "(m_1/3 + m_2)*l_1**2*alpha'' + m_2*l_1*l_2/2*(beta''*cos(alpha - beta) + "
            "beta'**2*sin(alpha - beta))"
            " + (m_1/2 + m_2)*g*l_1*sin(alpha)"
        ),
        (
            "m_2*l_2**2/3*beta'' + m_2*l_1*l_2/2*(alpha''*cos(alpha - beta) - "
            "alpha'**2*sin(alpha - "
            "beta)) + m_2/2*g*l_2*sin(beta)"
        ),
    ]
    assert all(
        provably_zero(
            t,
            [
                t.sub(a, as_node(t, s.expression(b)))
                for a, b in zip(d.equations.residuals, printed, strict=True)
            ],
        )
    )


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("principle", PRINCIPLES)
def test_pendulum_of_n_links(principle, n):
    d = principle(pendulum_absolute.build(n))
    t, s = d.tape, d.kinematics.system
    printed = [
        as_node(t, s.expression(pendulum_absolute.published_equation(i, n)))
        for i in range(1, n + 1)
    ]
    assert all(
        provably_zero(t, [t.sub(a, b) for a, b in zip(d.equations.residuals, printed, strict=True)])
    )


def test_defaults_of_the_chain_are_the_same_numbers_with_symbols():
    numbers, symbols = spatial_chain.build(2), spatial_chain.build(2, symbolic=True)
    masses = [b.mass.value for b in numbers.bodies]
    assert masses == [symbols.symbols[b.mass.name].value for b in symbols.bodies]
    assert isinstance(da.kane(symbols), da.Derivation)
