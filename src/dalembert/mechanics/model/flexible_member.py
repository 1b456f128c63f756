"""Members: strings, bars, shafts and beams, described as continua attached to a point and a frame.

r(x, t) = r_P + (x + u − ½∫₀ˣ (v′² + w′²) dx) e_x + v e_y + w e_z      (u: stretch; the integral:
shortening)

A member is a description only. What is done with it, its hybrid equations or its expansion in
admissible functions, is the matter of the chapter `flexible`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from dalembert.errors import BadDescription
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.symbolic.algebra.scalar import Scalar

Kind = Literal["beam", "string", "bar", "shaft"]
Support = Literal["clamped", "pinned", "sliding", "free"]
FieldKind = Literal["bending", "transverse", "stretch", "twist", "turn"]

SUPPORTS: Final = ("clamped", "pinned", "sliding", "free")
_SIDES: Final = ("left", "right")
_END_PROPERTIES: Final = (
    "mass",
    "inertia",
    "spring",
    "turning_spring",
    "axial_spring",
    "twisting_spring",
    "damper",
)


@dataclass(frozen=True, eq=False)
class End(Displayable):
    """One end of a member: its support, and the mass, spring or load on it.

    The springs and the damper tie it to the frame of the member, across the member (`spring`,
    `damper`), against its slope (`turning_spring`), along it (`axial_spring`) and against its twist
    (`twisting_spring`); the damper of a bar works along it, that of a shaft against its twist.
    `inertia` is the moment of inertia of an end body about the axis across the bending plane, on a
    shaft about the shaft; `force` and `moment` are vectors.
    """

    support: Support
    mass: Scalar | None = None
    inertia: Scalar | None = None
    spring: Scalar | None = None
    turning_spring: Scalar | None = None
    axial_spring: Scalar | None = None
    twisting_spring: Scalar | None = None
    damper: Scalar | None = None
    force: Vector | None = None
    moment: Vector | None = None
    # whether the stretch and the twist are held here; None: as the support says
    axial: bool | None = None
    twist: bool | None = None


@dataclass(frozen=True, eq=False)
class Field(Displayable):
    """One unknown function of (x, t): v and w across the member, u along it, φ its twist, ψ the
    rotation of its sections.
    """

    symbol: str
    kind: FieldKind
    # what it displaces along, or turns about
    direction: Vector
    # the highest derivative in the strain energy
    order: int


@dataclass(frozen=True, eq=False)
class Member:
    """A continuum on [0, length]: x is the position along the member; its properties are
    functions of x.
    """

    name: str
    kind: Kind
    at: Point
    frame: Frame
    along: Vector
    bending: tuple[Vector, ...]
    x: Scalar
    length: Scalar
    # mass per length ρA; only a shaft does without
    density: Scalar | None
    # EI, one for each direction of bending
    stiffness: tuple[Scalar, ...] = ()
    # EA, GJ, and kGA for each direction of bending
    axial: Scalar | None = None
    torsion: Scalar | None = None
    shear: tuple[Scalar, ...] = ()
    # moments of inertia per length: ρI about the axis across each direction of bending, ρI_p about
    # the member
    rotary: tuple[Scalar, ...] = ()
    polar: Scalar | None = None
    # the axial force that is there from the start, positive in tension
    tension: Scalar | None = None
    shortening: bool = False
    left: End = End("clamped")
    right: End = End("free")
    # force per length
    load: Vector | None = None
    loose: bool = False

    @property
    def bending_axes(self) -> tuple[Vector, ...]:
        """The axes about which the member's slopes turn: e_x × e_y for v, e_x × e_z for w."""
        return tuple(self.along.cross(b) for b in self.bending)

    @property
    def ends(self) -> tuple[End, End]:
        """The end at x = 0 and the end at x = length."""
        return self.left, self.right

    @property
    def damped_fields(self) -> tuple[str, ...]:
        """The fields that a damper at an end works against: v and w, or u of a bar, φ of a
        shaft.
        """
        return {"bar": ("u",), "shaft": ("phi",)}.get(self.kind, ("v", "w")[: len(self.bending)])

    @property
    def fields(self) -> tuple[Field, ...]:
        """The unknown functions, in order: v, w, u, φ, ψ."""
        bent: FieldKind = "bending" if self.kind == "beam" and not self.shear else "transverse"
        fields = [
            Field(s, bent, b, 2 if bent == "bending" else 1)
            for s, b in zip("vw", self.bending, strict=False)
        ]
        if self.axial is not None:
            fields.append(Field("u", "stretch", self.along, 1))
        if self.torsion is not None:
            fields.append(Field("phi", "twist", self.along, 1))
        if self.shear:
            names = ("psi",) if len(self.bending) == 1 else ("psi_v", "psi_w")
            fields += [
                Field(s, "turn", n, 1) for s, n in zip(names, self.bending_axes, strict=True)
            ]
        return tuple(fields)

    def essential_conditions(self, field: Field) -> tuple[tuple[int, int], ...]:
        """The geometric conditions of a field: (end, k) means that its k-th derivative vanishes
        at end 0 or 1.
        """
        return tuple(
            (side, k)
            for side, end in enumerate(self.ends)
            for k in self._fixed_derivatives(field, side, end)
        )

    def _fixed_derivatives(self, field: Field, side: int, end: End) -> tuple[int, ...]:
        support = end.support
        if field.kind == "bending":
            return {"clamped": (0, 1), "pinned": (0,), "sliding": (1,), "free": ()}[support]
        if field.kind == "transverse":
            return (0,) if support in ("clamped", "pinned") else ()
        if field.kind == "turn":
            return (0,) if support in ("clamped", "sliding") else ()
        if field.kind == "twist":
            held = (
                end.twist
                if end.twist is not None
                else support == "clamped" or (side == 0 and support != "free")
            )
            return (0,) if held else ()
        # a bent member draws its far end in, so that end slides along unless it is declared held
        free_to_slide = side == 1 and self.kind == "beam"
        held = end.axial if end.axial is not None else support != "free" and not free_to_slide
        return (0,) if held else ()

    def __repr__(self) -> str:
        return f"Member({self.name!r}: {self.kind}, {self.left.support}–{self.right.support})"


