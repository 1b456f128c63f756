r"""theta_1' → θ̇₁, \dot{\theta}_{1}: how the names of symbols are read, in Unicode and in LaTeX."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from dalembert.symbolic.algebra.tape import base_name

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ",
    "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "omicron": "ο",
    "pi": "π", "rho": "ρ",
    "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ",
    "Upsilon": "Υ",
    "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
# Python reserves `lambda`, so programs write lam
GREEK["lam"] = "λ"
# letters that a display name may contain in addition to the Latin ones
LATEX_LETTERS = {
    letter: f"\\{name}" for name, letter in GREEK.items() if name not in ("lam", "omicron")
} | {"ℓ": r"\ell"}
SUBSCRIPTS = str.maketrans("0123456789aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
DOTS = {1: "\u0307", 2: "\u0308", 3: "\u20db", 4: "\u20dc"}
LATEX_DOTS = {1: r"\dot", 2: r"\ddot", 3: r"\dddot", 4: r"\ddddot"}
# before a name: its variation
VARIATION = "δ"
PRIME = "'"
PRIMES = {0: "", 1: "′", 2: "″", 3: "‴", 4: "⁗"}


class NameParts(NamedTuple):
    """A symbol's name taken apart: letters, subscripts, number of dots."""

    letters: str
    subscripts: tuple[str, ...]
    dots: int


@lru_cache(maxsize=4096)
def parts(name: str) -> NameParts:
    """theta_1'' → (theta, (1,), 2); a name that does not follow this pattern is all letters."""
    name = field(name)[0]
    bare = base_name(name)
    first, *tail = bare.split("_")
    letters = first.rstrip("0123456789")
    if not letters.isalpha() or not all(s.isalnum() for s in tail):
        return NameParts(bare, (), len(name) - len(bare))
    return NameParts(
        letters, tuple(s for s in (first[len(letters) :], *tail) if s), len(name) - len(bare)
    )


@lru_cache(maxsize=4096)
def field(name: str) -> tuple[str, int, str]:
    """v′′(L)' → (v', 2, (L)): a field without its marks, its derivatives along the member, its
    place.
    """
    bare = base_name(name)
    letters, opening, inside = bare.partition("(") if bare.endswith(")") else (bare, "", "")
    stem = letters.rstrip("′")
    if not stem or any(c in "′()" for c in stem + inside[:-1]):
        return name, 0, ""
    return stem + name[len(bare) :], len(letters) - len(stem), opening + inside


def display_name(name: str, displays: Mapping[str, str]) -> str:
    """th' → θ', where th is to be printed as θ; other names as they are."""
    if name[:1] == VARIATION != name:
        return VARIATION + display_name(name[1:], displays)
    bare = base_name(name)
    return displays[bare] + name[len(bare) :] if bare in displays else name


def superscript(k: int) -> str:
    """2 → ²"""
    return str(k).translate(SUPERSCRIPTS)


@lru_cache(maxsize=4096)
def unicode_name(name: str) -> str:
    """theta_1' → θ̇₁, I_G → I_G, omega_x → ωₓ, δx' → δẋ; composed characters where Unicode has
    them.
    """
    if name[:1] == VARIATION != name:
        return VARIATION + unicode_name(name[1:])
    letters, subscripts, dots = parts(name)
    _, primes, place = field(name)
    shown = GREEK.get(letters, letters)
    if dots and len(shown) == 1 and shown not in "ij" and dots in DOTS:
        shown = unicodedata.normalize("NFC", shown + DOTS[dots])
    elif dots:
        # over several letters, or on i and j, a dot would be lost
        shown += "′" * dots
    return (
        shown
        + _unicode_subscripts(subscripts)
        + PRIMES.get(primes, f"⁽{superscript(primes)}⁾")
        + place
    )


def _unicode_subscripts(subscripts: tuple[str, ...]) -> str:
    """Small characters where all of them exist and they are no word; else after an underscore."""
    if len(subscripts) == 1:
        (s,) = subscripts
        lowered = s.translate(SUBSCRIPTS)
        if (s.isdigit() or len(s) <= 2) and all(a != b for a, b in zip(s, lowered, strict=True)):
            return lowered
    return "".join(f"_{GREEK.get(s, s)}" for s in subscripts)


@lru_cache(maxsize=4096)
def latex_name(name: str) -> str:
    r"""theta_1'' → \ddot{\theta}_{1}, I_G → I_{G}, rate → \mathrm{rate}, δx' → \delta\dot{x}"""
    if name[:1] == VARIATION != name:
        return rf"\delta {latex_name(name[1:])}"
    letters, subscripts, dots = parts(name)
    shown = _latex_letters(letters)
    if dots and is_long(letters):
        # dots of a word would be above its middle; in braces, so that a power may follow
        shown = f"{{{shown}{PRIME * dots}}}"
    elif dots in LATEX_DOTS:
        shown = f"{LATEX_DOTS[dots]}{{{shown}}}"
    elif dots:
        # in braces, so that a power may follow
        shown = f"{{{shown}^{{({dots})}}}}"
    inside = ",".join(_latex_letters(s) for s in subscripts)
    shown = f"{shown}_{{{inside}}}" if inside else shown
    _, primes, place = field(name)
    if primes:
        above = "'" * primes if primes < 4 else f"^{{({primes})}}"
        # in braces, so that a power may follow
        shown = f"{{{shown}{above}}}"
    return shown + place


def is_long(letters: str) -> bool:
    """Whether letters are a word, which is written upright: yaw, but not theta."""
    return letters not in GREEK and len(letters) > 1 and letters.isascii() and letters.isalpha()


@lru_cache(maxsize=4096)
def is_word(name: str) -> bool:
    """Whether a name is written upright and without a mark above it, so that it needs a space to
    its neighbours.
    """
    letters, _, dots = parts(name)
    return not dots and letters not in GREEK and len(letters) > 1 and not letters.isdigit()


def _latex_letters(letters: str) -> str:
    if letters in GREEK:
        known = {"omicron": "o", "lam": r"\lambda"}
        return known.get(letters, f"\\{letters}")
    if len(letters) == 1 or letters.isdigit():
        return LATEX_LETTERS.get(letters, letters)
    escaped = letters.replace("_", r"\_")
    return f"\\mathrm{{{escaped}}}"
