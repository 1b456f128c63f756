"""A mechanical system as plain data: what is drawn from a seed, computed with particles, and
declared in the language.

Nothing here knows how a motion is computed. Vectors are three fractions in the frame of a link;
link 0 is the ground. A link is what moves as one frame; where its joint is a weld it is a part of
the link it hangs on. Expressions are texts such as "c1*sin(q2) + q1.dot*t".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

Vec = tuple[Fraction, Fraction, Fraction]
ZERO: Vec = (Fraction(0), Fraction(0), Fraction(0))

# joints whose frame is that of the link they hang on
TRANSLATING = ("slide", "carriage", "curve", "driven slide", "timed slide", "weld")
# joints that are none: both links are one rigid group
FIXED = ("weld", "turned")


@dataclass(frozen=True)
class Link:
    """A joint at `place` of the parent, and the frame beyond it; `names` are its coordinates or
    its prescribed motion.
    """

    parent: int
    place: Vec
    kind: str
    names: tuple[str, ...] = ()
    axis: Vec = ZERO
    axes: str = ""
    # written out with frames and points instead of s.pin, s.slide, …
    written_out: bool = False


@dataclass(frozen=True)
class Mass:
    """A body on a link: a cloud of particles (mass, place), or a single one; a cloud of one is a
    particle.
    """

    name: str
    link: int
    cloud: tuple[tuple[Fraction, Vec], ...]

    @property
    def mass(self) -> Fraction:
        """m = Σ m_i"""
        return sum((m for m, _ in self.cloud), Fraction(0))

    @property
    def centre(self) -> Vec:
        """Σ m_i r_i / m"""
        x, y, z = (
            sum((m * r[k] for m, r in self.cloud), Fraction(0)) / self.mass for k in range(3)
        )
        return x, y, z

    @property
    def inertia(self) -> tuple[Fraction, ...]:
        """xx, yy, zz, xy, yz, xz about the centre, I_xy = −Σ m x y."""
        c = self.centre
        arms = [(m, tuple(r[k] - c[k] for k in range(3))) for m, r in self.cloud]

        def second(i: int, j: int) -> Fraction:
            return sum((m * r[i] * r[j] for m, r in arms), Fraction(0))

        xx, yy, zz = (second(k, k) for k in range(3))
        return yy + zz, xx + zz, xx + yy, -second(0, 1), -second(1, 2), -second(0, 2)


@dataclass(frozen=True)
class Site:
    """A point fixed to a link; it hangs on an earlier site of the same link or, where that is
    None, on the link's own point.
    """

    link: int
    place: Vec
    hangs_on: int | None = None


@dataclass(frozen=True)
class Load:
    """force, torque, spring, damper, potential, dissipation: what acts where.

    `texts` are the components along the frame of link `along`, or the constants of a spring, or the
    potential. `at`, `against` are sites of forces and springs, masses (by number) of torques; None
    where there is no opposite.
    """

    kind: str
    texts: tuple[str, ...]
    at: int | None = None
    against: int | None = None
    along: int = 0


@dataclass(frozen=True)
class Row:
    """One declaration of a constraint: coincide, close, distance, gear, gap, velocity, spin, roll,
    text.

    P, Q are sites (masses for spin and roll), `axis` and `other` directions in the frames of
    `along` and of Q's link.
    """

    kind: str
    name: str
    P: int | None = None
    Q: int | None = None
    along: int = 0
    axis: Vec = ZERO
    other: Vec = ZERO
    text: str = "0"
    joint: str = ""
    # names of rows that repeat others
    redundant: bool = False


@dataclass(frozen=True)
class Description:
    """Everything about one random system but its state."""

    seed: int
    family: str
    links: tuple[Link, ...]
    masses: tuple[Mass, ...]
    # the order in which the masses are declared
    order: tuple[int, ...]
    sites: tuple[Site, ...]
    loads: tuple[Load, ...]
    rows: tuple[Row, ...]
    gravity: Vec
    constants: dict[str, Fraction] = field(default_factory=dict)
    inputs: dict[str, Fraction] = field(default_factory=dict)
    # prescribed motions as texts in t
    specified: dict[str, str] = field(default_factory=dict)
    # quasi-velocities: name → definition
    speeds: dict[str, str] = field(default_factory=dict)
    t: Fraction = Fraction(0)
    # where the search for a consistent state begins
    guess: dict[str, Fraction] = field(default_factory=dict)
    rates: dict[str, Fraction] = field(default_factory=dict)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """All coordinates, link by link."""
        return tuple(n for link in self.links for n in link.names if n.startswith(("q", "e")))

    def group(self, link: int) -> int:
        """The link that a link is welded to in the end."""
        while link and self.links[link].kind in FIXED:
            link = self.links[link].parent
        return link

    def mover(self, link: int) -> int:
        """The link whose frame this link has: itself, unless it only translates."""
        while link and self.links[link].kind in TRANSLATING:
            link = self.links[link].parent
        return link