@dataclass(frozen=True, eq=False)
class MemberExpansion:
    """The amplitudes by which a member's fields became coordinates of its system: {field: (q_1,
    …, q_n)}.
    """

    member: Member
    amplitudes: dict[str, tuple[Scalar, ...]]

    def truncation_report(self, size: Callable[[Scalar], float]) -> list[str]:
        """How large the amplitude of the last function of each field is against the largest:
        small, if enough functions are kept.
        """
        lines = []
        for symbol, amplitudes in self.amplitudes.items():
            sizes = [size(q) for q in amplitudes]
            if len(sizes) > 1 and max(sizes) > 0:
                share = f"{sizes[-1] / max(sizes):.1e} of the largest"
                lines.append(
                    f"{self.member.name}: amplitude of the last of {len(sizes)} functions of "
                    f"{symbol} at most {share}"
                )
        return lines


# ---- what is refused: a member that is loose, an end that is supported twice
# ----------------------


def support_of(name: object) -> Support:
    """A kind of support by its name."""
    known = {"fixed": "clamped", **{s: s for s in SUPPORTS}}
    if not isinstance(name, str) or name not in known:
        msg = (
            f"end {name!r}: an end is clamped (or fixed), pinned, sliding or free; springs and "
            f"masses come with s.end(...)"
        )
        raise BadDescription(msg)
    return known[name]  # type: ignore[return-value]


def check_ends(member: Member) -> None:
    """Refuse a member that can move as a whole in its frame, and an end that is held and carries
    something as well.
    """
    for field in member.fields:
        _check_rigid_motion(member, field)
    for side, end in zip(_SIDES, member.ends, strict=True):
        for what in _END_PROPERTIES:
            if getattr(end, what) is not None:
                _check_end_load(member, side, what, *_acts_on(member, what))


