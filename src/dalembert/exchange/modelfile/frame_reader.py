"""v_of = R v_new: how a table says that a frame is turned, by an angle about an axis, by
several, by direction cosines or a quaternion.
"""

from __future__ import annotations

from typing import Any

from dalembert.errors import BadDescription
from dalembert.exchange.modelfile.element_schema import ElementKey
from dalembert.exchange.modelfile.value_reader import ValueReader
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.model.name_rules import split_names


def read_frames(
    of: Frame, handle: str, value: dict[str, Any], values: ValueReader
) -> dict[str, Frame]:
    """The frame of a table by its handle, and those that its turns pass through by their names."""
    ways = [way for way in ("angle", "axes", "cosines", "quaternion") if way in value]
    if len(ways) != 1:
        msg = (
            f"frame {handle!r}: say how it is rotated, by one of: angle and axis, axes and "
            f"angles, cosines, quaternion"
        )
        raise BadDescription(msg)
    name = values.text(value.get("name", handle), (*values.path, "name"))
    if "axes" in value:
        return _successive_rotations(of, handle, name, value, values)
    if "angle" in value:
        angle = values.scalar(value["angle"], (*values.path, "angle"))
        if "axis" not in value:
            msg = f"frame {handle!r}: it needs an axis, such as axis = 'N.z'"
            raise BadDescription(msg)
        return {
            handle: of.rotated(
                angle, values.read(ElementKey("axis", "vector"), value["axis"]), name
            )
        }
    if "cosines" in value:
        return {
            handle: of.oriented(
                values.read(ElementKey("cosines", "cosines"), value["cosines"]), name
            )
        }
    e = values.scalars(value["quaternion"], (*values.path, "quaternion"))
    if not isinstance(e, list) or len(e) != 4:
        msg = (
            f"frame {handle!r}: a quaternion has four coordinates, quaternion = ['e_0', 'e_1', "
            f"'e_2', 'e_3']"
        )
        raise BadDescription(msg)
    return {handle: of.quaternion(*e, name=name)}


def _successive_rotations(
    of: Frame, handle: str, name: str, value: dict[str, Any], values: ValueReader
) -> dict[str, Frame]:
    through = (
        split_names(values.names(value["through"], (*values.path, "through")))
        if "through" in value
        else []
    )
    angles = values.scalars(value.get("angles", []), (*values.path, "angles"))
    angles = angles if isinstance(angles, list) else [angles]
    if through and len(through) != len(angles) - 1:
        msg = (
            f"frame {handle!r}: {len(angles)} angles pass through {len(angles) - 1} frames, but "
            f"{len(through)} are named"
        )
        raise BadDescription(msg)
    axes = values.text(value["axes"], (*values.path, "axes"))
    if through:
        return dict(
            zip(
                [*through, handle], of.rotations(axes, *angles, names=[*through, name]), strict=True
            )
        )
    made = of.rotations(axes, *angles, names=[name] if len(angles) == 1 else None)
    made[-1].name = name
    return {handle: made[-1]}
