"""A random system in the making: numbers, links, bodies and points drawn from one seed.

Only random.random() is used, whose sequence for a seed is the same in every version of Python.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

from independent.description import FIXED, ZERO, Description, Link, Load, Mass, Row, Site, Vec
from independent.places import Configuration, Three, configuration, real

X = TypeVar("X")


class Draw:
    """Random choices."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def below(self, n: int) -> int:
        return int(self._random() * n)

    def pick(self, options: Sequence[X]) -> X:
        return options[self.below(len(options))]

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent

    def number(self, low: int, high: int) -> Fraction:
        """A multiple of 1/10 between two whole numbers of tenths."""
        return Fraction(low + self.below(high - low + 1), 10)

    def vec(self, size: int = 8) -> Vec:
        return self.number(-size, size), self.number(-size, size), self.number(-size, size)

    def unit(self) -> Vec:
        """A unit vector of fractions; mostly an axis."""
        if self.chance(50):
            k = self.below(3)
            return tuple(Fraction(int(i == k)) for i in range(3))  # type: ignore[return-value]
        return unit_near(*(float(self.number(-9, 9)) for _ in range(2)))

    def shuffled(self, n: int) -> tuple[int, ...]:
        rest = list(range(n))
        return tuple(rest.pop(self.below(len(rest))) for _ in range(n))


def unit_near(a: float, b: float) -> Vec:
    """(2a, 2b, 1 − a² − b²)/(1 + a² + b²): a point of the unit sphere, all of whose coordinates
    are fractions.
    """
    p, q = Fraction(round(100 * a), 100), Fraction(round(100 * b), 100)
    s = 1 + p * p + q * q
    return 2 * p / s, 2 * q / s, (2 - s) / s


def rational_unit(w: Three) -> Vec:
    """The unit vector of fractions next to one of many digits."""
    x, y, z = (float(c) for c in w)
    if z >= 0:
        return unit_near(x / (1 + z), y / (1 + z))
    u, v, n = unit_near(x / (1 - z), y / (1 - z))
    return u, v, -n


