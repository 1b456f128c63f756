"""What every derivation starts from: the description, where everything is, how fast it moves, along which directions.

The same for all principles; each formula comes from the kinematics that the derivations share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dalembert.algebra import formula as f
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.principles.base import Derivation, Item, Step
from dalembert.report import constraint_tables, steps, tables
from dalembert.report.blocks import Block
from dalembert.report.steps import StepPart
from dalembert.report.writing import Writing

r, v, w, u_r = f.Symbol("r"), f.Symbol("v"), f.Symbol("ω"), f.Symbol("u", ("r",))


def preliminaries(found: Sequence[Derivation], writing: Writing, told: Callable[[Step], Step] = lambda step: step) -> Iterator[StepPart]:
    """Description and kinematics, without what the only derivation shows itself; `told` may shorten a step before it is written."""
    d = found[0]
    own = {step.title for step in d.steps} if len(found) == 1 else set()
    yield _description(d, writing)
    yield _geometry(d, writing, told)
    for step in _kinematic_steps(d):
        if step.title not in own and step.items:
            yield StepPart(step.title, tuple(steps.quantities(told(step), d, writing)), step.why)
    if "Speeds" not in own and "Rates" not in own:
        why = "With n coordinates and m independent rows, p = n − m speeds are independent, and every rate is a combination of them."
        yield StepPart("Independent speeds", tuple(steps.rates(d, writing)), why)


def _description(d: Derivation, writing: Writing) -> StepPart:
    kin = d.kinematics
    blocks: list[Block] = [
        tables.symbols(kin.system, writing),
        tables.bodies(kin.system, writing),
        *tables.loads(kin, writing),
        *constraint_tables.constraints(kin, writing),
        constraint_tables.freedoms(kin),
        constraint_tables.counted(kin, writing),
    ]
    why = "One description serves every principle. A load that contributes along no speed is named, and so is a row that says nothing."
    return StepPart("Description", tuple(blocks), why)


def _geometry(d: Derivation, writing: Writing, told: Callable[[Step], Step]) -> StepPart:
    system, title = d.kinematics.system, "Frames, points and positions"
    places = Step(title, r, tuple(Item(r, _position(b.G), b.name) for b in system.bodies))
    frames = (tables.frames(system, writing),) if len(system.space.frames) > 1 else ()
    blocks = (*frames, tables.points(system, writing), *_without_formula(steps.quantities(told(places), d, writing)))
    why = "Frames hang on frames and points on points; vectors stay in the frame in which they are simplest."
    return StepPart(title, tuple(blocks), why)


def _without_formula(blocks: Iterator[Block]) -> tuple[Block, ...]:
    """A step's quantities alone."""
    return tuple(blocks)[1:]


def _position(P: Point) -> Vector:
    """r from the fixed point O."""
    return P - P.space.O


def _kinematic_steps(d: Derivation) -> Iterator[Step]:
    """v and ω in the rates, partial velocities in the independent speeds."""
    kin = d.kinematics
    bodies = kin.system.bodies
    motion = kin.motion_in_rates
    rigid = [(b, b.frame) for b in bodies if b.frame is not None]
    yield Step(
        "Velocities",
        f.Equation(v, f.Rate(r)),
        tuple(Item(v, motion.v(b.G), b.name) for b in bodies),
        "Bar00 (27)",
        "Each velocity is built on that of the point before it, so no long position vector is differentiated.",
    )
    yield Step(
        "Angular velocities",
        "ω = Σ ω of frame in frame",
        tuple(Item(w, motion.w(F), b.name) for b, F in rigid),
        "Gre03 (4.42)",
        "Angular velocities of frames that hang on one another add.",
    )
    yield Step(
        "Partial velocities",
        f.Equation(f.Symbol("v", ("r",)), f.Partial(v, u_r)),
        tuple(_partials(d, v, [(b.G, b.name) for b in bodies])),
        "Bar00 (26)",
        "What stands beside a speed in a velocity: the directions in which the constraints let the system move.",
    )
    yield Step(
        "Partial angular velocities",
        f.Equation(f.Symbol("ω", ("r",)), f.Partial(w, u_r)),
        tuple(_partials(d, w, [(F, b.name) for b, F in rigid])),
        "Bar00 (26)",
        "The same for the turning of the bodies.",
    )


def _partials(d: Derivation, velocity: f.Symbol, places: Sequence[tuple[Point | Frame, str]]) -> Iterator[Item]:
    kin = d.kinematics
    for X, body in places:
        for k, part in kin.partials(X)[0].items():
            yield Item(f.Partial(velocity, f.Name(kin.name(kin.u[k]))), part, body)
