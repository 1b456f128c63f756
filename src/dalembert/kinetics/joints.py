"""Where a system can be cut: the rigid pieces that its points and frames form, each held by the piece it hangs on.

Points hang on points. Going from O to a mass centre, a new piece begins where the offset varies (a slider) or where the frame
turns against the one before (a hinge), whatever the angle is measured from. Bodies that share a piece share its joint.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dalembert.algebra.exact.field import is_zero
from dalembert.algebra.folds import symbols_of
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.model.elements import Body


@dataclass(eq=False)
class RigidGroup:
    """What moves as one: its frame, the joint it begins at (from the joint of the piece before), and the masses fixed to it."""

    before: RigidGroup | None
    frame: Frame
    offset: Vector
    name: str
    # with their mass centres from the joint
    masses: list[tuple[Body, Vector]] = field(default_factory=list)
    beyond: list[RigidGroup] = field(default_factory=list)


class RigidGroups:
    """All pieces, those they hang on first."""

    def __init__(self, kin: Kinematics) -> None:
        self.kin = kin
        nothing = Vector(kin.tape, {})
        self.ground = RigidGroup(None, kin.system.N, nothing, "the ground")
        self.pieces = [self.ground]
        self._places: dict[Point, tuple[RigidGroup, Vector]] = {kin.system.O: (self.ground, nothing)}
        self._found: dict[object, RigidGroup] = {}
        self._rigid: dict[tuple[Frame, Frame], bool] = {}
        self._named: set[int] = set()
        for body in kin.system.bodies:
            piece, rho = self._place(body.G)
            if body.frame is not None and not self._turns_with(body.frame, piece.frame):
                piece, rho = self._next(piece, body.frame, rho, ("turn", body.frame)), nothing
            piece.masses.append((body, rho))
        for piece in self.pieces:
            piece.name = piece.name or self._free_name(piece.masses[0][0].name if piece.masses else f"frame {piece.frame.name}")

    def _place(self, P: Point) -> tuple[RigidGroup, Vector]:
        """The piece that carries a point, and the point from the piece's joint."""
        chain = []
        Q: Point | None = P
        while Q is not None and Q not in self._places:
            chain.append(Q)
            Q = Q.parent
        for X in reversed(chain):
            assert X.parent is not None
            self._places[X] = self._step(X, *self._places[X.parent])
        return self._places[P]

    def _step(self, X: Point, piece: RigidGroup, rho: Vector) -> tuple[RigidGroup, Vector]:
        t = self.kin.tape
        r = X.r.on(t)
        moving = [i for i in symbols_of(t, [c for part in r.parts.values() for c in part]) if i in t.moving]
        if moving:
            # the joint of a slider is where it has come to
            nothing = Vector(t, {})
            piece = self._next(piece, piece.frame, rho + r, ("slide", X.parent, tuple(r.parts.items())), moving)
            turned = not self._turns_with(X.frame, piece.frame)
            return (self._next(piece, X.frame, nothing, ("turn", X.frame)) if turned else piece), nothing
        if self._turns_with(X.frame, piece.frame):
            return piece, rho + r
        # what is written in the frames before leads to the joint, the rest away from it
        there = Vector(t, {F: c for F, c in r.parts.items() if self._turns_with(F, X.frame)})
        return self._next(piece, X.frame, rho + (r - there), ("turn", X.frame)), there

    def _turns_with(self, F: Frame, G: Frame) -> bool:
        """ω_F = ω_G, decided exactly."""
        if F is G:
            return True
        key = (F, G) if F.number < G.number else (G, F)
        if key not in self._rigid:
            kin = self.kin
            difference = kin.motion_in_rates.w(F) - kin.motion_in_rates.w(G)
            self._rigid[key] = all(is_zero(kin.tape, list(difference.components(kin.system.N))))
        return self._rigid[key]

    def _next(self, before: RigidGroup, frame: Frame, offset: Vector, kind: object, moving: list[int] | None = None) -> RigidGroup:
        key = (id(before), kind)
        if key not in self._found:
            piece = RigidGroup(before, frame, offset, self._name(before, frame, moving))
            before.beyond.append(piece)
            self.pieces.append(piece)
            self._found[key] = piece
        return self._found[key]

    def _name(self, before: RigidGroup, frame: Frame, moving: list[int] | None) -> str:
        """The coordinates and specified motions that move the joint and none before it; empty if there are none."""
        kin, t = self.kin, self.kin.tape
        if moving is None:
            relative = [c for axis in (frame.x, frame.y, frame.z) for c in axis.on(t).components(before.frame)]
            moving = [i for i in symbols_of(t, relative) if i in t.moving]
        own = [i for i in moving if i not in self._named and i != kin.system.t.i]
        self._named.update(own)
        names = [kin.name(i) for i in own if i in kin.q or kin.name(i) in kin.system.symbols]
        return self._free_name(", ".join(names)) if names else ""

    def _free_name(self, name: str) -> str:
        taken = [piece.name for piece in self.pieces]
        return name if name not in taken else f"{name} ({len(taken)})"
