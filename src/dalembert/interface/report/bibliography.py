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
    "Ben76": "G. Benettin, L. Galgani and J.-M. Strelcyn, Kolmogorov entropy and numerical "
    "experiments, Phys. Rev. A 14 (1976) 2338–2345",
    "GW08": "A. Griewank and A. Walther, Evaluating Derivatives, second edition (2008)",
    "HNW1": "E. Hairer, S. P. Nørsett and G. Wanner, Solving Ordinary Differential Equations I, "
    "second edition (1993)",
    "DH13": "R. Dhaouadi and A. Abu Hatab, Dynamic modelling of differential-drive mobile robots, "
    "Adv. Robot. Autom. 2 (2013) 107",
    "Gol80": "H. Goldstein, Classical Mechanics, second edition (1980)",
    "Hen26": "C. Hendrick, Chaos and analytic non-integrability of the classical double pendulum: "
    "a computer-assisted proof, preprint"
    " (2026), doi 10.5281/zenodo.23096228",
    "Hol82": "P. J. Holmes, The dynamics of repeated impacts with a sinusoidally vibrating table, "
    "J. Sound Vib. 84 (1982) 173–189",
    "HW96": "E. Hairer and G. Wanner, Solving Ordinary Differential Equations II, second edition "
    "(1996); data of the Test Set for IVP"
    " Solvers, Bari",
    "JZ05": "À. Jorba and M. Zou, A software package for the numerical integration of ODEs by "
    "means of high-order Taylor methods,"
    " Exp. Math. 14 (2005) 99–117",
    "KL82": "T. R. Kane and D. A. Levinson, Realistic mathematical modeling of the rattleback, "
    "Int. J. Non-Linear Mech. 17 (1982) 175–186",
    "Koz15": "V. V. Kozlov, The phenomenon of reversal in the Euler–Poincaré–Suslov nonholonomic "
    "systems (2015)",
    "Lew94": "A. Lewis, J. Ostrowski, R. Murray and J. Burdick, Nonholonomic mechanics and "
    "locomotion: the snakeboard example (1994)",
    "Mag71": "K. Magnus, Kreisel: Theorie und Anwendungen (1971)",
    "MBS": "IFToMM Technical Committee for Multibody Dynamics, Library of Computational Benchmark "
    "Problems",
    "Mei07": "J. P. Meijaard, J. M. Papadopoulos, A. Ruina and A. L. Schwab, Linearized dynamics "
    "equations for the balance and steer"
    " of a bicycle, Proc. R. Soc. A 463 (2007) 1955–1982",
    "MR99": "J. E. Marsden and T. S. Ratiu, Introduction to Mechanics and Symmetry, second edition "
    "(1999)",
    "NF72": "J. I. Neimark and N. A. Fufaev, Dynamics of Nonholonomic Systems (1972)",
    "KRB87": "T. R. Kane, R. R. Ryan and A. K. Banerjee, Dynamics of a cantilever beam attached to "
    "a moving base, J. Guidance 10 (1987)"
    " 139–151",
    "Ste23": "G. Steinebach, Construction of Rosenbrock–Wanner method Rodas5P and numerical "
    "benchmarks within the Julia Differential"
    " Equations package, BIT 63 (2023) 27",
    "Spr03": "J. C. Sprott, Chaos and Time-Series Analysis (2003)",
    "Sed02": "A. Sedoglavic, A probabilistic algorithm to test local algebraic observability in "
    "polynomial time, J. Symb. Comput. 33"
    " (2002) 735–755",
    "Ray94": "Lord Rayleigh, The Theory of Sound, second edition (1894)",
    "Wri82": "A. D. Wright, C. E. Smith, R. W. Thresher and J. L. C. Wang, Vibration modes of "
    "centrifugally stiffened beams,"
    " J. Appl. Mech. 49 (1982) 197–202",
}


def cited_references(text: str) -> dict[str, str]:
    """The references whose keys occur in a text, in order of their keys."""
    return {key: work for key, work in REFERENCES.items() if re.search(rf"\b{key}\b", text)}
