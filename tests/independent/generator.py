"""Random mechanical systems: trees and loops of every joint, with every load and every kind of row,
from a seed.

Families: `tree` (any joints), `plane` (plane mechanisms that close), `loop` (spatial trees that
close), `absolute` (free bodies held by closing joints), `rows` (rows on positions and velocities,
moving with time), `rolling` (on the ground or on another body).
"""

from __future__ import annotations

from fractions import Fraction

from independent.description import ZERO, Description, Load, Row, Vec
from independent.draft import Draft, rational_unit
from independent.places import at, dot, minus, mp, three

FAMILIES = ("tree", "plane", "loop", "absolute", "rows", "rolling", "tree", "plane", "rows", "loop")
Z: Vec = (Fraction(0), Fraction(0), Fraction(1))
X: Vec = (Fraction(1), Fraction(0), Fraction(0))
Y: Vec = (Fraction(0), Fraction(1), Fraction(0))


def drawn(seed: int, attempt: int) -> Description:
    """The system of a seed; another attempt where an earlier one made no good example."""
    family = FAMILIES[seed % len(FAMILIES)]
    draft = Draft(seed, attempt, family)
    BUILDERS[family](draft)
    _loads(draft, flat=family == "plane")
    _speeds(draft)
    return draft.description()


# ---- trees ---------------------------------------------------------------------------------------


def _tree(a: Draft, links: int, most: int) -> None:
    """Random joints, one on the other, with bodies; every end has one."""
    d = a.draw
    for _ in range(links):
        parent = d.below(len(a.links)) if d.chance(70) else len(a.links) - 1
        room = most - len(a.guess)
        kinds = ["pin", "pin", "slide", "curve", "timed slide"] if room >= 1 else []
        kinds += ["universal"] if room >= 2 else []
        kinds += ["ball", "carriage", "absolute ball"] if room >= 3 else []
        kinds += (
            ["quaternion ball"] if room >= 4 and not any(n.startswith("e") for n in a.guess) else []
        )
        kinds += ["free"] if room >= 6 else []
        kinds += ["driven pin", "driven slide"] + (["weld", "turned"] if parent else [])
        kind = d.pick(kinds)
        link = a.quaternion(parent, "ball") if kind == "quaternion ball" else a.link(parent, kind)
        # what can turn about several axes needs an extent
        if d.chance(75):
            a.body(link, rigid=kind not in ("slide", "curve", "carriage", "pin") or d.chance(60))
        if d.chance(20):
            a.body(link, rigid=d.chance(50))
    _bodies_at_the_ends(a)
    if not a.guess:
        link = a.link(len(a.links) - 1, "pin")
        a.body(link, rigid=True)


def _bodies_at_the_ends(a: Draft) -> None:
    """A body where nothing follows, and on most links that carry particles only."""
    for link in range(1, len(a.links)):
        if not any(other.parent == link for other in a.links) and not any(
            m.link == link for m in a.masses
        ):
            a.body(link, rigid=True)
        own = [m for m in a.masses if a.group(m.link) == a.group(link)]
        if own and not any(len(m.cloud) > 1 for m in own) and a.draw.chance(75):
            a.body(link, rigid=True, flat=a.family == "plane")


def _tree_family(a: Draft) -> None:
    _tree(a, 1 + a.draw.below(5), 8)
    if a.draw.chance(15) and len(a.guess) >= 3:
        _gear(a)


def _gear(a: Draft) -> None:
    """Two joints of one freedom each, coupled."""
    singles = [link.names[0] for link in a.links if link.kind in ("pin", "slide")]
    if len(singles) < 2:
        return
    first, second = singles[0], singles[-1]
    ratio = Fraction(13, 7)
    zero = a.guess[first] - ratio * a.guess[second]
    a.rows.append(
        Row(
            "gear",
            "gear",
            text=f"{first} - 13/7*{second} - ({zero})",
            axis=(ratio, zero, Fraction(0)),
        )
    )


# ---- loops ---------------------------------------------------------------------------------------


def _met(a: Draft, P: int, link: int) -> int:
    """The point of a link that is where P is at the guess, rounded."""
    c = a.now()
    arm = minus(c.site(P), c.origin(link))
    place = tuple(Fraction(round(float(dot(arm, e)) * 1000), 1000) for e in c.R(link))
    return a.site(link, place)  # type: ignore[arg-type]


