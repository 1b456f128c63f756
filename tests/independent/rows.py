"""φ(q, t) = 0 and ψ(q, q̇, t) = 0: the scalar rows of every declaration, and the forces with which
each acts on the links.

A row that acts with forces d at points and moments μ on links satisfies A δq = Σ d·δr + Σ μ·δθ; the
reference makes sure of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from independent.description import Description, Row
from independent.places import (
    AXES,
    Configuration,
    Real,
    Three,
    add,
    at,
    cross,
    dot,
    evaluated,
    minus,
    mp,
    three,
    times,
)

Value = Callable[[Configuration, Configuration, Mapping[str, Real]], Real]
# (link, place, direction)
Force = tuple[int, Three, Three]
Moment = tuple[int, Three]
Action = Callable[[Configuration], tuple[list[Force], list[Moment]]]


@dataclass(frozen=True)
class ScalarRow:
    """One row: its value from places, their rates and the values of names; None for an action
    that is not placed.
    """

    name: str
    # the declaration it belongs to
    label: str
    holonomic: bool
    value: Value
    action: Action | None
    redundant: bool = False
    # the norm of a quaternion
    is_norm: bool = False


def scalar_rows(d: Description) -> list[ScalarRow]:
    """All rows, those of quaternions last."""
    rows = [scalar for row in d.rows for scalar in _KINDS[row.kind](d, row)]
    return rows + [
        _norm(link.names[-4:]) for link in d.links if link.names and link.names[-1].startswith("e")
    ]


def _norm(names: tuple[str, ...]) -> ScalarRow:
    """e·ė = 0"""

    def value(_: Configuration, __: Configuration, values: Mapping[str, Real]) -> Real:
        return sum((values[e] * values[f"{e}_dot"] for e in names), mp.zero)

    return ScalarRow(f"norm of {names[0]}", "norm", False, value, lambda _: ([], []), is_norm=True)


def _links(d: Description, row: Row) -> tuple[int, int]:
    assert row.P is not None
    return d.sites[row.P].link, 0 if row.Q is None else d.sites[row.Q].link


def _gap(c: Configuration, row: Row) -> Three:
    assert row.P is not None
    return c.site(row.P) if row.Q is None else minus(c.site(row.P), c.site(row.Q))


def _pair(d: Description, row: Row, c: Configuration, n: Three) -> list[Force]:
    """n at P, −n at Q."""
    p, q = _links(d, row)
    assert row.P is not None
    opposite = [] if row.Q is None else [(q, c.site(row.Q), times(-1, n))]
    return [(p, c.site(row.P), n), *opposite]


# ---- gaps ----------------------------------------------------------------------------------------


def _along(
    d: Description, row: Row, name: str, axis: Three, *, redundant: bool = False
) -> ScalarRow:
    """(r_P − r_Q)·n − f, n fixed in the frame `along`: n at P, −n at Q, n × (r_P − r_Q) on that
    frame.
    """

    def value(c: Configuration, _: Configuration, values: Mapping[str, Real]) -> Real:
        return dot(_gap(c, row), at(c.R(row.along), axis)) - evaluated(row.text, values)

    def action(c: Configuration) -> tuple[list[Force], list[Moment]]:
        n = at(c.R(row.along), axis)
        return _pair(d, row, c, n), [(row.along, cross(n, _gap(c, row)))]

    return ScalarRow(name, row.name, True, value, action, redundant)


def _coincide(d: Description, row: Row) -> list[ScalarRow]:
    return [_along(d, row, f"{row.name} {axis}", AXES[axis]) for axis in "xyz"]


def _one_gap(d: Description, row: Row) -> list[ScalarRow]:
    return [_along(d, row, row.name, three(row.axis))]


def _distance(d: Description, row: Row) -> list[ScalarRow]:
    """r·r − l²: 2 r at P, −2 r at Q."""

    def value(c: Configuration, _: Configuration, values: Mapping[str, Real]) -> Real:
        return dot(_gap(c, row), _gap(c, row)) - evaluated(row.text, values) ** 2

    def action(c: Configuration) -> tuple[list[Force], list[Moment]]:
        return _pair(d, row, c, times(2, _gap(c, row))), []

    return [ScalarRow(row.name, row.name, True, value, action, row.redundant)]


# ---- angles --------------------------------------------------------------------------------------


def _angle(
    d: Description, row: Row, name: str, links: tuple[int, int], pair: tuple[Three, Three]
) -> ScalarRow:
    """a·b = 0, a fixed in one link and b in another: the moment a × b on the first, its opposite
    on the second.
    """
    (i, j), (a, b) = links, pair

    def value(c: Configuration, _: Configuration, __: Mapping[str, Real]) -> Real:
        return dot(at(c.R(i), a), at(c.R(j), b))

    def action(c: Configuration) -> tuple[list[Force], list[Moment]]:
        moment = cross(at(c.R(i), a), at(c.R(j), b))
        return [], [(i, moment), (j, times(-1, moment))]

    return ScalarRow(name, row.name, True, value, action)


def across(n: Three) -> tuple[Three, Three]:
    """Two directions at right angles to n and to each other."""
    start = min(AXES.values(), key=lambda e: abs(dot(e, n)))
    p = cross(n, start)
    p = times(1 / mp.sqrt(dot(p, p)), p)
    return p, cross(n, p)


def _close(d: Description, row: Row) -> list[ScalarRow]:
    """The rows of a closing joint, each in a form of its own."""
    links, a, b = _links(d, row), three(row.axis), three(row.other)
    moved = Row("coincide", row.name, row.P, row.Q, links[0])
    gap = [_along(d, moved, f"{row.name} {axis}", AXES[axis]) for axis in "xyz"]
    if row.joint == "universal":
        return [*gap, _angle(d, row, f"{row.name} right angle", links, (a, b))]
    pairs = (("x", "y"), ("y", "z"), ("z", "x"))
    parts = {
        "gap": lambda: gap,
        "parallel": lambda: [
            _angle(d, row, f"{row.name} axis {k}", links, (a, p)) for k, p in enumerate(across(b))
        ],
        "sideways": lambda: [
            _along(d, moved, f"{row.name} across {k}", p) for k, p in enumerate(across(a))
        ],
        "equal": lambda: [
            _angle(d, row, f"{row.name} frames {i}{j}", links, (AXES[i], AXES[j])) for i, j in pairs
        ],
    }
    return [scalar for part in _PARTS[row.joint] for scalar in parts[part]()]


_PARTS = {
    "pin": ("gap", "parallel"),
    "ball": ("gap",),
    "cylinder": ("sideways", "parallel"),
    "weld": ("gap", "equal"),
    "slide": ("sideways", "equal"),
}


# ---- velocities ----------------------------------------------------------------------------------


def _velocity(d: Description, row: Row) -> list[ScalarRow]:
    """(v_P − v_Q)·n − f"""

    def value(c: Configuration, rate: Configuration, values: Mapping[str, Real]) -> Real:
        return dot(_gap(rate, row), at(c.R(row.along), three(row.axis))) - evaluated(
            row.text, values
        )

    def action(c: Configuration) -> tuple[list[Force], list[Moment]]:
        return _pair(d, row, c, at(c.R(row.along), three(row.axis))), []

    return [ScalarRow(row.name, row.name, False, value, action)]


def _spin(d: Description, row: Row) -> list[ScalarRow]:
    """(ω_P − ω_Q)·n − f, P and Q masses: the moments ±n."""
    assert row.P is not None
    links = [d.masses[row.P].link] + ([] if row.Q is None else [d.masses[row.Q].link])

    def value(c: Configuration, rate: Configuration, values: Mapping[str, Real]) -> Real:
        n = at(c.R(row.along), three(row.axis))
        spins = [dot(c.spin(rate, link), n) for link in links]
        return spins[0] - sum(spins[1:], mp.zero) - evaluated(row.text, values)

    def action(c: Configuration) -> tuple[list[Force], list[Moment]]:
        n = at(c.R(row.along), three(row.axis))
        return [], [(link, times(k, n)) for link, k in zip(links, (1, -1), strict=False)]

    return [ScalarRow(row.name, row.name, False, value, action)]


def _centre(d: Description, c: Configuration, mass: int) -> Three:
    """The mass centre, from the particles."""
    first = sum(len(m.cloud) for m in d.masses[:mass])
    total, m = (mp.zero, mp.zero, mp.zero), d.masses[mass]
    for (share, _), r in zip(m.cloud, c.particles[first : first + len(m.cloud)], strict=True):
        total = add(total, times(mp.mpf(share.numerator) / share.denominator, r))
    return times(mp.mpf(m.mass.denominator) / m.mass.numerator, total)


def _roll(d: Description, row: Row) -> list[ScalarRow]:
    """(v_G + ω × (C − G))·e − the same of the body below, C = G + axis in N: one row for each
    letter of `joint`.
    """
    assert row.P is not None

    def carried(c: Configuration, rate: Configuration, mass: int, C: Three) -> Three:
        spin = c.spin(rate, d.masses[mass].link)
        return add(_centre(d, rate, mass), cross(spin, minus(C, _centre(d, c, mass))))

    def contact(c: Configuration) -> Three:
        return add(_centre(d, c, row.P or 0), three(row.axis))

    def row_along(letter: str) -> ScalarRow:
        def value(c: Configuration, rate: Configuration, _: Mapping[str, Real]) -> Real:
            slip = carried(c, rate, row.P or 0, contact(c))
            return dot(
                slip if row.Q is None else minus(slip, carried(c, rate, row.Q, contact(c))),
                AXES[letter],
            )

        def action(c: Configuration) -> tuple[list[Force], list[Moment]]:
            below = (
                []
                if row.Q is None
                else [(d.masses[row.Q].link, contact(c), times(-1, AXES[letter]))]
            )
            return [(d.masses[row.P or 0].link, contact(c), AXES[letter]), *below], []

        return ScalarRow(f"{row.name} along {letter}", row.name, False, value, action)

    return [row_along(letter) for letter in row.joint]


# ---- relations of coordinates --------------------------------------------------------------------


def _gear(d: Description, row: Row) -> list[ScalarRow]:
    """A relation of two joints' coordinates: it acts in the joints themselves."""
    return [
        ScalarRow(
            row.name,
            row.name,
            True,
            lambda _, __, values: evaluated(row.text, values),
            lambda _: ([], []),
        )
    ]


def _text(d: Description, row: Row) -> list[ScalarRow]:
    """Any relation; nobody knows where it acts."""
    holonomic = ".dot" not in row.text
    return [
        ScalarRow(
            row.name, row.name, holonomic, lambda _, __, values: evaluated(row.text, values), None
        )
    ]


_KINDS: dict[str, Callable[[Description, Row], list[ScalarRow]]] = {
    "coincide": _coincide,
    "close": _close,
    "distance": _distance,
    "gap": _one_gap,
    "velocity": _velocity,
    "spin": _spin,
    "roll": _roll,
    "gear": _gear,
    "text": _text,
}
