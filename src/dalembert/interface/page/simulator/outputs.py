"""r_P, R_F, energies, residuals and reactions as nodes: what a page draws and plots at any state,
in the order of its scene.

λ, the wrenches in the joints and the loads behind prescribed motions are the nodes of
`simulation.reactions`: Aᵀλ = d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q − Q is solved there for λ, with the u̇ of
the module; every reaction is c + Σ k_j λ_j.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import count, groupby
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from dalembert.analysis.flexible.assumed_modes.member_properties import sampled_properties
from dalembert.analysis.integrals.run_integrals import cached_energies
from dalembert.errors import DalembertError
from dalembert.interface.page.simulator.integrator_module import (
    ModuleFunction,
    ModuleSection,
    expression_function,
)
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.rotation import add3, dot3
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.constraint_actions import reaction_rows
from dalembert.mechanics.kinetics.reactions import prescribed_motion_loads, reactions
from dalembert.runtime.simulation.energy_and_residuals import constraint_residuals, energy_nodes
from dalembert.runtime.simulation.reactions.loads import RunReactions
from dalembert.runtime.simulation.reactions.run_reactions import has_own_load
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.runtime.states.evaluator import Evaluator, label
from dalembert.symbolic.algebra.expression_graph import (
    LinearCoefficients,
    copy_expressions,
    symbols_of,
)
from dalembert.symbolic.algebra.normal_form.expansion import operation_count
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from dalembert.interface.page.body_shapes import DrawnBody
    from dalembert.interface.page.scene import Scene
    from dalembert.mechanics.kinetics.reactions import PrescribedMotionLoads, Reactions
    from dalembert.mechanics.model.elements import Body


Triple = tuple[int, int, int]


class _OutputList:
    """Nodes in order, each once, and the place of each."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.outs: list[int] = []

    def add(self, tape: Tape, nodes: Sequence[int]) -> int:
        """Where these begin."""
        first = len(self.outs)
        self.outs += [self.evaluator.in_state(self.evaluator.node(Scalar(tape, i))) for i in nodes]
        return first


class _SymbolicPoses:
    """r and R of points and frames on a fork of the description's tape; a chain costs no more
    than its links.
    """

    def __init__(self, run: Trajectory) -> None:
        self.tape = run.system.space.tape.fork()
        self._points: dict[Point, Triple] = {}
        t = self.tape
        self._units: tuple[Triple, ...] = (
            (t.one, t.zero, t.zero),
            (t.zero, t.one, t.zero),
            (t.zero, t.zero, t.one),
        )
        self._columns: dict[Frame, tuple[Triple, ...]] = {}

    def columns(self, F: Frame) -> tuple[Triple, ...]:
        """R_F = R_parent R_local, by columns."""
        columns = self._columns.get(F)
        if columns is None:
            local = [
                F.transform_components(self.tape, unit, to_parent=True) for unit in self._units
            ]
            columns = (
                self._units if F.parent is None else tuple(self._rotate(F.parent, c) for c in local)
            )
            self._columns[F] = columns
        return columns

    def _rotate(self, F: Frame, v: Triple) -> Triple:
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
            total = add3(t, total, self._rotate(F, c))
        return total

    def point(self, P: Point) -> Triple:
        position = self._points.get(P)
        if position is None:
            t = self.tape
            position = (
                (t.zero, t.zero, t.zero)
                if P.parent is None
                else add3(t, self.point(P.parent), self.vector(P.r))
            )
            self._points[P] = position
        return position

    def centre(self, b: DrawnBody) -> Triple:
        """The middle of a solid: the mass centre, or where a primitive sits in its body."""
        G, F = self.point(b.body.G), b.body.frame
        if b.middle is None or F is None:
            return G
        x, y, z = (self.tape.const(Fraction(c)) for c in b.middle)
        return add3(self.tape, G, self._rotate(F, (x, y, z)))

    def offset_point(self, P: Point, v: Vector | None) -> Triple:
        return self.point(P) if v is None else add3(self.tape, self.point(P), self.vector(v))