def _plane_family(a: Draft) -> None:
    """Pins about z and slides in the plane, measured from the link before or from the ground;
    then something closes.
    """
    d = a.draw
    for k in range(3 + d.below(2)):
        parent = k if k and d.chance(65) else 0
        kind = d.pick(
            ["pin", "pin", "absolute pin", "slide"] + (["plane"] if parent == 0 and k else [])
        )
        axis = (
            d.pick([X, Y, (Fraction(3, 5), Fraction(4, 5), Fraction(0))]) if kind == "slide" else Z
        )
        x, y, z = d.vec()
        link = a.link(
            parent,
            kind,
            axis=axis,
            place=ZERO if k == 0 else (x, y, z if d.chance(20) else Fraction(0)),
        )
        a.body(link, rigid=d.chance(75), flat=d.chance(60))
        if d.chance(20):
            a.body(link, rigid=d.chance(50), flat=True)
    _bodies_at_the_ends(a)
    last = len(a.links) - 1
    others = [k for k in range(last) if k != a.links[last].parent] or [0]
    other = d.pick(others)
    P = a.site(last, (d.number(5, 12), d.number(2, 9), Fraction(0)))
    if len(a.guess) >= 4 and d.chance(20):
        _distance(a, P, a.site(other, (d.number(-9, -2), d.number(-9, 9), Fraction(0))))
    seen = d.pick([0, 0, other])
    Q = a.site(0, ZERO) if other == 0 and d.chance(10) else _met(a, P, other)
    a.rows.append(Row("coincide", "loop", P, Q, along=seen))


def _loop_family(a: Draft) -> None:
    """A spatial tree of some freedoms, closed by a ball, a universal joint or a rod."""
    d = a.draw
    while len(a.guess) < 5:
        _tree(a, 2, 8)
    ends = [k for k in range(1, len(a.links)) if a.group(k) == k]
    last = ends[-1]
    others = [k for k in [0, *ends[:-1]] if k != a.group(a.links[last].parent)] or [0]
    other, P = d.pick(others), a.somewhere(last)
    kind = d.pick(["distance", "coincide", "ball", "universal"])
    if kind == "distance":
        _distance(a, P, a.somewhere(other))
        return
    if kind == "coincide":
        a.rows.append(Row("coincide", "loop", P, _met(a, P, other), along=d.pick([0, other])))
        return
    if kind == "ball":
        a.rows.append(Row("close", "closing", P, _met(a, P, other), joint=kind))
        return
    _closing(a, kind, last, other, "closing")


def _distance(a: Draft, P: int, Q: int) -> None:
    """A rod, of constant length, or of one that is specified."""
    c, d = a.now(), a.draw
    r = minus(c.site(P), c.site(Q))
    length = Fraction(max(3, round(float(mp.sqrt(dot(r, r))) * 10)), 10)
    text = str(length)
    if d.chance(30):
        text = f"x{len(a.specified) + 1}"
        a.specified[text] = f"{length} + (t - {a.t})/3 + (t - {a.t})**2/5"
    a.rows.append(Row("distance", f"rod {len(a.rows) + 1}", P, Q, text=text))
    if d.chance(20):
        a.rows.append(
            Row("distance", f"rod {len(a.rows) + 1} again", P, Q, text=text, redundant=True)
        )


def _absolute_family(a: Draft) -> None:
    """A body on a joint and one or two that are free, each held by a closing joint."""
    d = a.draw
    first = a.link(
        0, d.pick(["pin", "ball", "slide", "plane"]), axis=d.unit() if d.chance(50) else Z
    )
    a.body(first, rigid=True)
    before = first
    for k in range(1 + d.chance(25)):
        free = a.quaternion(0, "free") if d.chance(25) and not k else a.link(0, "free")
        for name in a.links[free].names[3:]:
            if name.startswith("q"):
                a.guess[name] /= 3
        a.body(free, rigid=True)
        if d.chance(25):
            a.body(free, rigid=d.chance(50))
        joint = d.pick(["pin", "pin", "ball", "universal", "cylinder", "slide", "weld"])
        _closing(a, joint, before, free, f"joint {k + 1}")
        before = free


def _closing(a: Draft, joint: str, i: int, j: int, name: str) -> None:
    d = a.draw
    P, axis = a.somewhere(i), d.unit() if joint not in ("ball", "weld") else ZERO
    Q, c = _met(a, P, j), a.now()
    other = ZERO
    if joint in ("pin", "cylinder"):
        w = at(c.R(i), three(axis))
        other = rational_unit(tuple(dot(w, e) for e in c.R(j)))  # type: ignore[arg-type]
    elif joint == "universal":
        w = at(c.R(i), three(axis))
        farthest = min(c.R(j), key=lambda e: abs(dot(e, w)))
        other = (X, Y, Z)[c.R(j).index(farthest)]
    a.rows.append(Row("close", name, P, Q, axis=axis, other=other, joint=joint))


