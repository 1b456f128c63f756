"""Names in a file for frames, points and bodies: their own where these can be used, each once."""

from __future__ import annotations

import re
from typing import Any, Final

from dalembert.errors import Unwritable
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.model.elements import Body
from dalembert.model.system import System

_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*")


class Handles:
    """What each thing of a system is called in its file."""

    def __init__(self, s: System) -> None:
        self.frames: dict[int, str] = {id(s.N): "N"}
        self.points: dict[int, str] = {id(s.O): "O"}

    def new_frame(self, F: Frame) -> str:
        """A name that can stand in an expression."""
        name = F.name if _IDENTIFIER.fullmatch(F.name) else re.sub(r"\W+", "_", F.name).strip("_")
        if not _IDENTIFIER.fullmatch(name):
            name = f"F_{name}"
        return self._enter(self.frames, F, name, "_")

    def new_point(self, P: Point) -> str:
        """Its own name, or with a number."""
        return self._enter(self.points, P, P.name.strip() or "P", " ")

    def joint(self, P: Point, wanted: str) -> str:
        """One name for the point of a joint and for the frame that it carries."""
        taken = {*self.frames.values(), *self.points.values()}
        name, number = wanted, 1
        while name in taken:
            number += 1
            name = f"{wanted}_{number}"
        self.points[id(P)] = name
        self.frames.setdefault(id(P.frame), name)
        return name

    def body(self, b: Body) -> None:
        """The points that come with a body."""
        self.points.setdefault(id(b.G), f"{b.name}.G")
        for corner, P in b.points.items():
            self.points[id(P)] = f"{b.name}.{corner}"

    @staticmethod
    def _enter(names: dict[int, str], thing: Any, wanted: str, joint: str) -> str:
        name, number = wanted, 1
        while name in names.values():
            number += 1
            name = f"{wanted}{joint}{number}"
        names[id(thing)] = name
        return name

    def frame(self, F: Frame) -> str:
        """The name of a frame."""
        return _known(self.frames, F, "frame")

    def point(self, P: Point) -> str:
        """The name of a point."""
        return _known(self.points, P, "point")


def _known(names: dict[int, str], thing: Any, kind: str) -> str:
    if id(thing) not in names:
        msg = f"save: the {kind} {thing.name} was made inside another declaration; declare it by itself, so that a file can name it"
        raise Unwritable(msg)
    return names[id(thing)]
