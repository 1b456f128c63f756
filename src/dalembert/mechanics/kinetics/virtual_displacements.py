"""δr = Σ r_k δq_k, δW = Σ Q_k δq_k, v_t: what the books show between a principle and its equations.

Virtual displacements and the conditions of the constraint rows on them, the virtual work, the
resultants of the loads on each body, time-partial velocities and the kinetic energies of
translation and rotation. None of them enters an equation of motion: they are made when a derivation
is read, from the quantities that gave the equations.

Source: Mei85 (7.12), (7.29), (7.33), (7.40); Bar00 (15), (27); Gre03 (4.12), (4.17), (4.43).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dalembert.errors import NotApplicable
from dalembert.foundation.caching import lazy_property
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinetics.free_bodies import GroupLoad, joint_loads, loads_by_group
from dalembert.mechanics.kinetics.quantity import Quantity, equation
from dalembert.mechanics.kinetics.rigid_groups import RigidGroup, RigidGroups
from dalembert.mechanics.kinetics.spatial_fields import Location, SpatialField, VelocityPartials
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.model.elements import Body
from dalembert.symbolic.algebra import formula as f
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import Substitution
from dalembert.symbolic.algebra.formula import Variation, letter
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import SparseMatrix
from dalembert.symbolic.algebra.tape import Tape


class DisplayedField(SpatialField):
    """A field whose places are chosen when it is read: those where it does not vanish."""

    def __init__(
        self, tape: Tape, at: Callable[[Any], Any], places: Callable[[], Iterable[Location]]
    ) -> None:
        self.tape, self._make, self._places = tape, at, places
        self.values: dict[Location, Any] = {}

    @lazy_property
    def support(self) -> tuple[Location, ...]:
        """The places where it does not vanish."""
        return tuple(X for X in self._places() if not self._vanishes(X))

    def _vanishes(self, X: Location) -> bool:
        value = self(X)
        if isinstance(value, Scalar):
            return all(provably_zero(self.tape, [value.i]))
        return all(provably_zero(self.tape, [c for part in value.parts.values() for c in part]))


# ---- virtual displacements -------------------------------------------------------------------


def variation_symbols(x: Quantities, of: Quantity) -> Quantity:
    """δq, δq̇, δu: a symbol for the variation of each"""
    symbols = [x.tape.private_symbol(f"δ{x.kin.name(i)}") for i in of.value]
    return x.variables(Variation(of.ref), symbols, of.row_labels)


def admissible_displacements(x: Quantities, dq: Quantity) -> tuple[Quantity, ...]:
    """A δq = 0 and δq = W δπ; nothing where there are no rows."""
    if not x.kin.rows:
        return ()
    names = tuple(row.name for row in x.kin.rows)
    A = Quantity(
        letter("A"),
        SparseMatrix(x.tape, (row.A for row in x.kin.rows), x.kin.n_q),
        symbol=letter("A"),
        row_labels=names,
    )
    rows = equation(A @ dq).as_step(
        "Conditions of the constraints on the displacements",
        "Mei85 (7.12), Gre03 (4.12)",
        "Time is fixed, so the part b of a row A q̇ + b = 0 drops out. The δq are not independent: "
        "each row fixes one of them.",
    )
    pi = x.variables(
        Variation(letter("π")),
        [x.tape.private_symbol(f"δπ_{r}") for r in x.speed_labels],
        x.speed_labels,
    )
    free = (x.W @ pi).with_symbol(dq.ref).with_parts(x.W, pi, dq)
    return rows, free.as_step(
        "Displacements that satisfy them",
        "Gre03 (4.17)",
        "Every admissible displacement is a combination of the columns of W, with as many "
        "arbitrary δπ as there are independent speeds.",
    )


def displacement(dq: Quantity, slopes: Quantity) -> Quantity:
    """δr = Σ r_k δq_k, δθ = Σ θ_k δq_k"""
    partials, symbol = slopes.value, slopes.symbol
    assert isinstance(partials, VelocityPartials)
    assert isinstance(symbol, f.Symbol)

    def at(X: Location) -> Vector:
        total = Vector(partials.tape, {})
        for k, part in partials(X).items():
            total = total + part.scale(dq.value.nodes[k])
        return total

    field = DisplayedField(partials.tape, at, lambda: partials.loaded_locations)
    summand = f.Product((symbol, Variation(letter("q", ("k",)))))
    return Quantity(
        f.Summation(summand, "k"),
        field,
        (slopes, dq),
        symbol=Variation(letter(symbol.letter)),
    )


def virtual_work(along: Quantity, dq: Quantity, symbol: f.Formula) -> Quantity:
    """δW = Σ Q_k δq_k"""
    return (along @ dq).with_symbol(symbol)


# ---- resultants ------------------------------------------------------------------------------


def resultant_obstacle(x: Quantities) -> str:
    """Why there are no resultants of single bodies; nothing where there are."""
    return _LoadsByBody(x).obstacle


def resultant_force(x: Quantities) -> Quantity:
    """F_i: the sum of the forces on each body"""
    loads = _LoadsByBody(x)
    formula = f.Words("the sum of the forces on each body")
    return Quantity(formula, _body_field(x, loads.force), symbol=letter("F", ("i",)))


def resultant_moment(x: Quantities) -> Quantity:
    """M_Ci: the sum of the moments on each body about its mass centre"""
    loads = _LoadsByBody(x)
    formula = f.Words("the sum of the moments on each body about its mass centre")
    return Quantity(formula, _body_field(x, loads.moment), symbol=letter("M", ("Ci",)))


def _body_field(x: Quantities, of: Callable[[Body], Vector]) -> DisplayedField:
    """A vector of each body, at its frame or, for a particle, its point; of none where bodies
    share these.
    """
    bodies: dict[Location, Body] = {b.frame or b.G: b for b in x.kin.system.bodies}
    unique = len(bodies) == len(x.kin.system.bodies)
    return DisplayedField(x.tape, lambda X: of(bodies[X]), lambda: bodies if unique else ())


class _LoadsByBody:
    """The loads of a description, each on the body that it acts on."""

    def __init__(self, x: Quantities) -> None:
        self.x = x

    @lazy_property
    def _loads(self) -> list[tuple[Body, Vector, Vector | None]]:
        """(body, load, arm from its mass centre): no arm for a couple."""
        groups = RigidGroups(self.x.kin)
        booked = [*loads_by_group(groups), *_joint_load_pairs(groups)]
        return [self._on_body(load) for load in booked if load.group is not groups.ground]

    @lazy_property
    def obstacle(self) -> str:
        """Why loads cannot be assigned to bodies; nothing where they can."""
        try:
            _ = self._loads
        except NotApplicable as reason:
            return str(reason)
        return ""

    def _on_body(self, load: GroupLoad) -> tuple[Body, Vector, Vector | None]:
        """The body that carries a load: the one at whose mass centre it acts, else a rigid one."""
        masses = [b for b, _ in load.group.masses]
        central = [b for b in masses if load.at is b.G]
        rigid = [b for b in masses if b.frame is not None]
        if not central and not rigid:
            msg = f"the load along {load.name} acts on no rigid body"
            raise NotApplicable(msg)
        body = (central or rigid)[0]
        arm = None if load.at is None else load.at - body.G
        return body, self.x.kin.vector_in_rates(load.vector), arm

    def force(self, body: Body) -> Vector:
        """Σ F"""
        own = (F for b, F, arm in self._loads if b is body and arm is not None)
        return sum(own, Vector(self.x.tape, {}))

    def moment(self, body: Body) -> Vector:
        """Σ M + Σ ρ × F"""
        own = (
            load if arm is None else arm.on(self.x.tape).cross(load)
            for b, load, arm in self._loads
            if b is body
        )
        return sum(own, Vector(self.x.tape, {}))


def _joint_load_pairs(groups: RigidGroups) -> Iterator[GroupLoad]:
    """τ_k of a potential or dissipation in a joint: on the body after it, and reversed on the body
    before it.
    """
    t, moved = groups.kin.tape, groups.joints_by_coordinate()
    for k, tau in joint_loads(groups).items():
        (joint,) = moved[k]
        v_k, w_k = groups.joint_twists(joint)[k]
        force = w_k if not v_k.parts else v_k
        square = force.dot_node(force)
        if (v_k.parts and w_k.parts) or not provably_zero(t, [t.sub(square, t.one)])[0]:
            msg = f"{joint.name}: its load is neither a force along an axis nor a couple"
            raise NotApplicable(msg)
        after = _first_mass_centre(joint) if v_k.parts else None
        yield GroupLoad(joint.name, joint, force.scale(tau), after)
        if joint.before is not None:
            yield GroupLoad(joint.name, joint.before, force.scale(t.neg(tau)), after)


def _first_mass_centre(group: RigidGroup) -> Point:
    """Where the force of a joint along its axis is taken to act."""
    for body, _ in group.masses:
        return body.G
    msg = f"{group.name}: a force in a joint of a part without mass"
    raise NotApplicable(msg)


# ---- parts of velocities and energies ----------------------------------------------------------


def time_partial(x: Quantities, velocity: Quantity, slopes: Quantity) -> Quantity:
    """v_t: the velocity where all speeds are zero.

    Source: Bar00 (27), with v_t = ∂r/∂t + Σ r_k X_k.
    """
    field, partials = velocity.value, slopes.value
    still = Substitution(x.tape, dict.fromkeys(x.u.value.nodes, x.tape.zero))
    value = DisplayedField(x.tape, lambda X: field(X).map(still), lambda: partials.loaded_locations)
    at_rest = f.With(velocity.ref, (f.Equation(x.u.ref, f.ZERO),))
    assert isinstance(velocity.symbol, f.Symbol)
    symbol = letter(velocity.symbol.letter, ("t",))
    return Quantity(at_rest, value, (velocity, x.u), symbol=symbol)


def koenig_parts(x: Quantities, v: Quantity, w: Quantity) -> tuple[Quantity, Quantity]:
    """½ m v·v of each body and ½ ω·I·ω of each rigid body: Koenig's theorem.

    Source: Gre03 (4.43).
    """
    translation = x.half * (x.m * v.dot(v))
    rotation = x.half * w.dot(x.inertia.dot(w))
    return translation.with_letter("T", "v"), rotation.with_letter("T", "ω")
