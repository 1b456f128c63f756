"""What a robot's file says and the equations do not."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dalembert.mechanics.model.system import System

_MOST_NAMES: Final = 12


def left_out(system: System) -> str:
    """What the equations do not have of a robot's file, as a list; nothing for other systems."""
    if system.origin is None:
        return ""
    from dalembert.exchange.robots.robot_record import RobotSource

    if not isinstance(system.origin, RobotSource) or not system.origin.robot.unsupported:
        return ""
    items = "".join(
        f"<li>{escape(what)}: {escape(_listed(names))}</li>"
        for what, names in system.origin.robot.unsupported.items()
    )
    return f"<h3>Left out of the equations</h3><p>The file also says:</p><ul>{items}</ul>"


def _listed(names: tuple[str, ...]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
