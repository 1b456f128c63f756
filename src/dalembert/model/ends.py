"""How the ends of a member are held, and what is refused: a member that is loose, an end that is supported twice."""

from __future__ import annotations

from typing import Final

from dalembert.errors import BadDescription
from dalembert.model.member import SUPPORTS, Field, Member, Support

_SIDES: Final = ("left", "right")
_CARRIED: Final = ("mass", "inertia", "spring", "turning_spring", "axial_spring", "twisting_spring", "damper")


def support_of(name: object) -> Support:
    """A kind of support by its name."""
    known = {"fixed": "clamped", **{s: s for s in SUPPORTS}}
    if not isinstance(name, str) or name not in known:
        msg = f"end {name!r}: an end is clamped (or fixed), pinned, sliding or free; springs and masses come with s.end(...)"
        raise BadDescription(msg)
    return known[name]  # type: ignore[return-value]


def check_ends(member: Member) -> None:
    """Refuse a member that can move as a whole in its frame, and an end that is held and carries something as well."""
    for field in member.fields:
        _check_held(member, field)
    for side, end in zip(_SIDES, member.ends, strict=True):
        for what in _CARRIED:
            if getattr(end, what) is not None:
                _check_carried(member, side, what, *_acts_on(member, what))


def _acts_on(member: Member, what: str) -> tuple[str, int]:
    """The field, and which derivative of it, that something at an end acts on."""
    first = member.rigidities[0]
    turned = ("phi", 0) if member.kind == "shaft" else ("v", 1)
    springs = {"spring": ("v", 0), "turning_spring": ("v", 1), "axial_spring": ("u", 0), "twisting_spring": ("phi", 0)}
    return {"mass": (first, 0), "damper": (first, 0), "inertia": turned, **springs}[what]


def _springs(member: Member, field: Field) -> list[tuple[int, int]]:
    """The (end, k) at which a spring does the work of a condition."""
    found = []
    for side, end in enumerate(member.ends):
        if field.symbol in ("v", "w"):
            found += [(side, 0)] if end.spring is not None else []
            found += [(side, 1)] if end.turning_spring is not None else []
        if (field.symbol == "u" and end.axial_spring is not None) or (field.symbol == "phi" and end.twisting_spring is not None):
            found.append((side, 0))
    return found


def _check_held(member: Member, field: Field) -> None:
    """A rigid motion a + b x that no condition and no spring resists leaves the member loose."""
    held = {*member.geometric(field), *_springs(member, field)}
    displaced = sum(k == 0 for _, k in held)
    # a section that is held, as slope or as turn of its own, keeps the whole from turning
    turned = any(k == 1 for _, k in held) or any(member.geometric(f) for f in member.fields if f.kind == "turn")
    pulled = member.tension is not None or member.shortening
    if member.loose or field.kind == "turn":
        return
    name = f"{member.kind} {member.name!r}"
    ends = f"{member.left.support}–{member.right.support}"
    if displaced == 0:
        what = {"stretch": "slide along its axis", "twist": "turn about its axis"}.get(field.kind, "move sideways")
        mend = "hold an end, give it a spring (s.end), or say loose=True if it floats"
        msg = f"{name}: its ends ({ends}) leave it loose, it can {what} as a whole in frame {member.frame.name}; {mend}"
        raise BadDescription(msg)
    if field.kind in ("bending", "transverse") and member.kind == "beam" and displaced == 1 and not turned and not pulled:
        mend = "clamp an end, hold both, give it a turning spring (s.end), or say loose=True if it floats"
        msg = f"{name}: its ends ({ends}) leave it loose, it can turn as a whole in frame {member.frame.name}; {mend}"
        raise BadDescription(msg)


def _check_carried(member: Member, side: str, what: str, symbol: str, k: int) -> None:
    """A spring or damper on an end that cannot move does nothing: the end is supported twice. A mass there moves with the frame."""
    number = _SIDES.index(side)
    name, words = f"{member.kind} {member.name!r}", _article(what.replace("_", " "))
    field = next((f for f in member.fields if f.symbol == symbol), None)
    if field is None:
        fitting = {"spring": "give axial_spring= to a bar, twisting_spring= to a shaft"}.get(what, "leave it out")
        msg = f"{name}: its {side} end has {words}, but nothing in this member moves against it; {fitting}"
        raise BadDescription(msg)
    turns = next((f for f in member.fields if f.kind == "turn"), None)
    held = (number, 0) in member.geometric(turns) if k == 1 and turns is not None else (number, k) in member.geometric(field)
    if held and what not in ("mass", "inertia"):
        support = member.ends[number].support
        given = f"{support} there and given {words} that can never act"
        msg = f"{name}: its {side} end is over-supported, {given}; leave one of them out"
        raise BadDescription(msg)


def _article(words: str) -> str:
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"
