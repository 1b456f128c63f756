"""Where the particles, the points and the axes of a system are, as plain functions of q and t in 60
digits.

The joints are written here a second time, in the plainest way: a rotation matrix and a position for
every link.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath

from independent.description import Description, Link

mp = mpmath.MPContext()
mp.dps = 60

Real = Any
Three = tuple[Real, Real, Real]
Matrix = tuple[Three, Three, Three]


def real(x: object) -> Real:
    """A fraction or a whole number in 60 digits."""
    return mp.mpf(x.numerator) / x.denominator if hasattr(x, "denominator") else mp.mpf(x)


def three(v: Sequence[object]) -> Three:
    return real(v[0]), real(v[1]), real(v[2])


def add(a: Three, b: Three) -> Three:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def minus(a: Three, b: Three) -> Three:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def times(k: Real, a: Three) -> Three:
    return k * a[0], k * a[1], k * a[2]


def dot(a: Three, b: Three) -> Real:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Three, b: Three) -> Three:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


NOTHING: Three = (mp.zero, mp.zero, mp.zero)
AXES: dict[str, Three] = {"x": three((1, 0, 0)), "y": three((0, 1, 0)), "z": three((0, 0, 1))}
# columns are the axes of a link in the inertial frame
UNIT: Matrix = (AXES["x"], AXES["y"], AXES["z"])


def at(R: Matrix, v: Three) -> Three:
    """R v, R given by its columns."""
    return tuple(R[0][k] * v[0] + R[1][k] * v[1] + R[2][k] * v[2] for k in range(3))  # type: ignore[return-value]


def turned(R: Matrix, S: Matrix) -> Matrix:
    """R S"""
    return at(R, S[0]), at(R, S[1]), at(R, S[2])


def about(n: Three, angle: Real) -> Matrix:
    """Every axis e turned about the unit vector n: e cos φ + n × e sin φ + n (n·e)(1 − cos φ)."""
    c, s = mp.cos(angle), mp.sin(angle)
    return tuple(
        add(add(times(c, e), times(s, cross(n, e))), times((1 - c) * dot(n, e), n)) for e in UNIT
    )  # type: ignore[return-value]


def successive(axes: str, angles: Sequence[Real]) -> Matrix:
    R = UNIT
    for axis, angle in zip(axes, angles, strict=True):
        R = turned(R, about(AXES[axis], angle))
    return R


def quaternion(e0: Real, e1: Real, e2: Real, e3: Real) -> Matrix:
    """v → e v e⁻¹, axis by axis."""
    s, w = e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3, (e1, e2, e3)

    def image(v: Three) -> Three:
        twice = add(times(2 * dot(w, v), w), times(2 * e0, cross(w, v)))
        return times(1 / s, add(times(e0 * e0 - dot(w, w), v), twice))

    return image(UNIT[0]), image(UNIT[1]), image(UNIT[2])


def _free(R: Matrix, p: Three, x: Sequence[Real], axes: str) -> tuple[Matrix, Three]:
    turn = quaternion(*x[3:]) if len(x) == 7 else successive(axes, x[3:])
    return turned(R, turn), add(p, at(R, (x[0], x[1], x[2])))


def _beyond(link: Link, R: Matrix, p: Three, x: Sequence[Real], t: Real) -> tuple[Matrix, Three]:
    """The frame and the point beyond a joint at p, whose values are x."""
    kind, n = link.kind, three(link.axis)
    steps: dict[str, Callable[[], tuple[Matrix, Three]]] = {
        "pin": lambda: (turned(R, about(n, x[0])), p),
        "slide": lambda: (R, add(p, at(R, times(x[0], n)))),
        "universal": lambda: (turned(R, successive(link.axes, x)), p),
        "ball": lambda: (turned(R, quaternion(*x) if len(x) == 4 else successive(link.axes, x)), p),
        "free": lambda: _free(R, p, x, link.axes),
        "weld": lambda: (R, p),
        "turned": lambda: (turned(R, quaternion(mp.mpf(3), *n)), p),
        "carriage": lambda: (R, add(p, at(R, (x[0], x[1], x[2])))),
        "curve": lambda: (R, add(p, at(R, (x[0], x[0] ** 2 / 2, mp.sin(x[0]))))),
        "timed slide": lambda: (R, add(p, at(R, times(x[0] + mp.sin(2 * t) / 3, n)))),
        "plane": lambda: (about(AXES["z"], x[2]), add(p, (x[0], x[1], mp.zero))),
        "absolute pin": lambda: (about(AXES["z"], x[0]), p),
        "absolute ball": lambda: (successive(link.axes, x), p),
    }
    return steps[kind.removeprefix("driven ")]()


class Configuration:
    """Particles, sites and the axes of the links at one instant: a list of vectors, so that
    differences are differences of lists.
    """

    def __init__(self, d: Description, vectors: list[Three]) -> None:
        self.d, self.vectors = d, vectors
        self.n_particles = sum(len(m.cloud) for m in d.masses)

    @property
    def particles(self) -> list[Three]:
        return self.vectors[: self.n_particles]

    def site(self, j: int) -> Three:
        return self.vectors[self.n_particles + j]

    def R(self, link: int) -> Matrix:
        start = self.n_particles + len(self.d.sites) + 4 * link
        return self.vectors[start], self.vectors[start + 1], self.vectors[start + 2]

    def origin(self, link: int) -> Three:
        return self.vectors[self.n_particles + len(self.d.sites) + 4 * link + 3]

    def spin(self, rates: Configuration, link: int) -> Three:
        """½ Σ c_i × ċ_i: the rotation that changes the axes at those rates."""
        total = NOTHING
        for c, dc in zip(self.R(link), rates.R(link), strict=True):
            total = add(total, cross(c, dc))
        return times(mp.mpf(1) / 2, total)

    def combined(self, k: Real, other: Configuration, j: Real) -> Configuration:
        """k times this and j times the other."""
        pairs = zip(self.vectors, other.vectors, strict=True)
        return Configuration(self.d, [add(times(k, a), times(j, b)) for a, b in pairs])


def configuration(d: Description, values: Mapping[str, Real]) -> Configuration:
    """All places for given values of the coordinates, of the prescribed motions and of t."""
    poses = [(UNIT, NOTHING)]
    for link in d.links[1:]:
        R, p = poses[link.parent]
        poses.append(
            _beyond(
                link,
                R,
                add(p, at(R, three(link.place))),
                [values[n] for n in link.names],
                values["t"],
            )
        )

    def place(link: int, r: Sequence[object]) -> Three:
        R, p = poses[link]
        return add(p, at(R, three(r)))

    vectors = [place(m.link, r) for m in d.masses for _, r in m.cloud]
    vectors += [place(s.link, s.place) for s in d.sites]
    for R, p in poses:
        vectors += [*R, p]
    return Configuration(d, vectors)


# ---- expressions ---------------------------------------------------------------------------------

_FUNCTIONS = {name: getattr(mp, name) for name in ("sin", "cos", "exp", "sqrt")} | {
    "number": mp.mpf
}
_compiled: dict[str, Any] = {}


def evaluated(text: str, values: Mapping[str, Real]) -> Real:
    """The value of a text; q.dot is read from the name q_dot."""
    if text not in _compiled:
        plain = re.sub(r"(\w+)\.dot", r"\1_dot", text)
        plain = re.sub(r"(?<![\w.])(\d+(?:\.\d+)?)", r'number("\1")', plain)
        _compiled[text] = compile(plain, text, "eval")
    return mp.mpf(eval(_compiled[text], _FUNCTIONS, values))
