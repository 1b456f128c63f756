"""Formulas typed in Unicode, as LaTeX."""

import re

import pytest

from dalembert.agreement.catalogue import PRINCIPLES
from dalembert.report.formulas import latex_formula


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("F_r + F_r* = 0", "F_{r} + F_{r}^{*} = 0"),
        ("q̇ = W u + X", r"\dot{q} = W u + X"),
        ("∂T/∂q̇_k", r"\frac{\partial T}{\partial \dot{q}_{k}}"),
        ("d/dt p", r"\frac{d}{dt} p"),
        ("Aᵀλ", r"A^{T}\lambda"),
        ("½ m v·v", r"\tfrac{1}{2} m v\cdot v"),
        ("Φ = Ψ⁻¹", r"\Phi = \Psi ^{-1}"),
        ("u̇² + ψ̇₁", r"\dot{u}^{2} + \dot{\psi}_{1}"),
        ("∂T̄/∂u", r"\frac{\partial \bar{T}}{\partial u}"),
        ("Φ_e₀,1", r"\Phi _{e_{0},1}"),
        ("min G subject to A q̈ = 0", r"\min G \text{ subject to } A \ddot{q} = 0"),
        ("[ω]ₓ = Ṙ Rᵀ", r"[\omega ]_{x} = \dot{R} R^{T}"),
        ("Σ_i Q_i", r"\sum _{i} Q_{i}"),
        ("50 % of {x}", r"50 \% \text{ of } \{x\}"),
        ("", ""),
    ],
)
def test_conversion(formula, expected):
    assert re.sub(r"\s+", " ", expected) == re.sub(r"\s+", " ", latex_formula(formula))


@pytest.mark.parametrize("principle", [p for p, _ in PRINCIPLES], ids=lambda p: p.name)
def test_every_statement_becomes_balanced_ascii(principle):
    written = latex_formula(principle.statement)
    assert written.isascii()
    assert written.count("{") == written.count("}")
    # two subscripts on one letter do not compile
    assert not re.search(r"_{[^{}]*}_", written)