def outputs(
    run: Trajectory, scene: Scene | None, evaluator: Evaluator
) -> tuple[ModuleFunction, dict[str, Any]]:
    """The function `outputs` of (q, u, t), and where in its result everything is."""
    nodes, data = _OutputList(evaluator), dict[str, Any]()
    kin = evaluator.kin
    if run.energy_audit is not None:
        E = cached_energies(run.kinematics)
        data["energies"] = nodes.add(E.kin.tape, [e.i for e in (E.K2, E.K1, E.K0, E.V)])
    else:
        T, V = energy_nodes(kin)
        data["energies"] = nodes.add(kin.tape, [T, kin.tape.zero, kin.tape.zero, V])
    data["residuals"] = nodes.add(kin.tape, list(constraint_residuals(kin).values()))
    # q̇ = W u + X: the entries of W that depend on the position, by which singular speeds show
    moving = [
        (q, w)
        for q, (_, W) in zip(kin.q, kin.WX, strict=True)
        for w in W.values()
        if not set(kin.q).isdisjoint(symbols_of(kin.tape, (w,)))
    ]
    data["entries"] = nodes.add(kin.tape, [w for _, w in moving])
    data["entry_names"] = [label(kin.name(q)) for q, _ in moving]
    if scene is not None:
        data |= _scene_outputs(nodes, run, scene)
    state = (*kin.state, evaluator.time)
    return expression_function("outputs", evaluator.tape, nodes.outs, state), data


def _scene_outputs(nodes: _OutputList, run: Trajectory, scene: Scene) -> dict[str, Any]:
    """Where points, bodies, curves and arrows of the picture are."""
    places = _SymbolicPoses(run)
    t, data = places.tape, dict[str, Any]()
    data["places"] = [nodes.add(t, places.offset_point(*p.source)) for p in scene.points]
    data["frames"] = [
        -1 if b.body.frame is None else nodes.add(t, places.frame(b.body.frame))
        for b in scene.bodies
    ]
    data["centres"] = [nodes.add(t, places.centre(b)) for b in scene.bodies]
    data["curves"] = [
        [nodes.add(t, places.offset_point(c.root, v)) for v in c.along] for c in scene.curves
    ]
    sources = [a.source for a in scene.arrows]
    data["arrows"] = [
        None if s is None else [nodes.add(t, places.point(s[0])), nodes.add(t, places.vector(s[1]))]
        for s in sources
    ]
    return data


def physical_properties(
    run: Trajectory, drawn: Scene | None, evaluator: Evaluator
) -> tuple[ModuleFunction, dict[str, Any]]:
    """The function `properties`: masses, inertias, stiffnesses, which must be positive, and the
    sizes of the solids.
    """
    nodes, system = _OutputList(evaluator), run.system
    bodies = [_body_properties(nodes, system.space.tape, body) for body in system.bodies]
    members = []
    for kind, what, e in sampled_properties(system) if system.expansions else ():
        members.append(
            {
                "kind": kind,
                "what": what,
                "at": nodes.add(e.tape, [e.i]),
                "of": _names(e.tape, symbols_of(e.tape, (e.i,))),
            }
        )
    solids = [] if drawn is None else [_solid(nodes, b) for b in drawn.bodies]
    order = {body.name: k for k, body in enumerate(system.bodies)}
    drawn_as = [] if drawn is None else [order[b.body.name] for b in drawn.bodies]
    state = (*evaluator.kin.state, evaluator.time)
    part = expression_function("properties", evaluator.tape, nodes.outs, state)
    recorded = evaluator.values_at(nodes.outs, dict.fromkeys(state, 0.0)).tolist()
    return part, {
        "bodies": bodies,
        "members": members,
        "solids": solids,
        "drawn": drawn_as,
        "recorded": recorded,
    }


def _body_properties(nodes: _OutputList, t: Tape, body: Body) -> dict[str, Any]:
    """Mass and inertia of a body, and the constants they depend on."""
    known: dict[str, Any] = {
        "name": body.name,
        "mass": nodes.add(body.mass.tape, [body.mass.i]),
        "of": _names(t, symbols_of(t, (body.mass.i,))),
    }
    if body.frame is not None and body.inertia is not None:
        I = body.inertia.to(body.frame)
        known |= {
            "inertia": nodes.add(I.tape, I.entries()),
            "axes": body.frame.rotation_axes,
            "from": _names(t, symbols_of(t, body.inertia.entries())),
        }
    return known


def _solid(nodes: _OutputList, b: DrawnBody) -> dict[str, Any] | None:
    """A declared shape and where its sizes are; None for one that was guessed from mass and
    inertia.
    """
    shape = b.body.shape
    if shape is None or b.outline is not None or b.body.frame is None:
        return None
    return {"shape": shape.kind, "sizes": [nodes.add(x.tape, [x.i]) for x in shape.sizes]}


def bar_endpoints(b: DrawnBody, drawn: Scene) -> list[list[int]]:
    """The places at the ends of the bars of a body, and at the corners of its plate."""
    if b.outline is None or b.frame is None:
        return [[], []]
    local = np.array([(p.r[0] - b.r[0]) @ b.frame[0] for p in drawn.points])

    def nearest(corner: Any) -> int:
        return int(np.argmin(np.linalg.norm(local - corner, axis=1)))

    return [
        [nearest(end) for end in b.outline.bars.reshape(-1, 3)],
        [nearest(corner) for corner in b.outline.plate],
    ]


