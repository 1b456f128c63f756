"""Misprinted formulas of the sources, typed as printed: each is answered with its correction.

Source: Bar00 (54), (55); Mei85 Ex. 7.3 (g), Ex. 7.4 (b), (d), (j), (k).
"""

import pytest

from dalembert import gallery
from dalembert.analysis.verify.verify import verify

CART = gallery.build("cart-and-bar")
VEHICLE = gallery.build("vehicle")

SUM_IN_VIRTUAL_DISPLACEMENTS = r"""
\{-kx - M\ddot{x} + F - m[\ddot{x} + a(\ddot{\theta}\cos\theta - \dot{\theta}^2\sin\theta)]\}\delta
x
 + \{F - m[\ddot{x} + a(\ddot{\theta}\cos\theta - \dot{\theta}^2\sin\theta)]\} a\cos\theta
 - [mg + ma(\ddot{\theta}\sin\theta + \dot{\theta}^2\cos\theta)] a\sin\theta
 + Fa\cos\theta - \frac{1}{3} m a^2 \ddot{\theta}\delta\theta = 0
""".replace("\n", " ")

PRINTED = {
    "Mei85 Ex. 7.4 (b)": (
        CART,
        (
            r"T = \frac{1}{2} M\dot{x}^2 + m a\dot{x}\dot{\theta}\cos\theta"
            r" + \frac{2}{3} m a^2\dot{\theta}^2"
        ),
        ["1/2 m ẋ² is missing on the right side"],
    ),
    "Mei85 Ex. 7.4 (d)": (
        CART,
        (
            r"L = \frac{1}{2}(M + m)\dot{x}^2 + m\dot{x}\dot{\theta}\cos\theta"
            r" + \frac{2}{3}ma^2\dot{\theta}^2 - \frac{1}{2}kx^2 - mga(1 - \cos\theta)"
        ),
        ["m ẋ θ̇ cos θ should be m a ẋ θ̇ cos θ"],
    ),
    "Mei85 Ex. 7.4 (j)": (
        CART,
        (
            r"\frac{\partial L}{\partial\dot{x}} = (M + m)\dot{x} + m\dot{\theta}\cos\theta \\"
            r"\frac{d}{dt}\left(\frac{\partial L}{\partial\dot{x}}\right)"
            r" = (M + m)\ddot{x} + m(\ddot{\theta}\cos\theta - \dot{\theta}^2\sin\theta) \\"
            r"\frac{\partial L}{\partial x} = -kx \\"
            r"\frac{\partial L}{\partial\dot{\theta}}"
            r" = m\dot{x}\cos\theta + \frac{4}{3}ma^2\dot{\theta} \\"
            r"\frac{d}{dt}\left(\frac{\partial L}{\partial\dot{\theta}}\right)"
            r" = m(\ddot{x}\cos\theta - \dot{x}\dot{\theta}\sin\theta)"
            r" + \frac{4}{3}ma^2\ddot{\theta} \\"
            r"\frac{\partial L}{\partial\theta}"
            r" = -m\dot{x}\dot{\theta}\sin\theta - mga\sin\theta"
        ),
        [
            "m θ̇ cos θ should be m a θ̇ cos θ",
            "m θ̈ cos θ − m θ̇² sin θ should be m a θ̈ cos θ − m a θ̇² sin θ",
            "m ẋ cos θ should be m a ẋ cos θ",
            "m ẍ cos θ − m ẋ θ̇ sin θ should be m a ẍ cos θ − m a ẋ θ̇ sin θ",
            "−m ẋ θ̇ sin θ should be −m a ẋ θ̇ sin θ",
        ],
    ),
    "Mei85 Ex. 7.4 (k)": (
        CART,
        (
            r"(M + m)\ddot{x} + m(\ddot{\theta}\cos\theta - \dot{\theta}^2\sin\theta) + kx = F \\"
            r"m\ddot{x}\cos\theta + \frac{4}{3}ma^2\ddot{\theta} + mga\sin\theta = 2Fa\cos\theta"
        ),
        [
            "m θ̈ cos θ − m θ̇² sin θ should be m a θ̈ cos θ − m a θ̇² sin θ",
            "m ẍ cos θ should be m a ẍ cos θ",
        ],
    ),
    "Bar00 (54)": (
        VEHICLE,
        (
            r"W = \begin{bmatrix} \cos\theta & -\sin\theta \\ \sin\theta & \cos\theta"
            r" \\ 0 & 1 \end{bmatrix}"
        ),
        ["−sin θ should be −L sin θ", "cos θ should be L cos θ"],
    ),
    "Bar00 (55)": (
        VEHICLE,
        (
            r"m\ddot{X}\cos\theta + m\ddot{Y}\sin\theta = F_C + F_D \\"
            r"m\ddot{X}\sin\theta + m\ddot{Y}\cos\theta + I_G\ddot{\theta} = (F_C + F_D) h"
        ),
        [
            "m Ẍ sin θ should be −m L Ẍ sin θ",
            "m Ÿ cos θ should be m L Ÿ cos θ",
            "h F_C should be −h F_C",
        ],
    ),
}


@pytest.mark.parametrize("where", PRINTED)
def test_a_misprint_is_answered_with_its_correction(where):
    system, printed, corrections = PRINTED[where]
    result = verify(system, printed)
    assert result.holds is False
    sentences = [c.sentence for row in result.rows if row.corrections for c in row.corrections[0]]
    assert corrections == sentences
    assert all(len(row.corrections) == 1 for row in result.rows if row.holds is False)


def test_braces_are_missing_in_a_sum_of_virtual_displacements():
    result = verify(CART, SUM_IN_VIRTUAL_DISPLACEMENTS)
    assert result.holds is False
    assert "braces around the whole coefficient of δθ" in result.sentence
