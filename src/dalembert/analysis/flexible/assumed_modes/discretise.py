"""A member becomes slices: its fields are expanded in admissible functions, and the amplitudes are
coordinates of the system.
Keywords: assumed modes.

T = ½∫ ρA ṙ·ṙ dx = Σ_k ½ m_k v_k·v_k with m_k = w_k ρA(x_k) L at the nodes of a rule that is exact
for the polynomials involved, and V = ½∫ EI v″² dx integrated exactly. The slices are particles, or
thin bodies where sections have inertia, so that every principle, the certificate, the energy
integrals and native code treat them as they treat any mass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from dalembert.analysis.flexible.assumed_modes.admissible_functions import (
    eigenfunctions,
    orthogonal_polynomials,
    user_functions,
)
from dalembert.analysis.flexible.assumed_modes.discretised_member import (
    Discretised,
    spring_energy,
    strain_energy,
)
from dalembert.analysis.flexible.assumed_modes.member_properties import section_properties
from dalembert.analysis.flexible.assumed_modes.polynomials import (
    AdmissibleFunction,
    Polynomial,
    QuadratureRule,
    degree_in_x,
    gauss_rule,
    max_degree,
    modal_integrals,
    property_at,
    quadrature_for_degree,
)
from dalembert.errors import BadDescription
from dalembert.mechanics.geometry.declaration_log import record_declaration
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector, outer_square
from dalembert.mechanics.model.elements import Body, Dissipation, Load, Potential
from dalembert.mechanics.model.flexible_member import Field, Member
from dalembert.mechanics.model.member_verbs import declare_amplitude_speeds
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.expression_graph import Substitution
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Number

Functions = int | Sequence[Callable[[Scalar], Any]]
Family = Literal["polynomials", "eigenfunctions"]

# more functions than rounding can distinguish, and exact integrals that take too long
_MAX_FUNCTIONS: Final = 200


@record_declaration
def discretise(
    system: System,
    member: Member,
    functions: Functions | Mapping[str, Functions] = 3,
    *,
    family: Family = "polynomials",
    exact: bool = True,
    names: Mapping[str, str] | None = None,
) -> Discretised:
    """bent = da.discretise(s, beam, 4): the member's fields in 4 functions each, their amplitudes
    v_1, …, v_4 in the system.

    functions   how many, for all fields or for each, {"v": 4, "u": 2}; or a list of your own,
                functions of xi = x/length
    family      "polynomials", orthogonalised, or "eigenfunctions" of the uniform member with these
                ends
    exact       integrals of polynomials in ℚ; False: by Gauss and Legendre's rule to rounding, with
                half as many slices, which is faster
    names       how the amplitudes are to be called, {"v": "eta"}: eta_1, eta_2, …

    Where speeds are declared, before or after, the rates of the amplitudes are speeds too: dv_1 =
    v_1.dot, ….
    """
    _check_arguments(system, member, family)
    chosen = {
        f.symbol: _admissible_functions(
            member, f, _requested_functions(member, f, functions), family
        )
        for f in member.fields
    }
    called = {
        f.symbol: _amplitude_names(member, f, chosen[f.symbol], {} if names is None else names)
        for f in member.fields
    }
    declared = iter(
        _declare_amplitudes(system, member, [n for each in called.values() for n in each])
    )
    amplitudes = {symbol: tuple(next(declared) for _ in each) for symbol, each in called.items()}
    quadrature = _mass_quadrature(member, chosen, exact=exact and family == "polynomials")
    bent = Discretised(member, amplitudes, chosen, quadrature, system)
    _declare_parts(bent)
    declare_amplitude_speeds(system)
    return bent


def _declare_parts(bent: Discretised) -> None:
    """The elements of mass, loads, strain energy, springs and dampers of a member."""
    member = bent.member
    springs, damping = spring_energy(bent)
    bent.system.expand(
        bent,
        bodies=[*mass_elements(bent), *end_bodies(bent)],
        loads=list(loads(bent)),
        potentials=[
            Potential(f"strain of {member.name}", strain_energy(bent)),
            Potential(f"springs of {member.name}", springs),
        ],
        dissipations=[Dissipation(f"dampers of {member.name}", damping)],
    )


def _declare_amplitudes(system: System, member: Member, names: Sequence[str]) -> tuple[Scalar, ...]:
    try:
        return system.coordinates(" ".join(names))
    except BadDescription as problem:
        form = ", ".join(f"{f.symbol!r}: '{f.symbol}_{member.name}'" for f in member.fields)
        msg = f"{problem}; call the amplitudes of {member.name!r} something else, names={{{form}}}"
        raise BadDescription(msg) from problem


def _check_arguments(system: System, member: Member, family: str) -> None:
    if not isinstance(system, System) or not isinstance(member, Member):
        msg = "discretise: give the system and one of its members, da.discretise(s, beam, 4)"
        raise BadDescription(msg)
    if system.members.get(member.name) is not member:
        msg = f"discretise: {member.kind} {member.name!r} belongs to another system"
        raise BadDescription(msg)
    if member.name in system.expansions:
        msg = f"{member.kind} {member.name!r} is expanded already; a member is expanded once"
        raise BadDescription(msg)
    if family not in ("polynomials", "eigenfunctions"):
        msg = (
            f"family {family!r}: choose 'polynomials' or 'eigenfunctions', or give functions of "
            f"your own"
        )
        raise BadDescription(msg)


def _requested_functions(
    member: Member, field: Field, functions: Functions | Mapping[str, Functions]
) -> Functions:
    if isinstance(functions, Mapping):
        known = [f.symbol for f in member.fields]
        strange = [key for key in functions if key not in known]
        if strange or field.symbol not in functions:
            wrong = f"no field {strange[0]!r}" if strange else f"no functions for {field.symbol!r}"
            msg = (
                f"{member.kind} {member.name!r}: functions={dict(functions)!r}: {wrong}; its "
                f"fields are {', '.join(known)}"
            )
            raise BadDescription(msg)
        return functions[field.symbol]
    if not isinstance(functions, int) and len(member.fields) > 1:
        form = ", ".join(f'"{f.symbol}": [...]' for f in member.fields)
        msg = (
            f"{member.kind} {member.name!r} has {len(member.fields)} fields; say which "
            f"functions "
            f"are whose: {{{form}}}"
        )
        raise BadDescription(msg)
    return functions


def _admissible_functions(
    member: Member, field: Field, wanted: Functions, family: Family
) -> tuple[AdmissibleFunction, ...]:
    if not isinstance(wanted, int | tuple | list):
        msg = (
            f"{member.kind} {member.name!r}: functions={wanted!r:.60}; say how many, or give a "
            f"list of functions of xi = x/length"
        )
        raise BadDescription(msg)
    if not isinstance(wanted, int):
        own = tuple(wanted)
        if not own:
            msg = f"{member.kind} {member.name!r}: no functions are given for {field.symbol}"
            raise BadDescription(msg)
        return user_functions(member, field, own)
    if not 1 <= wanted <= _MAX_FUNCTIONS:
        msg = (
            f"{member.kind} {member.name!r}: {wanted!s:.20} functions of {field.symbol}; give "
            f"at "
            f"least one and at most {_MAX_FUNCTIONS}"
        )
        raise BadDescription(msg)
    make = orthogonal_polynomials if family == "polynomials" else eigenfunctions
    return make(member.essential_conditions(field), field.order, wanted)


def _amplitude_names(
    member: Member, field: Field, functions: Sequence[AdmissibleFunction], names: Mapping[str, str]
) -> list[str]:
    if not isinstance(names, Mapping) or not all(isinstance(name, str) for name in names.values()):
        msg = (
            f"{member.kind} {member.name!r}: names={names!r:.60}; give strings, as in "
            f"names={{'v': 'eta'}}"
        )
        raise BadDescription(msg)
    strange = [key for key in names if key not in [f.symbol for f in member.fields]]
    if strange:
        msg = (
            f"{member.kind} {member.name!r}: names for {strange[0]!r}, which is none of its fields"
        )
        raise BadDescription(msg)
    stem = names.get(field.symbol, field.symbol)
    return [f"{stem}_{i}" for i in range(1, len(functions) + 1)]


def _mass_quadrature(
    member: Member, functions: Mapping[str, Sequence[AdmissibleFunction]], *, exact: bool
) -> QuadratureRule:
    """The nodes at which the member is cut: enough for ρA ṙ·ṙ, with the squares of the
    shortening where it is kept.
    """
    reach = {symbol: max_degree(f.degree for f in each) for symbol, each in functions.items()}
    squares = [
        d if d is None else 2 * d - 1
        for symbol, d in reach.items()
        if member.shortening and symbol in ("v", "w")
    ]
    position = max_degree([1, *reach.values(), *squares])
    varying = max_degree(
        degree_in_x(member, e)
        for key, e in section_properties(member)
        if key in ("density", "polar", "rotary")
    )
    degree = None if position is None or varying is None else 2 * position + varying
    return quadrature_for_degree(degree) if exact or degree is None else gauss_rule(degree // 2 + 1)


# ---- slices, ends and loads ----------------------------------------------------------------------

# (frame, axis n, J): ½ J (ω·n)², what a thin section keeps of its inertia. The frame turns against
# that of the member by the section's slope about the axis itself, so that ω·n is that of the
# member's frame, and v̇′
SectionInertia = tuple[Frame, Vector, Scalar]

_SIDES: Final = ("left", "right")


def mass_elements(bent: Discretised) -> Iterator[Body]:
    """The member's mass and the inertia of its sections, at the nodes of its rule."""
    m, L = bent.member, bent.member.length
    for k, (xi, w) in enumerate(zip(bent.rule.nodes, bent.rule.weights, strict=True), 1):
        needles = list(_section_inertias(bent, xi, L * w))
        if k == 1 and m.polar is not None and m.torsion is None:
            # the polar inertia of a member that does not twist turns with its frame: one needle for
            # all of it
            one = (Polynomial.of([1]), 0)
            needles.append((m.frame, m.along, modal_integrals(m, m.polar, [one], [one])[0][0] * L))
        name = f"{m.name} {k}"
        mass = (
            Scalar(L.tape, L.tape.zero)
            if m.density is None
            else property_at(m, m.density, xi) * L * w
        )
        yield from _lumped_bodies(m, name, mass, bent.point(xi, name), needles)