def _names(tape: Tape, symbols: Sequence[int]) -> list[str]:
    return [str(tape.nodes[i][1]) for i in symbols]


# operations beyond which reactions would make a page heavy, and bodies × coordinates beyond which
# there are as many without counting
_MOST: Final = 20_000
_MOST_PAIRS: Final = 300


def reaction_functions(run: Trajectory, evaluator: Evaluator) -> ModuleSection:
    """The functions `balance` and `reactions` of (q, u, t, u̇), in the order of
    `reaction_offsets`; nothing where they are not available.
    """
    if len(run.system.bodies) * evaluator.kin.n_q > _MOST_PAIRS:
        return ModuleSection()
    try:
        return _build_reaction_functions(run, evaluator)
    except DalembertError:
        return ModuleSection()


# c + Σ k_j λ_j: c, {j: k_j}, and the tape of both
_LinearForm: TypeAlias = tuple[int, dict[int, int], Tape]


def _build_reaction_functions(run: Trajectory, evaluator: Evaluator) -> ModuleSection:
    kin = run.kinematics.fork()
    needs = prescribed_motion_loads(kin)
    forms = [*_reaction_forms(run, kin), *_drive_forms(kin, needs)]
    if not forms:
        return ModuleSection()
    outs: list[int] = []
    for tape, group in groupby(forms, lambda form: form[2]):
        outs += _reduce_nodes(evaluator, tape, [i for c, k, _ in group for i in (c, *k.values())])
    place = count()
    terms = [[next(place), [[j, next(place)] for j in k]] for _, k, _ in forms]
    entries = (*needs.along_q, *(a for row in needs.A for a in row))
    balance = _reduce_nodes(evaluator, kin.tape, entries)
    if operation_count(evaluator.tape, (*outs, *balance)) > _MOST:
        return ModuleSection()
    state = (*evaluator.kin.state, evaluator.time, *evaluator.kin.udot)
    parts = (
        expression_function("balance", evaluator.tape, balance, state),
        expression_function("reactions", evaluator.tape, outs, state),
    )
    return ModuleSection(parts, {"n": kin.n_q, "m": len(needs.A), "terms": terms})


def _reaction_forms(run: Trajectory, kin: Kinematics) -> list[_LinearForm]:
    """The components of forces and moments of joints and rows, linear in the multipliers."""
    found, N = reactions(kin), run.system.N
    own = [k for k, row in enumerate(reaction_rows(kin)) if not row.is_norm]
    linear = LinearCoefficients(found.tape, [row.multiplier.i for row in found.rows])
    nodes = _reaction_components(found, N)
    return [(c, {own[r]: i for r, i in k.items()}, found.tape) for c, k in map(linear, nodes)]


def _reaction_components(found: Reactions, N: Frame) -> Iterator[int]:
    for joint in found.joints:
        yield from [c for v in (joint.force, joint.moment) for c in v.components(N)]
    for row in found.rows:
        yield from [c for v in (row.force, row.moment) if v is not None for c in v.components(N)]
        if row.force is None:
            yield row.multiplier.i


def _drive_forms(kin: Kinematics, needs: PrescribedMotionLoads) -> list[_LinearForm]:
    """The loads of prescribed motions."""
    t = kin.tape
    return [
        (d.load, {j: t.neg(a) for j, a in enumerate(d.rows) if a != t.zero}, t)
        for d in needs.drives
        if has_own_load(kin, d)
    ]


def _reduce_nodes(evaluator: Evaluator, tape: Tape, nodes: Sequence[int]) -> list[int]:
    return [evaluator.in_state(i) for i in copy_expressions(tape, evaluator.tape, nodes)]


def reaction_offsets(run_reactions: RunReactions) -> dict[tuple[str, str], int]:
    """{(name, "force", "moment", "lambda" or "load"): the place of its first number} among the
    reactions of a page.
    """
    sizes = list(_sizes(run_reactions))
    return {key: sum(size for _, size in sizes[:k]) for k, (key, _) in enumerate(sizes)}


def _sizes(run_reactions: RunReactions) -> Iterator[tuple[tuple[str, str], int]]:
    for joint in run_reactions.joints.values():
        yield (joint.name, "force"), 3
        yield (joint.name, "moment"), 3
    for row in run_reactions.rows.values():
        yield from (
            ((row.name, what), 3)
            for what, x in (("force", row.force), ("moment", row.moment))
            if x is not None
        )
        if row.force is None:
            yield (row.name, "lambda"), 1
    yield from (((drive.name, "load"), 1) for drive in run_reactions.drives.values())