# ---- rows ----------------------------------------------------------------------------------------


def _rows_family(a: Draft) -> None:
    d = a.draw
    while len(a.guess) < 3 or not any(len(m.cloud) > 1 for m in a.masses):
        _tree(a, 2, 8)
    for k in range(1 + (len(a.guess) > 4 and d.chance(50))):
        kind = d.pick(["gap", "gap", "velocity", "velocity", "spin", "text", "text", "distance"])
        ROWS[kind](a, f"row {k + 1}")


def _movable(a: Draft) -> int:
    return a.draw.pick(
        [k for k in range(1, len(a.links)) if not a.links[k].kind.startswith("driven")]
    )


def _time(a: Draft) -> str:
    """A function of time that vanishes now."""
    return a.draw.pick(["0", "0", f"(sin(t) - sin({a.t}))/2", f"(t - {a.t})**2"])


def _gap_row(a: Draft, name: str) -> None:
    """A point held along an axis of N or, against another, of its own link."""
    d, i = a.draw, _movable(a)
    P, against = a.somewhere(i), d.chance(30)
    Q = (
        a.somewhere(d.pick([k for k in range(len(a.links)) if a.group(k) != a.group(i)] or [0]))
        if against
        else None
    )
    along = d.pick([0, 0, i]) if against else 0
    axis, c = d.unit(), a.now()
    gap = c.site(P) if Q is None else minus(c.site(P), c.site(Q))
    size = Fraction(round(float(dot(gap, at(c.R(along), three(axis)))) * 100), 100)
    a.rows.append(Row("gap", name, P, Q, along=along, axis=axis, text=f"{size} + {_time(a)}"))


def _velocity_row(a: Draft, name: str) -> None:
    d, i = a.draw, _movable(a)
    Q = a.somewhere(d.below(len(a.links))) if d.chance(25) else None
    a.rows.append(
        Row(
            "velocity",
            name,
            a.somewhere(i),
            Q,
            along=d.pick([0, i]),
            axis=d.unit(),
            text=d.pick(["0", "0", "sin(t)/2", "1/5"]),
        )
    )


def _spin_row(a: Draft, name: str) -> None:
    d = a.draw
    rigid = [k for k, m in enumerate(a.masses) if len(m.cloud) > 1]
    P = d.pick(rigid)
    Q = d.pick(rigid) if d.chance(30) else None
    Q = None if Q is not None and a.masses[Q].link == a.masses[P].link else Q
    a.rows.append(
        Row(
            "spin",
            name,
            P,
            Q,
            along=d.pick([0, a.masses[P].link]),
            axis=d.unit(),
            text=d.pick(["0", "sin(t)/2", "2/5"]),
        )
    )


def _text_row(a: Draft, name: str) -> None:
    d, p, q = a.draw, a.q(), a.q()
    forms = [
        f"{p}.dot - cos({q})*{q}.dot/2 - {_time(a)}",
        f"(2 + sin({q}))*{p}.dot - t/3",
        f"{p}.dot - t*{q}.dot/4 + {q}/3",
    ]
    forms += [
        f"{p} + {q}**2/2 - ({a.guess[p] + a.guess[q] ** 2 / 2}) - {_time(a)}",
        f"{p} - ({a.guess[p]}) - {_time(a)}",
    ]
    a.rows.append(Row("text", name, text=d.pick(forms)))


def _rod_row(a: Draft, name: str) -> None:
    del name
    i = _movable(a)
    others = [k for k in range(len(a.links)) if a.group(k) != a.group(i)]
    _distance(a, a.somewhere(i), a.somewhere(a.draw.pick(others)))


ROWS = {
    "gap": _gap_row,
    "velocity": _velocity_row,
    "spin": _spin_row,
    "text": _text_row,
    "distance": _rod_row,
}