def _acts_on(member: Member, what: str) -> tuple[str, int]:
    """The field, and which derivative of it, that something at an end acts on."""
    first = member.damped_fields[0]
    turned = ("phi", 0) if member.kind == "shaft" else ("v", 1)
    springs = {
        "spring": ("v", 0),
        "turning_spring": ("v", 1),
        "axial_spring": ("u", 0),
        "twisting_spring": ("phi", 0),
    }
    return {"mass": (first, 0), "damper": (first, 0), "inertia": turned, **springs}[what]


def _spring_conditions(member: Member, field: Field) -> list[tuple[int, int]]:
    """The (end, k) at which a spring does the work of a condition."""
    conditions = []
    for side, end in enumerate(member.ends):
        if field.symbol in ("v", "w"):
            conditions += [(side, 0)] if end.spring is not None else []
            conditions += [(side, 1)] if end.turning_spring is not None else []
        if (field.symbol == "u" and end.axial_spring is not None) or (
            field.symbol == "phi" and end.twisting_spring is not None
        ):
            conditions.append((side, 0))
    return conditions


def _check_rigid_motion(member: Member, field: Field) -> None:
    """A rigid motion a + b x that no condition and no spring resists leaves the member loose."""
    held = {*member.essential_conditions(field), *_spring_conditions(member, field)}
    displaced = sum(k == 0 for _, k in held)
    # a section that is held, as slope or as turn of its own, keeps the whole from turning
    turned = any(k == 1 for _, k in held) or any(
        member.essential_conditions(f) for f in member.fields if f.kind == "turn"
    )
    pulled = member.tension is not None or member.shortening
    if member.loose or field.kind == "turn":
        return
    name = f"{member.kind} {member.name!r}"
    ends = f"{member.left.support}–{member.right.support}"
    if displaced == 0:
        what = {"stretch": "slide along its axis", "twist": "rotate about its axis"}.get(
            field.kind, "move sideways"
        )
        cure = "hold an end, give it a spring (s.end), or say loose=True if it floats"
        msg = (
            f"{name}: its ends ({ends}) allow a rigid motion: it can {what} as a whole in frame "
            f"{member.frame.name}; {cure}"
        )
        raise BadDescription(msg)
    if (
        field.kind in ("bending", "transverse")
        and member.kind == "beam"
        and displaced == 1
        and not turned
        and not pulled
    ):
        cure = (
            "clamp an end, hold both, give it a torsional spring (s.end), or say loose=True if "
            "it "
            "floats"
        )
        msg = (
            f"{name}: its ends ({ends}) allow a rigid motion: it can rotate as a whole in frame "
            f"{member.frame.name}; {cure}"
        )
        raise BadDescription(msg)


def _check_end_load(member: Member, side: str, what: str, symbol: str, k: int) -> None:
    """A spring or damper on an end that cannot move does nothing: the end is supported twice. A
    mass there moves with the frame.
    """
    number = _SIDES.index(side)
    name, words = f"{member.kind} {member.name!r}", _article(what.replace("_", " "))
    field = next((f for f in member.fields if f.symbol == symbol), None)
    if field is None:
        fitting = {"spring": "give axial_spring= to a bar, twisting_spring= to a shaft"}.get(
            what, "leave it out"
        )
        msg = (
            f"{name}: its {side} end has {words}, but no motion of this member acts on it; "
            f"{fitting}"
        )
        raise BadDescription(msg)
    turns = next((f for f in member.fields if f.kind == "turn"), None)
    held = (
        (number, 0) in member.essential_conditions(turns)
        if k == 1 and turns is not None
        else (number, k) in member.essential_conditions(field)
    )
    if held and what not in ("mass", "inertia"):
        support = member.ends[number].support
        given = f"{support} there and given {words} that can never act"
        msg = f"{name}: its {side} end is over-supported, {given}; leave one of them out"
        raise BadDescription(msg)


def _article(words: str) -> str:
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"
