"""Masses and loads of a system."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dalembert.algebra.exact.field import is_zero
from dalembert.algebra.folds import Derivative, symbols_of
from dalembert.algebra.functions import sqrt
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.scalar import on as on_tape
from dalembert.errors import BadDescription, warn
from dalembert.geometry.dyadic import Dyadic, inertia, outer
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.model.constraints import Constraints
from dalembert.model.elements import Body, Dissipation, Gravity, Load, Potential, Shape, Symbol
from dalembert.model.inertia import inertia_fault
from dalembert.model.material_points import ends, placed, velocity


class Loads(Constraints):
    """What can be declared about masses and forces."""

    def __init__(self) -> None:
        super().__init__()
        self.bodies: list[Body] = []
        self.loads: list[Load] = []
        self.potentials: list[Potential] = []
        self.dissipations: list[Dissipation] = []
        self.field: Gravity | None = None

    # ---- masses ------------------------------------------------------------------------------

    def particle(self, name: str, mass: Any, at: Point) -> Body:
        """A mass at a point."""
        self._body_name(name)
        self.space.has(at, Point, f"particle {name!r}")
        body = Body(name, self._mass(name, mass), at)
        self.bodies.append(body)
        return body

    def body(
        self, name: str, mass: Any, G: Point, frame: Frame, inertia: Dyadic, *, about: Point | None = None, shape: Shape | None = None
    ) -> Body:
        """A rigid body: mass, mass centre G, its frame, and its inertia about G (or about another of its points)."""
        self._body_name(name)
        self.space.has(G, Point, f"body {name!r}")
        self.space.has(frame, Frame, f"body {name!r}")
        if not isinstance(inertia, Dyadic):
            msg = f"body {name!r}: expected its inertia, such as da.inertia(B, 1, 1, 1) or da.rod_inertia(B.y, m, l), got {inertia!r}"
            raise BadDescription(msg)
        self.space.same(inertia.frame.space)
        if about is not None:
            self.space.has(about, Point, f"body {name!r}, about")
        if not isinstance(shape, Shape | None):
            msg = f"body {name!r}: expected a shape, such as da.Shape('sphere', (r,)), got {shape!r}"
            raise BadDescription(msg)
        m = self._mass(name, mass)
        central = inertia if about is None else self._central(inertia, m, G - about)
        self._check_inertia(name, central, frame)
        body = Body(name, m, G, frame, central, shape)
        self.bodies.append(body)
        return body

    def _body_name(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            msg = f"a body needs a name, got {name!r}"
            raise BadDescription(msg)
        if any(b.name == name for b in self.bodies):
            msg = f"a body named {name!r} is declared already"
            raise BadDescription(msg)

    def _mass(self, name: str, mass: Any) -> Scalar:
        tape = self.space.tape
        m = Scalar(tape, on_tape(tape, mass))
        moving = [tape.nodes[i][1] for i in symbols_of(tape, (m.i,)) if i in tape.moving or i in tape.inputs]
        if moving:
            msg = f"body {name!r}: its mass depends on {', '.join(moving)}; a mass must be constant"
            raise BadDescription(msg)
        value = self._number(m.i)
        if value is not None and value <= 0:
            msg = f"body {name!r}: its mass is {value:g}; a mass must be positive"
            raise BadDescription(msg)
        return m

    def _central(self, I_P: Dyadic, m: Scalar, r: Vector) -> Dyadic:
        """I_G = I_P − m (r·r 1 − r r)   (Huygens–Steiner)"""
        F = I_P.frame
        square = r @ r
        return I_P + inertia(F, -m * square, -m * square, -m * square) + outer(r, F).scaled(m)

    def _check_inertia(self, name: str, I: Dyadic, frame: Frame) -> None:
        tape = self.space.tape
        in_body = I.to(frame).entries()
        rate = Derivative(tape, tape.rate)
        changing = [rate(c) for c in in_body]
        if not all(is_zero(tape, changing)):
            q = self._first_mover(in_body)
            own = f"give it in the body's own frame {frame.name}"
            msg = f"body {name!r}: its inertia is not constant in the body, it changes with {q}; {own}"
            raise BadDescription(msg)
        fault = inertia_fault(I, frame, self._number)
        if fault is None:
            return
        msg = f"body {name!r}: {fault.text}"
        if fault.impossible:
            raise BadDescription(msg)
        warn(msg)

    def _first_mover(self, entries: tuple[int, ...]) -> str:
        tape = self.space.tape
        for i in symbols_of(tape, entries):
            if i in tape.moving:
                along = Derivative(tape, lambda x, i=i: tape.one if x == i else None)  # type: ignore[misc]
                if not all(is_zero(tape, [along(c) for c in entries])):
                    return str(tape.nodes[i][1])
        return "time"

    def _number(self, i: int) -> float | None:
        from dalembert.algebra.arithmetic import Floats
        from dalembert.algebra.folds import evaluate

        tape = self.space.tape
        values = {}
        for s in symbols_of(tape, (i,)):
            symbol = self.symbols.get(tape.nodes[s][1])
            if symbol is None or symbol.value is None:
                return None
            values[s] = Floats().const(symbol.value)
        try:
            return evaluate(tape, [i], values.__getitem__, Floats())[0]
        except (ArithmeticError, ValueError) as problem:
            msg = f"{Scalar(tape, i)} has no value for the constants as declared: {problem}"
            raise BadDescription(msg) from None

    # ---- loads -------------------------------------------------------------------------------

    def force(self, F: Vector, at: Point, *, reaction: Point | None = None, on: Any = None, name: str | None = None) -> None:
        """A force at a point (and its opposite at another).

        It acts on the body that the point rides on, or with `on` on that point of a body which is at the place now; with a
        reaction on=(body, other).
        """
        self.space.own(F, "force")
        self._refuse_accelerations("force", [i for c in F.on(self.space.tape).parts.values() for i in c])
        for P in (at,) if reaction is None else (at, reaction):
            self.space.has(P, Point, "force")
        first, second = ends("force", at, reaction, on)
        pair = [(F, at, first)] if reaction is None else [(F, at, first), (-F, reaction, second)]
        self.loads.append(Load(self._load_name(name, "force"), *placed(*pair)))

    def torque(self, T: Vector, on: Frame | Body, *, reaction: Frame | Body | None = None, name: str | None = None) -> None:
        """A torque on a body (and its opposite on another)."""
        self.space.own(T, "torque")
        self._refuse_accelerations("torque", [i for c in T.on(self.space.tape).parts.values() for i in c])
        given = [(T, on)] if reaction is None else [(T, on), (-T, reaction)]
        torques = tuple((M, self._frame(where)) for M, where in given)
        bodies = tuple(where if isinstance(where, Body) else None for _, where in given)
        self.loads.append(Load(self._load_name(name, "torque"), torques=torques, bodies=bodies))

    def _frame(self, on: Frame | Body) -> Frame:
        frame = on.frame if isinstance(on, Body) else on
        if not isinstance(frame, Frame):
            msg = "torque: it must act on a frame or on a rigid body"
            raise BadDescription(msg)
        self.space.same(frame.space)
        return frame

    def _load_name(self, name: str | None, kind: str) -> str:
        taken = {x.name for x in self.loads} | {x.name for x in self.potentials} | {x.name for x in self.dissipations}
        if name is None:
            number = 1 + sum(x.startswith(kind) for x in taken)
            name = f"{kind} {number}"
        if name in taken:
            msg = f"{name!r} is declared already, as a load"
            raise BadDescription(msg)
        return name

    def potential(self, V: Any, name: str | None = None) -> None:
        """A potential energy V(q, t)."""
        tape = self.space.tape
        e = Scalar(tape, on_tape(tape, V))
        velocities = [i for s in self.symbols.values() for i in self._velocities(s)]
        self._refuse("potential", (e.i,), velocities, "V depends on positions and time only")
        self.potentials.append(Potential(self._load_name(name, "potential"), e))

    def dissipation(self, D: Any, name: str | None = None) -> None:
        """Rayleigh's dissipation function D(q, q'): loads −∂D/∂q'."""
        tape = self.space.tape
        e = Scalar(tape, on_tape(tape, D))
        self._refuse_accelerations("dissipation", (e.i,))
        self.dissipations.append(Dissipation(self._load_name(name, "dissipation"), e))

    @staticmethod
    def _velocities(s: Symbol) -> tuple[int, ...]:
        """The nodes q', q'' of a coordinate; u, u' of a speed."""
        if s.kind == "coordinate":
            return s.scalar.dot.i, s.scalar.dot.dot.i
        return (s.scalar.i, s.scalar.dot.i) if s.kind == "speed" else ()

    def _refuse_accelerations(self, what: str, nodes: Iterable[int]) -> None:
        accelerations = [self._velocities(s)[1] for s in self.symbols.values() if self._velocities(s)]
        self._refuse(what, nodes, accelerations, "loads depend on positions, velocities and time")

    def _refuse(self, what: str, nodes: Iterable[int], unwanted: list[int], why: str) -> None:
        tape = self.space.tape
        found = [str(tape.nodes[i][1]) for i in symbols_of(tape, nodes) if i in unwanted]
        if found:
            msg = f"{what}: it contains {', '.join(found)}; {why}"
            raise BadDescription(msg)

    def spring(self, k: Any, P: Point, Q: Point, *, rest: Any = 0, on: Any = None, name: str | None = None) -> None:
        """V = ½ k (|P − Q| − rest)²: a linear spring between two points.

        `on` names the body that it pulls at P, on=(body, other) those at both ends. Where such an end is not fixed to its
        body, the spring pulls at ever other points of it, and is a load without a potential.
        """
        self._ends("spring", P, Q)
        tape, bodies = self.space.tape, ends("spring", P, Q, on)
        r = P - Q
        K, l0 = Scalar(tape, on_tape(tape, k)), Scalar(tape, on_tape(tape, rest))
        F = -K * r if l0 == 0 else -K * (1 - l0 / sqrt(r @ r)) * r
        acting = placed((F, P, bodies[0]), (-F, Q, bodies[1]))
        label = self._load_name(name, "spring")
        if acting.torques:
            self.loads.append(Load(label, *acting))
            return
        stretch2 = r @ r if l0 == 0 else (sqrt(r @ r) - l0) ** 2
        self.potentials.append(Potential(label, K * stretch2 / 2, (P, Q), acting.forces, acting.bodies))

    def damper(self, c: Any, P: Point, Q: Point, *, on: Any = None, name: str | None = None) -> None:
        """F = −c l̇ n on P and its opposite on Q, l̇ n the part of the relative velocity along the line PQ.

        `on` names the body that it pulls at P, on=(body, other) those at both ends: the velocities are then those of their points.
        """
        self._ends("damper", P, Q)
        tape, bodies = self.space.tape, ends("damper", P, Q, on)
        r, v = P - Q, velocity(P, bodies[0]) - velocity(Q, bodies[1])
        F = -Scalar(tape, on_tape(tape, c)) * (r @ v) / (r @ r) * r
        self.loads.append(Load(self._load_name(name, "damper"), *placed((F, P, bodies[0]), (-F, Q, bodies[1]))))

    def _ends(self, what: str, P: Point, Q: Point) -> None:
        for end in (P, Q):
            self.space.has(end, Point, what)
        if all(is_zero(self.space.tape, (P - Q).components(self.space.N))):
            msg = f"{what}: {P.name} and {Q.name} are at the same place, so there is no line between them; give two points"
            raise BadDescription(msg)

    def gravity(self, g: Vector) -> None:
        """A uniform gravity field: the force m g on every mass."""
        self.space.own(g, "gravity")
        if self.field is not None:
            msg = "gravity is declared already; a system has one gravity field"
            raise BadDescription(msg)
        tape = self.space.tape
        moving = [tape.nodes[i][1] for i in symbols_of(tape, g.components(self.space.N)) if i in tape.moving]
        if moving:
            otherwise = "it must be fixed in the inertial frame (declare any other as s.force on each body)"
            msg = f"gravity: the field depends on {', '.join(map(str, moving))}; {otherwise}"
            raise BadDescription(msg)
        self.field = Gravity(g)