def _rotary_inertia(m: Member, angle: Scalar, axis: Vector, J: Scalar) -> SectionInertia:
    return m.frame.rotated(angle, axis), axis, J


def _section_inertias(bent: Discretised, xi: Number, dx: Scalar) -> Iterator[SectionInertia]:
    """ρI dx across each plane of bending, turning with the slope; ρI_p dx about the member,
    turning with the twist.
    """
    m = bent.member
    for plane, (rho_I, axis) in enumerate(zip(m.rotary, m.bending_axes, strict=False)):
        yield _rotary_inertia(
            m, bent.section_rotation(plane, xi), axis, property_at(m, rho_I, xi) * dx
        )
    if m.polar is not None and m.torsion is not None:
        yield _rotary_inertia(m, bent.value("phi", xi), m.along, property_at(m, m.polar, xi) * dx)


def _lumped_bodies(
    m: Member, name: str, mass: Scalar, place: Point, needles: list[SectionInertia]
) -> Iterator[Body]:
    """One particle, or as many thin bodies as there are axes about which the section has
    inertia.
    """
    if not needles:
        yield Body(name, mass, place)
    names = (
        [name] if len(needles) == 1 else [f"{name}{letter}" for letter in "abcd"[: len(needles)]]
    )
    for each, (frame, axis, J) in zip(names, needles, strict=True):
        yield Body(each, mass / len(needles), place, frame, outer_square(axis, m.frame).scale(J))


