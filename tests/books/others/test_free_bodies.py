"""Newton–Euler of four systems, body by body, against balances written by hand: every term,
every reaction.
"""

import random

import pytest
import sympy

import dalembert as da
from dalembert import gallery

# (what must vanish, by hand); a dash is a rate, f and mu what a joint exerts on the body beyond it
BY_HAND = {
    "mass-on-incline": [
        # the slope falls to the right: e_r = cos θ i − sin θ j
        "m*cos(theta)*r'' - f_1x",
        "-m*sin(theta)*r'' + m*g - f_1y",
        # smooth along the slope but for the spring
        "f_1x*cos(theta) - f_1y*sin(theta) + k*r",
    ],
    "cart-and-bar": [
        "M*x'' - f_1x + f_2x",
        "M*g - f_1y + f_2y",
        "m*(x'' + a*theta''*cos(theta) - a*theta'**2*sin(theta)) - F - f_2x",
        "m*(a*theta''*sin(theta) + a*theta'**2*cos(theta)) + m*g - f_2y",
        # about G: the hinge is at a (−sin θ, cos θ), the force F at a (sin θ, −cos θ)
        "m*a**2/3*theta'' - (-a*sin(theta)*f_2y - a*cos(theta)*f_2x) - a*cos(theta)*F - mu_2z",
        "f_1x + k*x",
        "mu_2z",
    ],
    "hoist": [
        "m_Q*x'' - f_1x + f_2x",
        "m_Q*g - f_1y + f_2y*cos(theta) - f_2z*sin(theta)",
        "-f_1z + f_2y*sin(theta) + f_2z*cos(theta)",
        "mu_2x - mu_1x",
        "mu_2y*cos(theta) - mu_2z*sin(theta) - mu_1y",
        "mu_2y*sin(theta) + mu_2z*cos(theta) - mu_1z",
        "m_B*x'' - f_2x",
        "m_B*L*theta'**2 + m_B*g*cos(theta) - f_2y",
        "-m_B*L*theta'' - m_B*g*sin(theta) - f_2z",
        # about the mass centre: the hinge is at L b_y
        "I*theta'' - L*f_2z - mu_2x",
        "-mu_2y",
        "L*f_2x - mu_2z",
        "mu_2x",
    ],
    "four-bar": [
        "rho*l_1*(-l_1/2*theta_1''*sin(theta_1) - l_1/2*theta_1'**2*cos(theta_1)) - f_1x + f_2x",
        (
            "rho*l_1*(l_1/2*theta_1''*cos(theta_1) - l_1/2*theta_1'**2*sin(theta_1)) + rho*l_1*g - "
            "f_1y + f_2y"
        ),
        (
            "rho*l_1**3/12*theta_1'' - (l_1/2*sin(theta_1)*f_1x - l_1/2*cos(theta_1)*f_1y)"
            " + (l_1/2*cos(theta_1)*f_2y - l_1/2*sin(theta_1)*f_2x) - mu_1z + mu_2z"
        ),
        (
            "rho*l_2*(-l_1*theta_1''*sin(theta_1) - l_1*theta_1'**2*cos(theta_1)) - f_2x - lambda_1"
            " + rho*l_2*(-l_2/2*theta_2''*sin(theta_2) - l_2/2*theta_2'**2*cos(theta_2))"
        ),
        (
            "rho*l_2*(l_1*theta_1''*cos(theta_1) - l_1*theta_1'**2*sin(theta_1)) + rho*l_2*g - "
            "f_2y - lambda_2"
            " + rho*l_2*(l_2/2*theta_2''*cos(theta_2) - l_2/2*theta_2'**2*sin(theta_2))"
        ),
        (
            "rho*l_2**3/12*theta_2'' - (l_2/2*sin(theta_2)*f_2x - l_2/2*cos(theta_2)*f_2y)"
            " - (l_2/2*cos(theta_2)*lambda_2 - l_2/2*sin(theta_2)*lambda_1) - mu_2z"
        ),
        (
            "rho*l_3*(w'' - l_3/2*theta_3''*sin(theta_3) - l_3/2*theta_3'**2*cos(theta_3)) - "
            "f_3x + "
            "lambda_1"
        ),
        (
            "rho*l_3*(l_3/2*theta_3''*cos(theta_3) - l_3/2*theta_3'**2*sin(theta_3)) + rho*l_3*g - "
            "f_3y + lambda_2"
        ),
        (
            "rho*l_3**3/12*theta_3'' - (l_3/2*sin(theta_3)*f_3x - l_3/2*cos(theta_3)*f_3y)"
            " + (l_3/2*cos(theta_3)*lambda_2 - l_3/2*sin(theta_3)*lambda_1) - mu_3z"
        ),
        # angles from the ground: θ₁ turns the first pin and, backwards, the second
        "mu_1z - mu_2z",
        "mu_2z",
        "mu_3z",
    ],
}


