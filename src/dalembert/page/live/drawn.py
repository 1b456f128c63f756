"""r_P, R_F, energies and residuals as nodes: what a page draws and plots at any state, in the order of its scene."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.algebra.folds import symbols_of
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape
from dalembert.flexible.expansion.positive_properties import properties_along
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.rotation import dot3, plus
from dalembert.geometry.vector import Vector
from dalembert.integrals.audit import energies_of
from dalembert.model.inertia import turning_axes
from dalembert.page.live.parts import ModulePart, expressions
from dalembert.simulation.quantities import energies, residuals
from dalembert.simulation.trajectory import Trajectory
from dalembert.states.evaluator import Evaluator

if TYPE_CHECKING:
    from dalembert.page.scene import Scene
    from dalembert.page.shapes import DrawnBody

Triple = tuple[int, int, int]


class _Nodes:
    """Nodes in order, each once, and the place of each."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.outs: list[int] = []

    def add(self, tape: Tape, nodes: Sequence[int]) -> int:
        """Where these begin."""
        first = len(self.outs)
        self.outs += [self.evaluator.reduced(self.evaluator.node(Scalar(tape, i))) for i in nodes]
        return first


class _Places:
    """r and R of points and frames on a fork of the description's tape; a chain costs no more than its links."""

    def __init__(self, run: Trajectory) -> None:
        self.tape = run.system.space.tape.fork()
        self._points: dict[Point, Triple] = {}
        t = self.tape
        self._units: tuple[Triple, ...] = ((t.one, t.zero, t.zero), (t.zero, t.one, t.zero), (t.zero, t.zero, t.one))
        self._columns: dict[Frame, tuple[Triple, ...]] = {}

    def columns(self, F: Frame) -> tuple[Triple, ...]:
        """R_F = R_parent R_local, by columns."""
        found = self._columns.get(F)
        if found is None:
            local = [F.turn(self.tape, unit, back=True) for unit in self._units]
            found = self._units if F.parent is None else tuple(self._turned(F.parent, c) for c in local)
            self._columns[F] = found
        return found

    def _turned(self, F: Frame, v: Triple) -> Triple:
        """R_F v"""
        t, (a, b, c) = self.tape, self.columns(F)
        first, second, third = (dot3(t, (a[k], b[k], c[k]), v) for k in range(3))
        return first, second, third

    def frame(self, F: Frame) -> list[int]:
        """R by rows."""
        columns = self.columns(F)
        return [columns[j][i] for i in range(3) for j in range(3)]

    def vector(self, v: Vector) -> Triple:
        t = self.tape
        total: Triple = (t.zero, t.zero, t.zero)
        for F, c in v.on(t).parts.items():
            total = plus(t, total, self._turned(F, c))
        return total

    def point(self, P: Point) -> Triple:
        found = self._points.get(P)
        if found is None:
            t = self.tape
            found = (t.zero, t.zero, t.zero) if P.parent is None else plus(t, self.point(P.parent), self.vector(P.r))
            self._points[P] = found
        return found

    def centre(self, b: DrawnBody) -> Triple:
        """The middle of a solid: the mass centre, or where a primitive sits in its body."""
        G, F = self.point(b.body.G), b.body.frame
        if b.middle is None or F is None:
            return G
        x, y, z = (self.tape.const(Fraction(c)) for c in b.middle)
        return plus(self.tape, G, self._turned(F, (x, y, z)))

    def beside(self, P: Point, v: Vector | None) -> Triple:
        return self.point(P) if v is None else plus(self.tape, self.point(P), self.vector(v))


