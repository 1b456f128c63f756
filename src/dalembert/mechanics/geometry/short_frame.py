"""v = Σ vᵢ fᵢ: the frame in which a vector is shortest to read.

A vector that was computed as a sum over frames is written along the axes of one frame, the one in
which it has the fewest terms; it stays a sum over frames only where that is shorter still, as in ω
= ψ̇ N.z + θ̇ A.y + φ̇ B.x. An axis that several frames share belongs to the first of them, so that
equal axes are recognised: u₂ N.z − u₂ B.z = 0 where B rotates about N.z. The value never changes,
only the axes along which it is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.rotation import BasisRotation, add3
from dalembert.mechanics.geometry.vector import Vector
from dalembert.symbolic.algebra.normal_form.expansion import operation_count
from dalembert.symbolic.algebra.normal_form.rational_form import RationalForm
from dalembert.symbolic.algebra.printing import printed_size, readable_form
from dalembert.symbolic.algebra.tape import Tape, Triple

# rotations between the frames of a vector and a frame in which it may be written
FARTHEST: Final = 3
# frames that are tried, and operations of a vector beyond which it stays as it is: fewer where a
# system has many frames
MOST_FRAMES: Final = 10
FEW_FRAMES: Final = 6
MOST_OPERATIONS: Final = 400
MOST_OPERATIONS_OF_MANY_FRAMES: Final = 120
# the cost of what is too long to read
TOO_LONG: Final = (10**9, 1, 0, 0)

# terms, frames, symbols, depth of the frame
Cost = tuple[int, int, int, int]
# by the nodes of one tape
Forms = dict[int, RationalForm | None]


def in_frame(v: Vector, tape: Tape, frame: Frame) -> Vector:
    """The same vector on a fork of its tape, along the axes of one frame."""
    return Vector(tape, {frame: _clear_zeros(tape, v.on(tape).components(frame), {})})


def shortest_forms(vectors: Sequence[Vector], tape: Tape, home: Frame | None) -> list[Vector]:
    """The same vectors on a fork of their tape, each in the frame in which it has the fewest terms.

    Where one frame is shortest for all of them, all use it, and of several such frames in
    `home`, the frame of the body that they belong to, or else in one in which they were given.
    """
    forms_of: Forms = {}
    choices = [_shortest(v.on(tape), home, forms_of) for v in vectors]
    several = [set(forms) for forms in choices if None not in forms]
    common = set.intersection(*several) if several else set()
    given = {F for v in vectors for F in v.parts}
    shared = min(common, key=lambda F: _preference(F, home, given), default=None)
    return [
        forms[shared]
        if shared in forms
        else min(forms.values(), key=lambda w: _cost(w, forms_of) or TOO_LONG)
        for forms in choices
    ]


def _shortest(v: Vector, home: Frame | None, forms_of: Forms) -> dict[Frame | None, Vector]:
    """The shortest forms of a vector by their frame; None for a sum over frames."""
    if not v.parts:
        return {None: v}
    most = MOST_OPERATIONS_OF_MANY_FRAMES if has_many_frames(v) else MOST_OPERATIONS
    if operation_count(v.tape, component_nodes(v)) > most:
        return {None: v}
    costs = {w: _cost(w, forms_of) or TOO_LONG for w in (v, *_candidates(v, home))}
    least = min(cost[:2] for cost in costs.values())
    best = [w for w, cost in costs.items() if cost[:2] == least]
    return {
        next(iter(w.parts)) if len(w.parts) == 1 else None: _with_exact_zeros(w, forms_of)
        for w in best
    }


def _preference(
    F: Frame | None, home: Frame | None, given: set[Frame]
) -> tuple[bool, bool, int, int]:
    """The home frame first, then a frame in which a vector was given, then the nearest to home."""
    depth = 0 if F is None else F.depth
    distance = _distance(F, home) if home is not None else depth
    return F is not home, F not in given, distance, depth


def _candidates(v: Vector, home: Frame | None) -> Iterator[Vector]:
    yield merge_shared_axes(v)
    for F in _nearby_frames(v.parts if home is None else (*v.parts, home)):
        yield Vector(v.tape, {F: v.components(F)})


def merge_shared_axes(v: Vector) -> Vector:
    """The same sum over frames, each axis written in the first frame that has it."""
    t, parts = v.tape, dict[Frame, Triple]()
    for F, c in v.parts.items():
        for k, component in enumerate(c):
            if component != t.zero:
                first = _first_frame_with_axis(F, k)
                along: Triple = tuple(  # type: ignore[assignment]
                    component if j == k else t.zero for j in range(3)
                )
                parts[first] = add3(t, parts[first], along) if first in parts else along
    return Vector(t, parts)


def _first_frame_with_axis(F: Frame, axis: int) -> Frame:
    while (
        F.parent is not None and isinstance(F.rotation, BasisRotation) and F.rotation.axis == axis
    ):
        F = F.parent
    return F


def _nearby_frames(frames: Iterable[Frame]) -> list[Frame]:
    """The frames of a vector, then those few rotations away, nearest first."""
    near = list(dict.fromkeys(frames))
    children: dict[Frame | None, list[Frame]] = {}
    for F in near[0].space.frames:
        children.setdefault(F.parent, []).append(F)
    new = near
    for _ in range(FARTHEST):
        next_to = [G for F in new for G in (F.parent, *children.get(F, ())) if G is not None]
        new = [G for G in dict.fromkeys(next_to) if G not in near]
        near = [*near, *new]
    return near[:MOST_FRAMES]


def has_many_frames(v: Vector) -> bool:
    """Whether the system of a vector has too many frames for all forms to be tried."""
    return bool(v.parts) and len(next(iter(v.parts)).space.frames) > FEW_FRAMES


def component_nodes(v: Vector) -> list[int]:
    """The components of a vector, frame by frame."""
    return [c for triple in v.parts.values() for c in triple]


def _cost(v: Vector, forms_of: Forms) -> Cost | None:
    """How long a vector is to read; None where its components are too long for that."""
    forms = [_form(v.tape, i, forms_of) for i in component_nodes(v)]
    readable = [form for form in forms if form is not None]
    if len(readable) < len(forms):
        return None
    return (
        sum(form.term_count for form in readable),
        len(v.parts),
        sum(map(printed_size, readable)),
        max((F.depth for F in v.parts), default=0),
    )


def _distance(F: Frame | None, G: Frame | None) -> int:
    """The number of rotations between two frames."""
    steps = 0
    while F is not G:
        if G is None or (F is not None and F.depth >= G.depth):
            F = F.parent if F is not None else None
        else:
            G = G.parent
        steps += 1
    return steps


def _form(t: Tape, i: int, forms_of: Forms) -> RationalForm | None:
    """The form of a node of the one tape on which all vectors are written; computed once."""
    if i not in forms_of:
        short = operation_count(t, (i,)) <= MOST_OPERATIONS
        forms_of[i] = readable_form(t, i) if short else None
    return forms_of[i]


def _with_exact_zeros(v: Vector, forms_of: Forms) -> Vector:
    return Vector(v.tape, {F: _clear_zeros(v.tape, c, forms_of) for F, c in v.parts.items()})


def _clear_zeros(t: Tape, c: Triple, forms_of: Forms) -> Triple:
    """The components, zero where their normal form is."""
    forms = [_form(t, i, forms_of) for i in c]
    return tuple(
        t.zero if form is not None and form.is_zero else i for i, form in zip(c, forms, strict=True)
    )  # type: ignore[return-value]