def typed(text):
    names = sorted({*(n for n in NAMES if n in text)}, key=len, reverse=True)
    code = text
    for k, name in enumerate(names):
        code = code.replace(name, f"X{k}X")
    return sympy.sympify(
        code,
        {f"X{k}X": sympy.Symbol(name) for k, name in enumerate(names)}
        | {n: sympy.Symbol(n) for n in ("I", "F", "g")},
    )


NAMES = [
    f"{q}{rate}"
    for q in ("r", "x", "w", "theta_1", "theta_2", "theta_3", "theta")
    for rate in ("''", "'")
]


def same(a, b):
    """Equal at two random states, to 25 digits."""
    draw = random.Random(1)
    symbols = sorted(a.free_symbols | b.free_symbols, key=str)
    for _ in range(2):
        at = {x: sympy.Rational(draw.randrange(100, 900), 997) for x in symbols}
        if abs((a - b).subs(at).evalf(40)) > 1e-25:
            return False
    return True


@pytest.mark.parametrize("name", list(BY_HAND))
def test_balances_and_joints_equal_those_by_hand(name):
    d = da.newton_euler(gallery.build(name))
    balances, joints = d.steps[1], d.steps[2]
    found = [item.value for item in (*balances.items, *joints.items)]
    assert len(BY_HAND[name]) == len(found)
    for text, value in zip(BY_HAND[name], found, strict=True):
        assert same(typed(text), d.scalar(value).sympy()), text


@pytest.mark.parametrize("name", list(BY_HAND))
def test_reactions_solve_the_balances(name):
    d = da.newton_euler(gallery.build(name))
    reactions = {
        sympy.Symbol(item.label): d.scalar(item.value).sympy() for item in d.steps[3].items
    }
    for text in BY_HAND[name][: len(d.steps[1].items)]:
        assert same(typed(text).subs(reactions), sympy.Integer(0)), text


@pytest.mark.parametrize(
    ("name", "joints"),
    [("cart-and-bar", "x theta"), ("hoist", "x theta"), ("four-bar", "theta_1 theta_2 theta_3")],
)
def test_reactions_are_those_of_da_reactions(name, joints):
    entry = gallery.entry(name)
    s = entry.build()
    run = da.simulate(s, 0.2, start=dict(entry.start), inputs=dict(entry.inputs), progress=False)
    d = da.newton_euler(s)
    lam = {
        f"lambda_{k}": row.multiplier[-1] for k, row in enumerate(run.reactions.rows.values(), 1)
    }
    found = {item.label: d.scalar(item.value).sympy() for item in d.steps[3].items}
    for k, joint in enumerate(joints.split(), 1):
        wrench = run.reaction(joint)
        axes = {"hoist": [s.N, s.bodies[1].frame]}.get(name, [s.N, s.N, s.N])[k - 1]
        for axis in "xyz":
            for symbol, vector in (
                (f"f_{k}{axis}", wrench.force),
                (f"mu_{k}{axis}", wrench.moment),
            ):
                if symbol in found:
                    n = run[getattr(axes, axis)][-1]
                    expected = float(
                        found[symbol].subs(
                            {x: value(run, x, lam) for x in found[symbol].free_symbols}
                        )
                    )
                    assert float(n @ vector[-1]) == pytest.approx(expected, abs=1e-8), symbol


def value(run, symbol, lam):
    name = str(symbol)
    if name in lam:
        return lam[name]
    return float(run[name.replace("''", ".dot.dot").replace("'", ".dot")][-1])
