"""What the scripts of a page read: JSON that no name can break out of, arrays as base64 of
little-endian floats, the scene.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.interface.page.kinematics_arrays import quaternions

if TYPE_CHECKING:
    from dalembert.interface.page.body_shapes import DrawnBody
    from dalembert.interface.page.contact_surfaces import SurfaceStrip
    from dalembert.interface.page.scene import Arrow, Scene, ScenePoint
    from dalembert.mechanics.geometry.triangle_mesh import TriangleMesh


# how thick links are, and how long the longest arrow is, as parts of the system's size
_STICK = 0.014
_ARROW = 0.55
# places that draw their way
_MOST_TRACES = 8
_MOST = 3e38


def data_block(identity: str, data: Any) -> str:
    """A block of data for the scripts of the page; `<` is written so that no name can end the
    block.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="{identity}">{text}</script>'


def encode_floats(x: Any, kind: str = "<f4") -> str:
    """Numbers in a row, as text."""
    numbers = np.asarray(x, dtype=np.float64)
    if kind == "<f4":
        # beyond the reach of single precision the plot has left the page anyway
        numbers = np.clip(numbers, -_MOST, _MOST)
    return base64.b64encode(np.ascontiguousarray(numbers, dtype=kind).tobytes()).decode("ascii")


def encode_integers(x: Any, kind: str) -> str:
    """Whole numbers in a row, as text."""
    return base64.b64encode(np.ascontiguousarray(np.rint(x), dtype=kind).tobytes()).decode("ascii")


def encode_series(x: FloatArray) -> str:
    """One row for each time; a single row for what does not change."""
    still = len(x) and np.ptp(x, axis=0).max() <= 1e-9 * (1.0 + np.abs(x).max())
    return encode_floats(x[:1] if still else x)


def scene_data(s: Scene) -> dict[str, Any]:
    """What the renderer needs."""
    return {
        "t": encode_floats(s.t),
        "bodies": [_body_data(s, b) for b in s.bodies],
        "places": [_place_data(p) for p in s.points],
        "lines": [
            {"kind": line.kind, "a": line.a, "b": line.b, "length": line.length} for line in s.lines
        ],
        "curves": [
            {"name": c.name, "thick": c.thick, "r": [encode_series(x) for x in c.r]}
            for c in s.curves
        ],
        "hues": s.colour_count,
        "rails": [rail.ends.tolist() for rail in s.rails],
        "surfaces": [_surface_data(strip) for strip in s.surfaces],
        "arrows": [_arrow_data(s, a) for a in s.arrows],
        "traces": traced_points(s),
        "view": _view_data(s),
    }


def _body_data(s: Scene, b: DrawnBody) -> dict[str, Any]:
    """Shape, position and axes of a body over the times."""
    return {
        "name": b.name,
        "colour": b.colour,
        "kind": b.solid.kind,
        "mesh": None if b.solid.surface is None else _mesh_data(b.solid.surface),
        "sizes": [float(x) for x in b.solid.sizes],
        "guessed": b.solid.is_inferred and b.solid.kind == "sphere",
        "round": b.solid.shows_rotation and b.frame is not None,
        "r": _position_index(s, b.r),
        # the axes of the frame, and those of the solid in it, in columns
        "e": None if b.frame is None else encode_series(quaternions(b.frame)),
        "turn": b.solid.orientation.T.ravel().tolist(),
        "bars": [] if b.outline is None else b.outline.bars.tolist(),
        "plate": [] if b.outline is None else b.outline.plate.tolist(),
    }


def _mesh_data(surface: TriangleMesh) -> list[str]:
    """Corners in whole steps of their range, and triangles."""
    return [
        encode_integers(32767 * surface.vertices, "<i2"),
        encode_integers(surface.faces, "<u2"),
    ]


def _place_data(p: ScenePoint) -> dict[str, Any]:
    return {
        "name": p.name,
        "r": encode_series(p.r),
        "fixed": p.fixed,
        "joint": p.joint,
        "named": p.named and _is_user_name(p.name),
    }


def _arrow_data(s: Scene, a: Arrow) -> dict[str, Any]:
    at, vector = _position_index(s, a.at), encode_series(a.vector)
    return {"name": a.name, "kind": a.kind, "at": at, "v": vector}


def _view_data(s: Scene) -> dict[str, Any]:
    """The camera, and the sizes that belong to its distance."""
    v = s.view
    size = min(v.near, v.far)
    return {
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
        "force": largest_magnitude(s, "force") or 1.0,
        "torque": largest_magnitude(s, "torque") or 1.0,
    }


def _surface_data(strip: SurfaceStrip) -> dict[str, Any]:
    """A strip; its displacement and that of a belt over the times."""
    return {
        "line": strip.line.tolist(),
        "across": strip.across.tolist(),
        "normal": strip.normal.tolist(),
        "shift": encode_series(strip.shift),
        # as a vector, so that it is interpolated as every other
        "travel": None
        if strip.travel is None
        else encode_series(np.outer(strip.travel, [1.0, 0.0, 0.0])),
    }


def _position_index(s: Scene, r: FloatArray) -> int | str:
    """The number of a place, or the numbers themselves where it is none of those."""
    return next(
        (k for k, p in enumerate(s.points) if p.r is r or np.array_equal(p.r, r)), encode_series(r)
    )


def largest_magnitude(s: Scene, what: Literal["force", "torque"]) -> float:
    """The largest force or torque along the motion: its arrow is the longest, and the others
    keep its scale.
    """
    vectors = [a.vector for a in s.arrows if (a.kind == "torque") == (what == "torque")]
    return max((float(np.linalg.norm(v, axis=1).max(initial=0.0)) for v in vectors), default=0.0)


def traced_points(s: Scene) -> list[int]:
    """The places that draw their way: contacts, ends of links, masses; at most a few of them."""
    degree = [
        sum(k in (line.a, line.b) for line in s.lines if line.kind == "link")
        for k in range(len(s.points))
    ]
    masses = [k for k, p in enumerate(s.points) if any(p.r is b.r for b in s.bodies)]
    ends = [k for k, d in enumerate(degree) if d == 1 and not s.points[k].fixed]
    wanted = list(dict.fromkeys([*s.contacts, *s.tips, *ends, *masses]))
    return [k for k in wanted if not s.points[k].fixed][:_MOST_TRACES]


def _is_user_name(name: str) -> bool:
    """Names that were chosen by the user, not counted by us."""
    return not (name[:1] == "P" and name[1:].isdigit())
