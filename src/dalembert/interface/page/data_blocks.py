"""What the scripts of a page read: JSON that no name can break out of, arrays as base64 of little-endian floats, the scene."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dalembert.foundation.array_types import Numbers
from dalembert.interface.page.kinematics_arrays import quaternions

if TYPE_CHECKING:
    from dalembert.interface.page.scene import Scene


# how thick links are, and how long the longest arrow is, as parts of the system's size
_STICK = 0.014
_ARROW = 0.55
# places that draw their way
_MOST_TRACES = 8
_MOST = 3e38


def script(identity: str, data: Any) -> str:
    """A block of data for the scripts of the page; `<` is written so that no name can end the block."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="{identity}">{text}</script>'


def floats(x: Any, kind: str = "<f4") -> str:
    """Numbers in a row, as text."""
    numbers = np.asarray(x, dtype=np.float64)
    if kind == "<f4":
        # beyond the reach of single precision the plot has left the page anyway
        numbers = np.clip(numbers, -_MOST, _MOST)
    return base64.b64encode(np.ascontiguousarray(numbers, dtype=kind).tobytes()).decode("ascii")


def whole(x: Any, kind: str) -> str:
    """Whole numbers in a row, as text."""
    return base64.b64encode(np.ascontiguousarray(np.rint(x), dtype=kind).tobytes()).decode("ascii")


def moving(x: Numbers) -> str:
    """One row for each time; a single row for what does not change."""
    still = len(x) and np.ptp(x, axis=0).max() <= 1e-9 * (1.0 + np.abs(x).max())
    return floats(x[:1] if still else x)


def scene_data(s: Scene) -> dict[str, Any]:
    """What the renderer needs."""
    v = s.view
    size = min(v.near, v.far)
    return {
        "t": floats(s.t),
        "bodies": [
            {
                "name": b.name,
                "colour": b.colour,
                "kind": b.solid.kind,
                "mesh": None
                if b.solid.surface is None
                else [whole(32767 * b.solid.surface.corners, "<i2"), whole(b.solid.surface.faces, "<u2")],
                "sizes": [float(x) for x in b.solid.sizes],
                "guessed": b.solid.guessed and b.solid.kind == "sphere",
                "round": b.solid.marked and b.frame is not None,
                "r": _place(s, b.r),
                # the axes of the frame, and those of the solid in it, in columns
                "e": None if b.frame is None else moving(quaternions(b.frame)),
                "turn": b.solid.turn.T.ravel().tolist(),
                "bars": [] if b.outline is None else b.outline.bars.tolist(),
                "plate": [] if b.outline is None else b.outline.plate.tolist(),
            }
            for b in s.bodies
        ],
        "places": [
            {"name": p.name, "r": moving(p.r), "fixed": p.fixed, "joint": p.joint, "named": p.named and _is_given(p.name)} for p in s.places
        ],
        "lines": [{"kind": line.kind, "a": line.a, "b": line.b} for line in s.lines],
        "curves": [{"name": c.name, "thick": c.thick, "r": [moving(x) for x in c.r]} for c in s.curves],
        "hues": s.hues,
        "rails": [rail.ends.tolist() for rail in s.rails],
        "arrows": [{"name": a.name, "kind": a.kind, "at": _place(s, a.at), "v": moving(a.vector)} for a in s.arrows],
        "traces": traced(s),
        "view": {
            "axes": v.axes.tolist(),
            "azimuth": v.azimuth,
            "elevation": v.elevation,
            "centre": v.centre.tolist(),
            "near": v.near,
            "far": v.far,
            "follow": v.follow,
            "ground": v.ground,
            "stick": _STICK * size,
            "arrow": _ARROW * size,
            "force": longest(s, "force") or 1.0,
            "torque": longest(s, "torque") or 1.0,
        },
    }


def _place(s: Scene, r: Numbers) -> int | str:
    """The number of a place, or the numbers themselves where it is none of those."""
    return next((k for k, p in enumerate(s.places) if p.r is r or np.array_equal(p.r, r)), moving(r))


def longest(s: Scene, what: Literal["force", "torque"]) -> float:
    """The largest force or torque along the motion: its arrow is the longest, and the others keep its scale."""
    vectors = [a.vector for a in s.arrows if (a.kind == "torque") == (what == "torque")]
    return max((float(np.linalg.norm(v, axis=1).max(initial=0.0)) for v in vectors), default=0.0)


def traced(s: Scene) -> list[int]:
    """The places that draw their way: contacts, ends of links, masses; at most a few of them."""
    degree = [sum(k in (line.a, line.b) for line in s.lines if line.kind == "link") for k in range(len(s.places))]
    masses = [k for k, p in enumerate(s.places) if any(p.r is b.r for b in s.bodies)]
    ends = [k for k, d in enumerate(degree) if d == 1 and not s.places[k].fixed]
    wanted = list(dict.fromkeys([*s.contacts, *s.tips, *ends, *masses]))
    return [k for k in wanted if not s.places[k].fixed][:_MOST_TRACES]


def _is_given(name: str) -> bool:
    """Names that were chosen by the user, not counted by us."""
    return not (name[:1] == "P" and name[1:].isdigit())
