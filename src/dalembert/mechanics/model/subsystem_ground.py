"""N and O of a system that was attached: what rolled on its ground or touched it does so on the
body that carries it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dalembert.errors import BadDescription
from dalembert.mechanics.geometry.declaration_log import Declaration
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.model.elements import Body
from dalembert.mechanics.model.force_reduction import is_fixed_in
from dalembert.mechanics.model.registry import Registry
from dalembert.symbolic.algebra.exact.zero_test import decide_all_zero
from dalembert.symbolic.algebra.functions import sqrt


class SubsystemGround:
    """What stands for the ground of the other system, where a declaration leaves it out."""

    def __init__(
        self, s: Registry, other: Registry, counterpart: Callable[[Any], Any], place: Point
    ) -> None:
        self.other, self.counterpart = other, counterpart
        self.N, self.O = place.frame, place
        self.is_inertial = (self.N, self.O) == (s.space.N, s.space.O)
        self.carrier = _supporting_body(s, place)

    def redirected_arguments(self, d: Declaration, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a declaration, with this ground in them."""
        if d.verb == "free" and given.get("at") is None:
            given["at"] = self.O
        if d.verb in ("roll", "coincide") and given.get("seen", "N") == "N":
            given["seen"] = self.N
        if d.verb not in ("roll", "contact") or self.is_inertial:
            return given
        self._refuse(d)
        carrier = self.carrier if isinstance(self.carrier, Body) else None
        if d.verb == "roll":
            given["on"] = given.get("on") or carrier
        else:
            given["against"] = given.get("against") or carrier
            given |= self._contact_ground(d, given)
        return given

    def _refuse(self, d: Declaration) -> None:
        if d.arguments.get("height") is not None:
            msg = (
                "attach: contact with a curved ground, height=…, which is possible only in N at O; "
                "attach it at s.O with frame=s.N"
            )
            raise BadDescription(msg)
        turns = d.verb == "roll" and isinstance(self.carrier, Body) and self.carrier.frame is None
        if d.arguments.get("on" if d.verb == "roll" else "against") is None and (
            self.carrier is None or turns
        ):
            where = f"{self.N.name} at {self.O.name}, which is no {'rigid ' if turns else ''}body"
            msg = (
                f"attach: {d.verb} on the ground of the other system: here the ground is "
                f"{where}; attach it to one"
            )
            raise BadDescription(msg)

    def _contact_ground(self, d: Declaration, given: dict[str, Any]) -> dict[str, Any]:
        """Normal, point and direction of slip of a contact, those of the other ground where none
        was given.
        """
        z, ground_arguments = self.other.space.N.z, {}
        if (Q := d.arguments.get("ball")) is not None:
            r = d.arguments["at"] - Q
            n = r / sqrt(r @ r)
        else:
            n = d.arguments.get("ground") or self.other.space.N.y
            ground_arguments = {
                "ground": self.counterpart(n),
                "through": given.get("through") or self.O,
            }
        if given.get("along") is None and n @ z == 0:
            ground_arguments["along"] = self.counterpart(n.cross(z))
        return ground_arguments


def _supporting_body(s: Registry, place: Point) -> Body | Frame | None:
    """The body in which the place is fixed with its frame; N where it is at rest, None where
    neither.
    """
    tied: list[Frame | None] = [place.frame]
    while (F := tied[-1]) is not None:
        turns = F.rotation is not None and not s.space.tape.moving.isdisjoint(
            F.rotation.variables()
        )
        tied.append(None if turns else F.parent)
    if s.space.N in tied and decide_all_zero(
        s.space.tape, place.v.components(s.space.N), f"whether {place.name} is at rest"
    ):
        return s.space.N
    # a particle carries what does not turn
    bodies = [b for b in s.bodies if (b.frame or s.space.N) in tied and is_fixed_in(place, b)]
    return next((b for b in bodies if b.frame is not None), next(iter(bodies), None))