def outputs(run: Trajectory, drawn: Scene | None, evaluator: Evaluator) -> tuple[ModulePart, dict[str, Any]]:
    """The function `outputs` of (q, u, t), and where in its result everything is."""
    nodes, data = _Nodes(evaluator), dict[str, Any]()
    kin = evaluator.kin
    if run.energy_audit is not None:
        E = energies_of(run.kinematics)
        data["energies"] = nodes.add(E.kin.tape, [e.i for e in (E.K2, E.K1, E.K0, E.V)])
    else:
        T, V = energies(kin)
        data["energies"] = nodes.add(kin.tape, [T, kin.tape.zero, kin.tape.zero, V])
    data["residuals"] = nodes.add(kin.tape, list(residuals(kin).values()))
    if drawn is not None:
        places = _Places(run)
        t = places.tape
        data["places"] = [nodes.add(t, places.beside(*p.source)) for p in drawn.places]
        data["frames"] = [-1 if b.body.frame is None else nodes.add(t, places.frame(b.body.frame)) for b in drawn.bodies]
        data["centres"] = [nodes.add(t, places.centre(b)) for b in drawn.bodies]
        data["curves"] = [[nodes.add(t, places.beside(c.root, v)) for v in c.along] for c in drawn.curves]
        sources = [a.source for a in drawn.arrows]
        data["arrows"] = [None if s is None else [nodes.add(t, places.point(s[0])), nodes.add(t, places.vector(s[1]))] for s in sources]
    state = (*kin.state, evaluator.time)
    return expressions("outputs", evaluator.tape, nodes.outs, state), data


def properties(run: Trajectory, drawn: Scene | None, evaluator: Evaluator) -> tuple[ModulePart, dict[str, Any]]:
    """The function `properties`: masses, inertias, stiffnesses, which must be positive, and the sizes of the solids."""
    nodes, system = _Nodes(evaluator), run.system
    bodies, t = [], system.space.tape
    for body in system.bodies:
        inside = symbols_of(t, (body.mass.i,))
        known: dict[str, Any] = {"name": body.name, "mass": nodes.add(body.mass.tape, [body.mass.i]), "of": _names(t, inside)}
        if body.frame is not None and body.inertia is not None:
            I = body.inertia.to(body.frame)
            known |= {
                "inertia": nodes.add(I.tape, I.entries()),
                "axes": turning_axes(body.frame),
                "from": _names(t, symbols_of(t, body.inertia.entries())),
            }
        bodies.append(known)
    members = []
    for kind, what, e in properties_along(system):
        members.append({"kind": kind, "what": what, "at": nodes.add(e.tape, [e.i]), "of": _names(e.tape, symbols_of(e.tape, (e.i,)))})
    solids = [] if drawn is None else [_solid(nodes, b) for b in drawn.bodies]
    order = {body.name: k for k, body in enumerate(system.bodies)}
    drawn_as = [] if drawn is None else [order[b.body.name] for b in drawn.bodies]
    state = (*evaluator.kin.state, evaluator.time)
    part = expressions("properties", evaluator.tape, nodes.outs, state)
    recorded = evaluator.floats(nodes.outs, dict.fromkeys(state, 0.0)).tolist()
    return part, {"bodies": bodies, "members": members, "solids": solids, "drawn": drawn_as, "recorded": recorded}


def _solid(nodes: _Nodes, b: DrawnBody) -> dict[str, Any] | None:
    """A declared shape and where its sizes are; None for one that was guessed from mass and inertia."""
    shape = b.body.shape
    if shape is None or b.outline is not None or b.body.frame is None:
        return None
    return {"shape": shape.kind, "sizes": [nodes.add(x.tape, [x.i]) for x in shape.sizes]}


def bars(b: DrawnBody, drawn: Scene) -> list[list[int]]:
    """The places at the ends of the bars of a body, and at the corners of its plate."""
    if b.outline is None or b.frame is None:
        return [[], []]
    local = np.array([(p.r[0] - b.r[0]) @ b.frame[0] for p in drawn.places])

    def nearest(corner: Any) -> int:
        return int(np.argmin(np.linalg.norm(local - corner, axis=1)))

    return [[nearest(end) for end in b.outline.bars.reshape(-1, 3)], [nearest(corner) for corner in b.outline.plate]]


def _names(tape: Tape, symbols: Sequence[int]) -> list[str]:
    return [str(tape.nodes[i][1]) for i in symbols]
