"""Σ c_ij(x) ∂ⁱ⁺ʲv/∂xⁱ∂tʲ = f(x) with conditions at both ends: the small motion of one member, its
frame held.

The field equations and boundary conditions of Hamilton's extended principle are taken about the
straight member: coordinates keep their values, their rates vanish, prescribed motions move as they
are bound to, and the axial force N is the one that they cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import product
from typing import Any, Final, Literal

from dalembert.analysis.flexible.assumed_modes.member_properties import section_properties
from dalembert.analysis.flexible.assumed_modes.polynomials import polynomial_coefficients
from dalembert.analysis.flexible.hybrid.energy_densities import FORCE, SHORTENING
from dalembert.analysis.flexible.hybrid.extended_hamilton import continuum_system, hybrid_equations
from dalembert.analysis.flexible.hybrid.hybrid_equations import BoundaryCondition, HybridEquations
from dalembert.errors import BadDescription, NotApplicable, NotASystem, Unknown
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.equations.equations_of_motion import derivative_bindings
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.model.flexible_member import Member
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import require_mapping
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    LinearCoefficients,
    Substitution,
    evaluate,
    symbols_of,
)
from dalembert.symbolic.algebra.scalar import Scalar, exact
from dalembert.symbolic.algebra.sparse_matrix import Column, gradient_column, sum_scalars
from dalembert.symbolic.algebra.tape import Number, Tape

# ---- which member is meant, and the numbers that its symbols stand for ---------------------------


def select_member(system: System, member: str | Member | None) -> Member:
    """The member that is meant: named, or the only one."""
    if not isinstance(system, System):
        msg = f"give a System, not {type(system).__name__}"
        raise NotASystem(msg)
    known = system.members
    if not known:
        msg = (
            f"system {system.name!r} has no string, bar, shaft or beam; declare one with "
            f"s.beam(...)"
        )
        raise NotApplicable(msg)
    if member is None:
        if len(known) > 1:
            msg = f"system {system.name!r} has several members ({', '.join(known)}): say which one"
            raise Unknown(msg)
        return next(iter(known.values()))
    name = member.name if isinstance(member, Member) else member
    if not isinstance(name, str) or name not in known:
        msg = f"there is no member {name!r}; system {system.name!r} has {', '.join(known)}"
        raise Unknown(msg)
    return known[name]


def member_title(member: Member, what: str) -> str:
    """beam 'beam' (clamped–free): what"""
    return f"{member.kind} {member.name!r} ({member.left.support}–{member.right.support}): {what}"


def constant_numbers(system: System, tape: Tape, values: Mapping[Any, Any]) -> dict[int, Number]:
    """The numbers that constants and held coordinates stand for."""
    given = {
        key.name if isinstance(key, Scalar) else str(key): exact(value)
        for key, value in require_mapping("values", values).items()
    }
    unknown = [name for name in given if name not in system.symbols]
    if unknown:
        msg = f"{unknown[0]!r} is not a symbol of this system"
        raise Unknown(msg)
    numbers: dict[int, Number] = {}
    for name, s in system.symbols.items():
        number = given.get(name, s.value)
        if s.kind == "coordinate":
            number = given.get(name, 0)
        if number is not None:
            numbers[tape.names[name]] = number
    return numbers


def check_members_positive(system: System) -> None:
    """The same of all members, their ends and the bodies with the values they have now, which
    may not be those of the declaration.
    """
    tape = system.space.tape
    numbers = constant_numbers(system, tape, {})
    for m in system.members.values():
        check_positive(m, tape, numbers)
    ends = [
        (f"end of {m.kind} {m.name!r}", end)
        for m in system.members.values()
        for end in (m.left, m.right)
    ]
    sizes = (
        "mass",
        "inertia",
        "spring",
        "turning_spring",
        "axial_spring",
        "twisting_spring",
        "damper",
    )
    named = [
        (what, size.replace("_", " "), e)
        for what, end in ends
        for size in sizes
        if (e := getattr(end, size)) is not None
    ]
    for what, size, e in [*named, *((f"body {b.name!r}", "mass", b.mass) for b in system.bodies)]:
        if all(i in numbers for i in symbols_of(tape, (e.i,))):
            (value,) = evaluate(tape, [e.i], lambda i: float(numbers[i]), FloatArithmetic())
            if value <= 0:
                msg = f"{what}: its {size} is {value:g}; it must be positive"
                raise BadDescription(msg)


def check_positive(m: Member, tape: Tape, numbers: Mapping[int, Number]) -> None:
    """Refuse stiffnesses, masses and lengths that are not positive with the values given."""
    for key, e in section_properties(m):
        inside = symbols_of(tape, (e.i, m.length.i))
        if any(i != m.x.i and i not in numbers for i in inside):
            continue
        known = {i: float(numbers[i]) for i in inside if i != m.x.i}
        (length,) = evaluate(tape, [m.length.i], known.__getitem__, FloatArithmetic())
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            (value,) = evaluate(
                tape, [e.i], (known | {m.x.i: share * length}).__getitem__, FloatArithmetic()
            )
            if value < 0 or (value == 0 and 0 < share < 1):
                msg = f"{m.kind} {m.name!r}: its {key} is {value:g}; it must be positive"
                raise BadDescription(msg)


# ---- the linear equations ------------------------------------------------------------------------

# (field, derivatives along the member, derivatives in time)
Key = tuple[str, int, int]
LOAD: Final = "P"


@dataclass(frozen=True)
class LinearForm:
    """Σ c_ij v⁽ⁱʲ⁾ − f: linear in the fields; coefficients and load are nodes."""

    coefficients: dict[Key, int]
    load: int


@dataclass(frozen=True)
class EndCondition:
    """One condition at one end."""

    side: Literal[0, 1]
    # regular: nothing pulls at this end (the tip of a hanging chain), so the field equation itself
    # holds there
    kind: Literal["geometric", "natural", "regular"]
    field: str
    order: int
    form: LinearForm


@dataclass(frozen=True)
class LinearMemberEquations:
    """The linear field equations of one member that belong together, and their conditions at the
    ends.
    """

    member: Member
    tape: Tape = field(repr=False)
    fields: tuple[str, ...]
    equations: dict[str, LinearForm] = field(repr=False)
    ends: tuple[EndCondition, ...] = field(repr=False)
    # what acts at a section against δv, δv′, …: shear force and bending moment, with the sign of
    # the field's own direction
    sections: dict[tuple[str, int], LinearForm] = field(repr=False)
    numbers: dict[int, Number] = field(repr=False)
    # the compressive force, where it is the unknown
    compression: int | None = None

    @property
    def order(self) -> dict[str, int]:
        """The highest derivative of each field along the member."""
        keys = [key for form in self.equations.values() for key in form.coefficients]
        return {
            name: max((along for own, along, _ in keys if own == name), default=0)
            for name in self.fields
        }

    @property
    def is_uniform(self) -> bool:
        """Whether no coefficient varies along the member."""
        nodes = [
            c
            for form in (*self.equations.values(), *self.sections.values())
            for c in form.coefficients.values()
        ]
        return self.member.x.i not in symbols_of(self.tape, nodes)

    @property
    def symbols(self) -> list[int]:
        """The symbols that its equations contain."""
        return symbols_of(
            self.tape, [c for form in self._forms() for c in form.coefficients.values()]
        )

    @property
    def has_damping(self) -> bool:
        """Whether a first derivative in time occurs."""
        return any(j == 1 for form in self._forms() for _, _, j in form.coefficients)

    def _forms(self) -> Iterable[LinearForm]:
        yield from self.equations.values()
        yield from (e.form for e in self.ends)


def linearize_member(
    system: System,
    member: str | Member | None = None,
    *,
    values: Mapping[Any, Any] | None = None,
    with_compression: bool = False,
) -> list[LinearMemberEquations]:
    """The linear equations of a member about its straight state, one set for each group of fields
    that do not mix.

    compressed   put a compressive force P into the member, in place of its declared tension
    """
    chosen = select_member(system, member)
    system = continuum_system(system)
    kin = Kinematics(system, complete=False).fork()
    t = kin.tape
    if with_compression:
        if not chosen.stiffness:
            msg = (
                f"{chosen.kind} {chosen.name!r} does not bend, so it does not buckle; only "
                f"beams buckle"
            )
            raise NotApplicable(msg)
        P = t.private_symbol(LOAD)
        chosen = replace(chosen, tension=-Scalar(t, P))
    numbers = constant_numbers(system, t, {} if values is None else values)
    check_positive(chosen, t, numbers)
    h = hybrid_equations(kin, {chosen.name: chosen}, speeds=False)
    return _MemberLinearization(h, chosen, numbers, P if with_compression else None).decouple()


class _MemberLinearization:
    """Takes hybrid equations about the straight state."""

    def __init__(
        self, h: HybridEquations, member: Member, numbers: dict[int, Number], P: int | None
    ) -> None:
        self.h, self.member, self.numbers, self.P = h, member, numbers, P
        self.tape, self.c = h.tape, h.continua[member.name]
        self.held = Substitution(self.tape, self._fixed_frame())
        hidden = {self.c.symbols[name] for name in (SHORTENING, FORCE) if name in self.c.symbols}
        self.names = tuple(name for name in self.c.fields.names if name not in hidden)
        self.straight = self._insert_axial_force() if hidden else (lambda e: e)

    def _fixed_frame(self) -> dict[int, int]:
        """Coordinates at rest, prescribed motions as bound."""
        kin = self.h.kinematics
        bound = {
            s.scalar.i: s.motion
            for s in kin.system.symbols.values()
            if s.kind == "specified" and s.motion is not None
        }
        return dict.fromkeys((*kin.qdot, *kin.qddot), self.tape.zero) | derivative_bindings(
            self.tape, bound
        )

    def _insert_axial_force(self) -> Substitution:
        """N(x) = N(L) + ∫ₓᴸ c dx from N′ + c = 0, the axial equation of the straight member; s =
        0.
        """
        t, c = self.tape, self.c
        s, N = c.symbols[SHORTENING], c.symbols[FORCE]
        equation = next(p.residual for p in self.h.partial if p.field == s)
        at_end = next((b.residual for b in self.h.boundary if b.field == s and b.end == 1), None)
        place = c.stations[2]
        slope = c.fields.symbol(N, 1)
        rest, k = LinearCoefficients(t, [slope])(self._straight(equation))
        if at_end is None:
            msg = (
                f"{self.member.kind} {self.member.name!r}: its far end does not say what the "
                f"axial force is there"
            )
            raise NotApplicable(msg)
        end_rest, end_k = LinearCoefficients(t, [c.fields.symbol(N, 0, 0, place.label)])(
            self._straight(at_end)
        )
        values = {}
        e = (
            self._integral_to_end(Scalar(t, rest) / Scalar(t, k[0]))
            - Scalar(t, end_rest) / Scalar(t, end_k[0])
        ).i
        for order in range(4):
            values[c.fields.symbol(N, order)] = e
            for end in c.stations[1:]:
                values[c.fields.symbol(N, order, 0, end.label)] = Substitution(
                    t, {c.fields.x: end.x.value.i}
                )(e)
            e = Derivative(t, {c.fields.x: t.one}.get)(e)
        return Substitution(t, values | self._zero(s))

    def _zero(self, symbol: str) -> dict[int, int]:
        jets = product(range(4), range(3), self.c.stations)
        return {
            self.c.fields.symbol(symbol, order, dots, place.label): self.tape.zero
            for order, dots, place in jets
        }

    def _straight(self, e: int) -> int:
        names = [name for name in self.c.fields.names if name != self.c.symbols.get(FORCE)]
        return Substitution(
            self.tape, {i: zero for name in names for i, zero in self._zero(name).items()}
        )(self.held(e))

    def _integral_to_end(self, density: Scalar) -> Scalar:
        """∫ₓᴸ density dx of a polynomial in x."""
        x, L = Scalar(self.tape, self.c.fields.x), self.c.stations[2].x.value
        powers = polynomial_coefficients(density, x)
        if powers is None:
            msg = (
                f"{self.member.kind} {self.member.name!r}: its axial force is no polynomial in "
                f"x; expand it in functions instead"
            )
            raise NotApplicable(msg)
        return sum_scalars(
            self.tape, (c * ((L ** (n + 1) - x ** (n + 1)) / (n + 1)) for n, c in powers.items())
        )

    # ---- forms -------------------------------------------------------------------------------

    def _linear_form(self, residual: int, place: str) -> LinearForm:
        """Coefficients and load of one equation; what is quadratic in the fields is dropped."""
        t, fields = self.tape, self.c.fields
        e = self.straight(self.held(residual))
        keys = {
            fields.symbol(n, i, j, place): (n, i, j)
            for n in self.names
            for i in range(5)
            for j in range(3)
        }
        inside = [i for i in symbols_of(t, (e,)) if i in keys]
        flat = Substitution(t, dict.fromkeys(inside, t.zero))
        along, load = gradient_column(Scalar(t, e), Column(t, inside)).map(flat), t.neg(flat(e))
        *absent, unloaded = provably_zero(t, [*along, load])
        coefficients = {
            keys[i]: c for i, c, zero in zip(inside, along, absent, strict=True) if not zero
        }
        self._check_time_invariant([*coefficients.values(), load])
        return LinearForm(coefficients, t.zero if unloaded else load)

    def _check_time_invariant(self, nodes: Sequence[int]) -> None:
        """Coefficients must not change with time."""
        t = self.tape
        time = t.names["t"]
        kinds = {s.scalar.i: s for s in self.h.kinematics.system.symbols.values()}
        for i in symbols_of(t, nodes):
            name = str(t.nodes[i][1])
            s = kinds.get(t.names.get(name.rstrip("'"), -1))
            if i == time:
                why = "its equations change with time, so it has no modes and no static shape"
            elif s is not None and s.kind == "specified":
                why = (
                    f"the prescribed motion {s.name} is not bound; say s.specified({s.name!r}, "
                    f"Omega*s.t)"
                )
            else:
                continue
            msg = f"{self.member.kind} {self.member.name!r}: {why}"
            raise NotApplicable(msg)

    def _end(self, b: BoundaryCondition, equations: Mapping[str, LinearForm]) -> EndCondition:
        form = self._linear_form(b.residual, self.c.stations[1 + b.end].label)
        if b.kind == "natural" and not form.coefficients and form.load == self.tape.zero:
            return EndCondition(b.end, "regular", b.field, b.order, equations[b.field])
        return EndCondition(b.end, b.kind, b.field, b.order, form)

    def decouple(self) -> list[LinearMemberEquations]:
        h, name = self.h, self.member.name
        equations = {
            p.field: self._linear_form(p.residual, "") for p in h.partial if p.field in self.names
        }
        ends = [self._end(b, equations) for b in h.boundary if b.field in self.names]
        sections = {
            key: self._linear_form(e, "")
            for key, e in h.sections[name].items()
            if key[0] in self.names
        }
        groups = []
        for names in _coupled_groups(self.names, [*equations.values(), *(e.form for e in ends)]):
            own = {n: equations[n] for n in names}
            conditions = tuple(e for e in ends if e.field in names)
            acting = {key: form for key, form in sections.items() if key[0] in names}
            groups.append(
                LinearMemberEquations(
                    self.member, self.tape, names, own, conditions, acting, self.numbers, self.P
                )
            )
        return groups


def _coupled_groups(names: tuple[str, ...], forms: Iterable[LinearForm]) -> list[tuple[str, ...]]:
    """Groups of fields that occur together in some equation."""
    group = {name: {name} for name in names}
    for form in forms:
        together = {name for name, _, _ in form.coefficients}
        merged = set().union(*(group[name] for name in together)) if together else set()
        for name in merged:
            group[name] = merged
    seen: list[tuple[str, ...]] = []
    for name in names:
        ordered = tuple(n for n in names if n in group[name])
        if ordered not in seen:
            seen.append(ordered)
    return seen