# ---- ends and loads ------------------------------------------------------------------------------


def end_bodies(bent: Discretised) -> Iterator[Body]:
    """What sits on the ends."""
    m = bent.member
    for share, (side, end) in enumerate(zip(_SIDES, m.ends, strict=True)):
        if end.mass is None:
            continue
        needles = []
        if end.inertia is not None:
            needles = [
                _rotary_inertia(m, bent.section_rotation(p, share), axis, end.inertia)
                for p, axis in enumerate(m.bending_axes)
            ]
            if m.kind == "shaft":
                needles = [_rotary_inertia(m, bent.value("phi", share), m.along, end.inertia)]
        yield from _lumped_bodies(
            m, f"{side} end of {m.name}", end.mass, _end_point(bent, share), needles
        )


def loads(bent: Discretised) -> Iterator[Load]:
    """Forces and moments at the ends, and the load per length f(x) as the force w_k L f(x_k) at
    the place of every slice.
    """
    m = bent.member
    for share, (side, end) in enumerate(zip(_SIDES, m.ends, strict=True)):
        if end.force is not None:
            yield Load(
                f"force at the {side} end of {m.name}",
                forces=((end.force, _end_point(bent, share)),),
            )
        if end.moment is not None:
            yield Load(
                f"moment at the {side} end of {m.name}",
                torques=tuple(_end_moment(bent, share, end.moment)),
            )
    if m.load is not None:
        yield Load(f"load on {m.name}", forces=tuple(_distributed_load(bent, m.load)))


def _end_point(bent: Discretised, share: int) -> Point:
    return bent.tip if share else bent.point(0, f"root of {bent.member.name}")


def _end_moment(bent: Discretised, share: int, moment: Vector) -> Iterator[tuple[Vector, Frame]]:
    """The moment axis by axis, each part on a frame that turns about that axis as the end
    section does.
    """
    m = bent.member
    axial_part = moment
    for plane, axis in enumerate(m.bending_axes):
        part = (moment @ axis) * axis
        axial_part -= part
        yield part, m.frame.rotated(bent.section_rotation(plane, share), axis)
    yield (
        axial_part,
        m.frame.rotated(bent.value("phi", share), m.along) if "phi" in bent.functions else m.frame,
    )


def _distributed_load(bent: Discretised, load: Vector) -> Iterator[tuple[Vector, Point]]:
    m, tape = bent.member, bent.member.length.tape
    for k, (xi, w) in enumerate(zip(bent.rule.nodes, bent.rule.weights, strict=True), 1):
        here = Substitution(tape, {m.x.i: (m.length * xi).i})
        parts = {F: (here(c[0]), here(c[1]), here(c[2])) for F, c in load.on(tape).parts.items()}
        yield Vector(tape, parts) * (m.length * w), bent.point(xi, f"load {k} on {m.name}")
