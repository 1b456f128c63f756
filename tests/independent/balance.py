"""f = Σ (m a − m g − F), μ = Σ r × (m a − m g − F) − Σ T over all particles beyond a joint:
wrenches by free-body balance.

A wrench depends on the multipliers through what the rows do beyond the joint. A component is unique
if no change of the multipliers that leaves Aᵀλ as it is changes it; only those are handed on, the
others are None.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from independent.description import Row
from independent.places import (
    NOTHING,
    Configuration,
    Real,
    Three,
    add,
    at,
    cross,
    dot,
    minus,
    mp,
    real,
    three,
    times,
)
from independent.reference import Solution

Wrench = tuple[Three, Three]
_SAME = mp.mpf(10) ** -15
_UNIQUE = 1e-9


def _plus(a: Wrench, b: Wrench) -> Wrench:
    return add(a[0], b[0]), add(a[1], b[1])


def _at(force: Three, place: Three) -> Wrench:
    """About O."""
    return force, cross(place, force)


def joint_wrenches(s: Solution) -> dict[str, dict[str, list[Real | None]]]:
    """{coordinates of a joint: its place, and the wrench there on everything beyond}, components
    that are not unique None.
    """
    d, c = s.d, s.motion.here
    actions = [row_wrenches(s, j) for j in range(len(s.rows))]
    found = {}
    for link in range(1, len(d.links)):
        if d.group(link) != link or not _masses_beyond(s, link):
            continue
        beyond = [k for k in range(1, len(d.links)) if _is_beyond(s, k, link)]
        own = _inertia(s, beyond)
        changes = [_sum([w for k in beyond for w in action.get(k, [])]) for action in actions]
        total = own
        for lam, change in zip(s.multipliers, changes, strict=True):
            total = _plus(total, (times(-lam, change[0]), times(-lam, change[1])))
        place = c.origin(link)
        found[" ".join(d.links[link].names)] = {
            "at": list(place),
            **_unique(s, _moved(total, place), [_moved(change, place) for change in changes]),
        }
    return found


def row_totals(s: Solution) -> dict[str, dict[str, object]]:
    """{declaration: the wrench of all its rows on the side of P, about the place of P's force
    (or about O)}.
    """
    found = {}
    for row in s.d.rows:
        if row.kind in ("gear", "text"):
            continue
        assert row.P is not None
        of_masses = row.kind in ("spin", "roll")
        link = s.d.masses[row.P].link if of_masses else s.d.sites[row.P].link
        group, own = s.d.group(link), [j for j, r in enumerate(s.rows) if r.label == row.name]
        forces, _ = s.rows[own[0]].action(s.motion.here)  # type: ignore[misc]
        place = forces[0][1] if forces else s.motion.here.origin(link)
        changes = [NOTHING_AT_ALL] * len(s.rows)
        total = NOTHING_AT_ALL
        for j in own:
            on_group = [
                w for k, ws in row_wrenches(s, j).items() if s.d.group(k) == group for w in ws
            ]
            changes[j] = _moved(_sum(on_group), place)
            total = _plus(
                total,
                (times(s.multipliers[j], changes[j][0]), times(s.multipliers[j], changes[j][1])),
            )
        on = [m.name for m in s.d.masses if s.d.group(m.link) == group]
        found[row.name] = {"on": on, "at": list(place), **_unique(s, total, changes)}
    return found


NOTHING_AT_ALL: Wrench = (NOTHING, NOTHING)


def row_wrenches(s: Solution, j: int) -> dict[int, list[Wrench]]:
    """What λ = 1 of a row puts on the links, about O; made sure to be the row's own generalized
    force.
    """
    action = s.rows[j].action
    assert action is not None
    forces, moments = action(s.motion.here)
    for k, x in enumerate(s.qdd):
        J = s.motion.partials[x]
        total = mp.zero
        for link, place, f in forces:
            arm = minus(place, s.motion.here.origin(link))
            moved = add(J.origin(link), cross(s.motion.here.spin(J, link), arm))
            total += dot(f, moved)
        total += sum((dot(m, s.motion.here.spin(J, link)) for link, m in moments), mp.zero)
        if (
            abs(total - (0 if s.rows[j].is_norm else s.A[j][k])) > _SAME
            and not s.rows[j].is_norm
            and (forces or moments)
        ):
            msg = f"the action of {s.rows[j].name!r} is not that of its row"
            raise AssertionError(msg)
    found: dict[int, list[Wrench]] = {}
    for link, place, f in forces:
        found.setdefault(link, []).append(_at(f, place))
    for link, m in moments:
        found.setdefault(link, []).append((NOTHING, m))
    return found


def _is_beyond(s: Solution, k: int, link: int) -> bool:
    while k > link:
        k = s.d.links[k].parent
    return k == link


def _masses_beyond(s: Solution, link: int) -> bool:
    return any(_is_beyond(s, m.link, link) for m in s.d.masses)


def _inertia(s: Solution, beyond: list[int]) -> Wrench:
    """Σ m (a − g) − loads, over the links beyond, about O."""
    d, c, g = s.d, s.motion.here, three(s.d.gravity)
    links = [(body.link, real(m)) for body in d.masses for m, _ in body.cloud]
    parts = [
        _at(times(m, minus(a, g)), r)
        for (link, m), a, r in zip(links, s.accelerations.particles, c.particles, strict=True)
        if link in beyond
    ]
    parts += [
        _at(times(-1, F), c.site(site)) for site, F in s.forces if d.sites[site].link in beyond
    ]
    parts += [(NOTHING, times(-1, T)) for link, T in s.torques if link in beyond]
    return _sum(parts)


def _sum(parts: list[Wrench]) -> Wrench:
    total = NOTHING_AT_ALL
    for w in parts:
        total = _plus(total, w)
    return total


def _moved(w: Wrench, place: Three) -> Wrench:
    """The wrench about another place than O."""
    return w[0], minus(w[1], cross(place, w[0]))


def _unique(s: Solution, total: Wrench, changes: list[Wrench]) -> dict[str, list[Real | None]]:
    """Force and moment, with None for what λ leaves open."""
    open_to = np.zeros(6)
    if s.free.size:
        matrix = np.array([[float(x) for x in (*f, *m)] for f, m in changes]).reshape(
            len(changes), 6
        )
        open_to = np.abs(matrix.T @ s.free).max(axis=1)
    values = [
        x if o < _UNIQUE else None for x, o in zip((*total[0], *total[1]), open_to, strict=True)
    ]
    return {"force": values[:3], "moment": values[3:]}


def is_placed(s: Solution) -> bool:
    """Whether every row tells where it acts; one that is written as an expression may fit
    several points or links.
    """
    return all(row.action is not None for row in s.rows) and not any(
        _fits_elsewhere(s, row) for row in s.d.rows
    )


def _fits_elsewhere(s: Solution, row: Row) -> bool:
    """Whether another point (of a gap or velocity) or another link (of a spin) varies as the row
    does, off its line of action.
    """
    if row.kind not in ("gap", "velocity", "spin"):
        return False
    d, c = s.d, s.motion.here
    n = at(c.R(row.along), three(row.axis))
    ends = [end for end in (row.P, row.Q) if end is not None]
    if row.kind == "spin":
        links = {d.masses[end].link for end in ends}
        others = [
            k for k in range(1, len(d.links)) if d.group(k) not in {d.group(link) for link in links}
        ]
        return any(
            _same(s, lambda J, k=k, own=own: dot(minus(c.spin(J, k), c.spin(J, own)), n))
            for k in others
            for own in links
        )

    def alike(end: int, other: int) -> bool:
        arm = minus(c.site(other), c.site(end))
        aside = cross(arm, n)
        off_line = dot(aside, aside) > _SAME or d.group(d.sites[other].link) != d.group(
            d.sites[end].link
        )
        return off_line and _same(s, lambda J: dot(minus(J.site(other), J.site(end)), n))

    return any(alike(end, other) for end in ends for other in range(len(d.sites)) if other != end)


def _same(s: Solution, difference: Callable[[Configuration], Real]) -> bool:
    return all(abs(difference(s.motion.partials[x])) < _SAME for x in s.qdd)


def is_carried(s: Solution) -> bool:
    """Whether everything that is loaded or held is the ground, has a rigid body on it, or is a
    particle itself.
    """
    d = s.d
    held = [
        end
        for row in d.rows
        if row.kind in ("coincide", "close", "distance")
        for end in (row.P, row.Q)
    ]
    sites = {site for site in [*(site for site, _ in s.forces), *held] if site is not None}
    rigid = {0, *(d.group(m.link) for m in d.masses if len(m.cloud) > 1)}
    particles = {(m.link, m.centre) for m in d.masses if len(m.cloud) == 1}
    return all(
        d.group(d.sites[j].link) in rigid or (d.sites[j].link, d.sites[j].place) in particles
        for j in sites
    )