class Draft:
    """Links, bodies, points and what was said about them so far."""

    def __init__(self, seed: int, attempt: int, family: str) -> None:
        self.seed, self.family = seed, family
        self.draw = Draw(1_000_003 * seed + attempt)
        self.links = [Link(-1, ZERO, "ground")]
        self.masses: list[Mass] = []
        self.sites = [Site(0, ZERO)]
        self.loads: list[Load] = []
        self.rows: list[Row] = []
        self.constants: dict[str, Fraction] = {}
        self.inputs: dict[str, Fraction] = {}
        self.specified: dict[str, str] = {}
        self.speeds: dict[str, str] = {}
        self.guess: dict[str, Fraction] = {}
        self.rates: dict[str, Fraction] = {}
        self.gravity: Vec = ZERO
        self.t = self.draw.number(0, 20)

    # ---- names -------------------------------------------------------------------------------

    def coordinate(self, letter: str = "q") -> str:
        name = f"{letter}{len(self.guess) + 1}"
        self.guess[name] = self.draw.number(-9, 9) + Fraction(1, 20)
        self.rates[name] = self.draw.number(-12, 12)
        return name

    def constant(self) -> str:
        name = f"c{len(self.constants) + 1}"
        self.constants[name] = self.draw.number(3, 30)
        return name

    def input(self) -> str:
        name = f"f{len(self.inputs) + 1}"
        self.inputs[name] = self.draw.number(-30, 30)
        return name

    def motion(self) -> str:
        name = f"x{len(self.specified) + 1}"
        forms = ("sin(2*t)/2", "t**2/3 - t", "3/5*cos(t)", "t/2 + 1/5", "exp(0 - t)/2")
        self.specified[name] = self.draw.pick(forms)
        return name

    def amount(self) -> str:
        """A positive number, or a constant."""
        return self.constant() if self.draw.chance(40) else str(self.draw.number(3, 30))

    def q(self) -> str:
        return self.draw.pick([q for q in self.guess if q.startswith("q")] or list(self.guess))

    # ---- parts -------------------------------------------------------------------------------

    def link(
        self,
        parent: int,
        kind: str,
        *,
        axis: Vec | None = None,
        names: tuple[str, ...] | None = None,
        **more: object,
    ) -> int:
        """A link with fresh names."""
        counts = {
            "universal": 2,
            "ball": 3,
            "free": 6,
            "carriage": 3,
            "plane": 3,
            "absolute ball": 3,
            "weld": 0,
            "turned": 0,
        }
        if names is None:
            driven = kind.startswith("driven")
            names = (
                (self.motion(),)
                if driven
                else tuple(self.coordinate() for _ in range(counts.get(kind, 1)))
            )
        direction = axis if axis is not None else self.draw.unit()
        axes = str(more.pop("axes", "")) or self.draw.pick(
            {2: ["xy", "zx", "yz"]}.get(len(names), ["zyx", "zxz", "xyz"])
        )
        place = more.pop("place", None) or (
            ZERO if parent == 0 and self.draw.chance(60) else self.draw.vec()
        )
        self.links.append(
            Link(
                parent,
                place,
                kind,
                names,
                direction,
                axes,
                bool(more.pop("written_out", self.draw.chance(40))),
            )
        )  # type: ignore[arg-type]
        return len(self.links) - 1

    def quaternion(self, parent: int, kind: str) -> int:
        """A ball joint, or a free one, with four parameters."""
        before = tuple(self.coordinate() for _ in range(3)) if kind == "free" else ()
        e = tuple(self.coordinate("e") for _ in range(4))
        self.guess[e[0]] = Fraction(3, 2)
        return self.link(parent, kind, names=(*before, *e))

    def body(self, link: int, *, rigid: bool, flat: bool = False) -> int:
        """A cloud of four particles around somewhere, or a single one; flat: all in the plane z
        = 0 of the link.
        """
        d, name = self.draw, f"b{len(self.masses) + 1}"
        somewhere = d.vec()
        if not rigid:
            shared = [s.place for s in self.sites if s.link == link]
            place = d.pick(shared) if shared and d.chance(40) else somewhere
            cloud = [(d.number(5, 30), place)]
        else:
            cloud = [
                (d.number(3, 20), tuple(c + x for c, x in zip(somewhere, d.vec(6), strict=True)))
                for _ in range(4)
            ]
        if flat:
            cloud = [(m, (r[0], r[1], Fraction(0))) for m, r in cloud]
        self.masses.append(Mass(name, link, tuple(cloud)))  # type: ignore[arg-type]
        self.site(link, self.masses[-1].centre)
        return len(self.masses) - 1

    def site(self, link: int, place: Vec) -> int:
        """The point of a link at a place; there is only one."""
        for j, s in enumerate(self.sites):
            if (s.link, s.place) == (link, place):
                return j
        same = [j for j, s in enumerate(self.sites) if s.link == link and link]
        self.sites.append(
            Site(link, place, self.draw.pick(same) if same and self.draw.chance(30) else None)
        )
        return len(self.sites) - 1

    def somewhere(self, link: int, *, flat: bool = False) -> int:
        """A point of a link: its joint, a joint of the next, one used before, or a new one."""
        d = self.draw
        used = [j for j, s in enumerate(self.sites) if s.link == link]
        joints = [other.place for other in self.links if other.parent == link] + [ZERO]
        kind = d.below(10)
        if kind < 3 and used:
            return d.pick(used)
        if kind < 6:
            return self.site(link, d.pick(joints))
        x, y, z = d.vec(10)
        return self.site(link, (x, y, Fraction(0) if flat else z))

    # ---- the whole ---------------------------------------------------------------------------

    def group(self, link: int) -> int:
        while link and self.links[link].kind in FIXED:
            link = self.links[link].parent
        return link

    def now(self) -> Configuration:
        """All places at the guess."""
        values = {name: real(x) for name, x in (self.guess | self.constants | self.inputs).items()}
        from independent.places import evaluated

        values["t"] = real(self.t)
        values |= {x: evaluated(text, values) for x, text in self.specified.items()}
        return configuration(self.description(), values)

    def description(self) -> Description:
        order = Draw(self.seed).shuffled(len(self.masses))
        fixed = (
            tuple(self.links),
            tuple(self.masses),
            order,
            tuple(self.sites),
            tuple(self.loads),
            tuple(self.rows),
            self.gravity,
        )
        texts = " ".join(
            [
                *(x for load in self.loads for x in load.texts),
                *(row.text for row in self.rows),
                *self.specified.values(),
            ]
        )
        # drawn, but for something that was not chosen
        constants, inputs = (
            {n: x for n, x in names.items() if re.search(rf"\b{n}\b", texts)}
            for names in (self.constants, self.inputs)
        )
        named = (constants, inputs, dict(self.specified), dict(self.speeds))
        return Description(
            self.seed, self.family, *fixed, *named, self.t, dict(self.guess), dict(self.rates)
        )
