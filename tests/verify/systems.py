"""Random systems of the independent generator, with numbers as drawn or as named constants, and a
state of each.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import dalembert as da
from dalembert.analysis.verify.truth import Truth, truth_of
from dalembert.symbolic.algebra.normal_form.expansion import TooLong, normal_form
from dalembert.symbolic.algebra.normal_form.rational_form import Atom, RationalForm, Term
from independent.bridge import Declared
from independent.description import ZERO, Description, Vec
from independent.generator import drawn
from independent.make_references import DATA
from independent.state import Rejected

MOST_TERMS = 80
MOST_FREEDOMS = 6
LONGEST = 4000


def form_text(form: RationalForm) -> str:
    """A form as an answer would be typed."""
    above = terms_text(form.numerator)
    return above if form.is_polynomial else f"({above})/({terms_text(form.denominator)})"


def terms_text(terms: tuple[Term, ...]) -> str:
    return (
        " + ".join(
            "*".join([f"({t.coefficient})", *(_factor(a, k) for a, k in t.powers)]) for t in terms
        )
        or "0"
    )


def _factor(a: Atom, k: int) -> str:
    if a.op == "symbol":
        word = a.name
    elif a.op == "pi":
        word = "pi"
    else:
        word = f"{a.op}({', '.join(map(form_text, a.arguments))})"
    return word if k == 1 else f"{word}**({k})"


class Named(Declared):
    """The same system with masses, inertias and lengths as constants."""

    def __init__(self, d: Description) -> None:
        self._names: dict[tuple[str, Fraction], Any] = {}
        super().__init__(d)

    def _named(self, letter: str, value: Fraction) -> Any:
        if not value:
            return value
        key = letter, abs(value)
        if key not in self._names:
            count = sum(known == letter for known, _ in self._names)
            self._names[key] = self.s.constant(f"{letter}_{count + 1}", abs(value))
        return self._names[key] if value > 0 else -self._names[key]

    def _point(self, link: int, place: Vec) -> da.Point:
        if place == ZERO:
            return self.origins[link]
        if (link, place) not in self._points:
            F = self.frames[link]
            x, y, z = (self._named("l", c) for c in place)
            self._points[link, place] = self.origins[link].offset(x * F.x + y * F.y + z * F.z)
        return self._points[link, place]

    def _site(self, j: int) -> da.Point:
        site = self.d.sites[j]
        return self._point(site.link, site.place)

    def _body(self, k: int) -> None:
        mass = self.d.masses[k]
        G, F = self._point(mass.link, mass.centre), self.frames[mass.link]
        m = self._named("m", mass.mass)
        if len(mass.cloud) == 1:
            self.bodies[k] = self.s.particle(mass.name, m, G)
        else:
            inertia = [self._named("J", value) for value in mass.inertia]
            self.bodies[k] = self.s.body(mass.name, m, G, F, da.inertia(F, *inertia))


@dataclass(frozen=True)
class Example:
    """A system, its equations multiplied out, and a consistent state from the particles."""

    seed: int
    named: bool
    system: da.System
    truth: Truth
    forms: list[RationalForm]
    # a position that satisfies the holonomic equations; empty where there are none
    q: dict[str, float]
    d: Description


@cache
def _references() -> dict[int, dict[str, Any]]:
    return {known["seed"]: known for known in json.loads(DATA.read_text(encoding="utf-8"))}


def attempt_of(seed: int) -> tuple[int, dict[str, float]]:
    """The attempt of a seed, and a consistent position where the particles have one."""
    known = _references().get(seed)
    if known is None:
        return 0, {}
    names = drawn(seed, known["attempt"]).coordinates
    return known["attempt"], dict(zip(names, known["q"], strict=True))


def example(seed: int, *, named: bool) -> Example | None:
    """The system of a seed; None where it has too many freedoms, or equations that nobody would
    write down.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            attempt, q = attempt_of(seed)
            d = drawn(seed, attempt)
            system = (Named if named else Declared)(d).s
            truth = truth_of(system)
            unknown_position = bool(truth.positions) and not q
            if unknown_position or not 1 <= len(truth.udot) <= MOST_FREEDOMS:
                return None
            forms = normal_form(truth.tape, truth.along_u, limit=4 * MOST_TERMS, longest=MOST_TERMS)
        except (da.DalembertError, TooLong, Rejected):
            return None
    if any(f.is_zero or f.term_count > MOST_TERMS or len(form_text(f)) > LONGEST for f in forms):
        return None
    return Example(seed, named, system, truth, forms, q, d)
