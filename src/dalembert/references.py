"""The works that are cited by key."""

from __future__ import annotations

import re
from typing import Final

REFERENCES: Final[dict[str, str]] = {
    "Bar00": "H. Baruh, Another Look at the Describing Equations of Dynamics (2000)",
    "Gre03": "D. T. Greenwood, Advanced Dynamics (2003), chapter 4",
    "Kut": "K. Kuttler, Engineering Math, appendix C: Lagrangian mechanics",
    "LL76": "L. D. Landau and E. M. Lifshitz, Mechanics, third edition (1976)",
    "Mar": "Laws of motion: Newton, d'Alembert, Kane, and Lagrange obtained from Kane",
    "Mei85": "L. Meirovitch, Elements of Analytical Dynamics, chapter 7",
    "Mit22": "P. Mitiguy, chapter 34: Energy integrals of equations of motion",
    "Mor03": "D. Morin, Ball on turntable, problem and solution of week 21 (2003)",
    "Wik": "Wikipedia, Double pendulum: the motion of two equal uniform rods",
    "HNW1": "E. Hairer, S. P. Nørsett and G. Wanner, Solving Ordinary Differential Equations I, second edition (1993)",
}


def cited(text: str) -> dict[str, str]:
    """The references whose keys occur in a text, in order of their keys."""
    return {key: work for key, work in REFERENCES.items() if re.search(rf"\b{key}\b", text)}