def _rolling_family(a: Draft) -> None:
    """A body that rolls on the ground, or on one that moves; with something on it."""
    d = a.draw
    table = None
    if d.chance(50):
        link = a.link(0, d.pick(["slide", "carriage", "pin"]))
        table = a.body(link, rigid=True)
    kind = d.pick(["free", "plane", "free"])
    wheel = a.link(0, kind, place=ZERO, axis=Z)
    body = a.body(wheel, rigid=True)
    if d.chance(50):
        rider = a.link(wheel, d.pick(["pin", "slide"]))
        a.body(rider, rigid=d.chance(60))
    down: Vec = (
        (Fraction(0), Fraction(0), -d.number(3, 9))
        if kind == "free"
        else (Fraction(0), -d.number(3, 9), Fraction(0))
    )
    letters = "xy" if kind == "plane" else d.pick(["xyz", "xy"])
    a.rows.append(Row("roll", "contact", body, table, axis=down, joint=letters))
    if kind == "free" and letters == "xy" and d.chance(60):
        P = a.site(wheel, a.masses[body].centre)
        height = Fraction(round(float(a.now().site(P)[2]) * 100), 100)
        a.rows.append(Row("gap", "height", P, None, axis=Z, text=str(height)))


BUILDERS = {
    "tree": _tree_family,
    "plane": _plane_family,
    "loop": _loop_family,
    "absolute": _absolute_family,
    "rows": _rows_family,
    "rolling": _rolling_family,
}


# ---- loads and speeds ----------------------------------------------------------------------------


def _size(a: Draft) -> str:
    q = a.q()
    forms = [
        "0",
        "0",
        str(a.draw.number(-30, 30)),
        f"2*sin(t)*{q}",
        f"0 - {q}.dot/2",
        f"3*cos({q})",
    ]
    kind = a.draw.below(len(forms) + 2)
    return forms[kind] if kind < len(forms) else a.input() if kind == len(forms) else a.amount()


def _loads(a: Draft, *, flat: bool) -> None:
    d = a.draw
    if d.chance(75):
        a.gravity = d.pick(
            [
                (Fraction(0), Fraction(-981, 100), Fraction(0)),
                (Fraction(0), Fraction(0), Fraction(-49, 5)),
                d.vec(50),
            ]
        )
    rigid = [k for k, m in enumerate(a.masses) if len(m.cloud) > 1]
    for _ in range(d.below(5)):
        kind = d.pick(
            [
                "force",
                "force",
                "torque",
                "spring",
                "spring",
                "spring",
                "damper",
                "potential",
                "dissipation",
            ]
        )
        P, Q = (
            a.somewhere(d.below(len(a.links) - 1) + 1, flat=flat),
            a.somewhere(d.below(len(a.links)), flat=flat),
        )
        Q = 0 if d.chance(40) else Q
        if kind == "force":
            against = Q if d.chance(30) and Q != P else None
            a.loads.append(
                Load("force", (_size(a), _size(a), _size(a)), P, against, d.below(len(a.links)))
            )
        elif kind == "torque" and rigid:
            on, other = d.pick(rigid), d.pick(rigid)
            a.loads.append(
                Load(
                    "torque",
                    (_size(a), _size(a), _size(a)),
                    on,
                    other if d.chance(40) and other != on else None,
                    d.below(len(a.links)),
                )
            )
        elif kind == "spring" and P != Q:
            a.loads.append(Load("spring", (a.amount(), d.pick(["0", a.amount()])), P, Q))
        elif kind == "damper" and P != Q:
            a.loads.append(Load("damper", (a.amount(),), P, Q))
        elif kind == "potential":
            p, q = a.q(), a.q()
            a.loads.append(
                Load(
                    "potential",
                    (d.pick([f"{a.amount()}*{q}**2/2", f"cos({q} - {p}) + t*{q}", f"{q}*{p}*2"]),),
                )
            )
        elif kind == "dissipation":
            a.loads.append(
                Load("dissipation", (f"{a.amount()}*({a.q()}.dot - {a.q()}.dot/2)**2/2",))
            )


def _speeds(a: Draft) -> None:
    """u_i = a_i q̇_i + b q̇_j + c with j < i, for every coordinate, now and then."""
    d, names = a.draw, list(a.guess)
    if a.rows or any(n.startswith("e") for n in names) or not d.chance(35):
        return
    for i, q in enumerate(names):
        text = d.pick(
            [f"{q}.dot", f"2*{q}.dot", f"(2 + cos({d.pick(names)}))*{q}.dot", f"(1 + t/10)*{q}.dot"]
        )
        if i and d.chance(40):
            text += f" + {d.pick(names)}*{names[d.below(i)]}.dot"
        if d.chance(20):
            text += " + sin(t)"
        a.speeds[f"u{i + 1}"] = text
