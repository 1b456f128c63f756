"""A drawing of a system at one moment: faces sorted by depth, as SVG or for matplotlib."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import cache
from html import escape
from typing import Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.page.body_shapes import DrawnBody, SolidShape
from dalembert.interface.page.camera import FIELD_OF_VIEW, camera_axes
from dalembert.interface.page.contact_surfaces import SurfaceStrip
from dalembert.interface.page.data_blocks import traced_points
from dalembert.interface.page.kinematics_arrays import MemberCurve
from dalembert.interface.page.scene import Scene, SceneLine, ScenePoint
from dalembert.interface.page.sketch_dimensions import DimensionLine, SketchLabel, place_labels

# Okabe and Ito's colours, which colour-blind readers can distinguish
COLOURS: Final = ("#2f7fb8", "#d9822b", "#2a9d76", "#b8609a", "#c9a227", "#5aa9c9")
METAL: Final = "#8a929c"
INK: Final = "#5b6570"
_LIGHT: Final = np.array([0.45, 0.62, 0.64])
_ROUND: Final = 28
# bars of a body against links, and how much of the plate between them is seen
_BAR: Final = 1.5
_PLATE: Final = 0.3
# of a spring
_TURNS: Final = 10


@dataclass(frozen=True, eq=False)
class Face:
    """A filled polygon or, without a fill, a line; in the units of the picture, farther ones
    first.
    """

    points: FloatArray = field(repr=False)
    fill: str | None
    stroke: str | None = None
    width: float = 0.0
    alpha: float = 1.0
    depth: float = 0.0


@dataclass(frozen=True, eq=False)
class Picture:
    """Faces in order of drawing on a canvas of a width and a height."""

    width: float
    height: float
    faces: tuple[Face, ...]
    labels: tuple[SketchLabel, ...] = ()


class _Camera:
    """The projection of the view onto a picture, y downwards."""

    def __init__(self, scene: Scene, k: int, width: float, height: float) -> None:
        v = scene.view
        self.side, self.head, self.back = camera_axes(v.axes, v.azimuth, v.elevation)
        self.up = v.axes[2]
        centres = [b.r[k] for b in scene.bodies] + [c.r[len(c.r) // 2, k] for c in scene.curves]
        self.target = np.mean(centres, axis=0) if v.follow else v.centre
        self.radius = v.near if v.follow else v.far
        self.distance = (
            self.radius * max(1.0, 1.35 * height / width) / np.tan(np.radians(FIELD_OF_VIEW) / 2)
        )
        self.focal = 0.5 * height / np.tan(np.radians(FIELD_OF_VIEW) / 2)
        self.middle = np.array([width / 2, height / 2])

    def __call__(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Places in the picture, and distances from the eye."""
        p = np.atleast_2d(points) - self.target
        depth = self.distance - p @ self.back
        scale = self.focal / np.maximum(depth, 0.05 * self.distance)
        flat = np.stack([p @ self.side, -(p @ self.head)], axis=1) * scale[:, None]
        return self.middle + flat, depth

    def light(self) -> FloatArray:
        """From above, from the right, from the eye's side."""
        return np.asarray(_LIGHT[0] * self.side + _LIGHT[1] * self.up + _LIGHT[2] * self.back)


def draw_scene(
    scene: Scene,
    k: int = 0,
    width: float = 480.0,
    height: float = 300.0,
    *,
    trace: bool = False,
    letters: bool = False,
) -> Picture:
    """The scene at its k-th time; with `letters`, at its first, the coordinates and lengths are
    written into it.
    """
    camera = _Camera(scene, k, width, height)
    fine = 12 if len(scene.bodies) <= 6 else 8
    faces = [
        f
        for b in scene.bodies
        for f in _solid(b, k, COLOURS[b.colour % len(COLOURS)], camera, fine)
    ]
    faces += [
        f for b in scene.bodies for f in _outline(b, k, COLOURS[b.colour % len(COLOURS)], camera)
    ]
    # members are coloured after the bodies
    faces += [
        f
        for n, c in enumerate(scene.curves, scene.colour_count)
        for f in _curve(c, k, COLOURS[n % len(COLOURS)], camera)
    ]
    faces += list(_link_faces(scene, k, camera))
    faces += [f for strip in scene.surfaces for f in _strip(strip, k, camera)]
    faces.sort(key=lambda f: -f.depth)
    below = [*_floor(scene, camera), *(_traces(scene, k, camera) if trace else ())]
    written = list(place_labels(scene.dimensions, camera, width, height)) if letters else []
    lines = [f for each, _ in written for f in _dimension(each, camera)]
    return Picture(width, height, (*below, *faces, *lines), tuple(label for _, label in written))


# ---- solids ----------------------------------------------------------------------------------


def _solid(body: DrawnBody, k: int, colour: str, camera: _Camera, fine: int) -> Iterator[Face]:
    """The faces that look towards the eye."""
    R, r, sizes = body.R[k], body.r[k], np.array(body.solid.sizes)
    eye = camera.target + camera.distance * camera.back
    marked = body.frame is not None and body.solid.shows_rotation
    alpha = 0.75 if body.solid.is_inferred and body.solid.kind == "sphere" else 1.0
    for corners, normals in _unit_mesh(body.solid, fine):
        world = (corners * sizes) @ R.T + r
        n = (normals / sizes) @ R.T
        n = n / np.maximum(np.linalg.norm(n, axis=1, keepdims=True), np.finfo(float).tiny)
        seen = np.einsum("fi,fi->f", n, eye - world.mean(axis=1)) > 0
        flat, depth = camera(world[seen].reshape(-1, 3))
        second = marked & (corners[seen, :, 0].mean(axis=1) * corners[seen, :, 1].mean(axis=1) < 0)
        fills = _shade(colour, n[seen] @ camera.light(), n[seen] @ camera.up, second)
        count = corners.shape[1]
        for points, far, fill in zip(
            flat.reshape(-1, count, 2),
            depth.reshape(-1, count).mean(axis=1).tolist(),
            fills,
            strict=True,
        ):
            yield Face(points, fill, depth=far, alpha=alpha)


def _unit_mesh(solid: SolidShape, fine: int) -> tuple[tuple[FloatArray, FloatArray], ...]:
    """Corners and outward normals of the faces of a unit solid, those with as many corners
    together.
    """
    if solid.surface is not None:
        corners = solid.surface.preview.vertices[solid.surface.preview.faces]
        return ((corners, np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])),)
    if solid.kind == "box":
        return _box()
    return (
        _cylinder(12 if solid.sizes[2] > 4 * solid.sizes[0] else _ROUND)
        if solid.kind == "cylinder"
        else _sphere(fine)
    )


@cache
def _box() -> tuple[tuple[FloatArray, FloatArray], ...]:
    corners = np.zeros((6, 4, 3))
    for k, (axis, side) in enumerate((axis, side) for axis in range(3) for side in (-1.0, 1.0)):
        corners[k, :, axis] = side
        corners[k, :, (axis + 1) % 3], corners[k, :, (axis + 2) % 3] = (
            [-1, 1, 1, -1],
            [-1, -1, 1, 1],
        )
    return ((corners, corners.mean(axis=1)),)


@cache
def _cylinder(n: int) -> tuple[tuple[FloatArray, FloatArray], ...]:
    angles = 2 * np.pi * np.arange(n + 1) / n
    ring = np.column_stack([np.cos(angles), np.sin(angles), np.ones(n + 1)])
    top, bottom, middle = ring, ring * [1, 1, -1], np.broadcast_to([0.0, 0.0, 1.0], (n, 3))
    between = angles[:-1] + np.pi / n
    sides = np.stack([bottom[:-1], bottom[1:], top[1:], top[:-1]], axis=1)
    outward = np.column_stack([np.cos(between), np.sin(between), np.zeros(n)])
    ends = np.concatenate(
        [
            np.stack([middle * z, edge[:-1], edge[1:]], axis=1)
            for z, edge in ((-1.0, bottom), (1.0, top))
        ]
    )
    return (sides, outward), (ends, np.concatenate([-middle, middle]))


@cache
def _sphere(n: int) -> tuple[tuple[FloatArray, FloatArray], ...]:
    def at(a: FloatArray, b: FloatArray) -> FloatArray:
        return np.stack([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)], axis=-1)

    a, b = (
        x.ravel()
        for x in np.meshgrid(np.pi * np.arange(n) / n, np.pi * np.arange(2 * n) / n, indexing="ij")
    )
    step = np.pi / n
    corners = np.stack([at(a, b), at(a + step, b), at(a + step, b + step), at(a, b + step)], axis=1)
    return ((corners, at(a + step / 2, b + step / 2)),)


def _shade(colour: str, sun: FloatArray, sky: FloatArray, second: FloatArray) -> list[str]:
    """The colour of each face in the light that falls on it."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    rgb = np.where(second[:, None], rgb + 0.45 * (1 - rgb), rgb)
    lit = np.clip(
        rgb * (0.42 + 0.24 * (0.5 + 0.5 * sky) + 0.48 * np.maximum(sun, 0.0))[:, None], 0, 1
    )
    return ["#{:02x}{:02x}{:02x}".format(*face) for face in np.rint(255 * lit).astype(int).tolist()]


def _outline(body: DrawnBody, k: int, colour: str, camera: _Camera) -> Iterator[Face]:
    """Bars between the joints of a body, and the plate within them."""
    if body.outline is None or body.frame is None:
        return
    R, r = body.frame[k], body.r[k]
    if len(body.outline.plate):
        flat, depth = camera(body.outline.plate @ R.T + r)
        yield Face(flat, colour, depth=float(depth.max()) + 0.01 * camera.radius, alpha=_PLATE)
    for ends in body.outline.bars:
        flat, depth = camera(ends @ R.T + r)
        yield Face(flat, None, colour, _BAR * _unit_width(camera), depth=float(depth.mean()))


def _curve(curve: MemberCurve, k: int, colour: str, camera: _Camera) -> Iterator[Face]:
    """A member piece by piece, so that each has its own depth."""
    flat, depth = camera(curve.r[:, k])
    for n in range(len(flat) - 1):
        width = 0.9 * curve.thick * _unit_width(camera)
        yield Face(flat[n : n + 2], None, colour, width, depth=float(depth[n : n + 2].mean()))


def _unit_width(camera: _Camera) -> float:
    """The width of a line in this picture."""
    return float(camera.middle.min()) / 60


# ---- lines -----------------------------------------------------------------------------------


def _link_faces(scene: Scene, k: int, camera: _Camera) -> Iterator[Face]:
    """Links, springs, dampers and ropes, guides, and the joints between them."""
    unit = _unit_width(camera)
    for line in scene.lines:
        yield from _line_faces(scene, line, k, camera)
    for rail in scene.rails:
        flat, depth = camera(rail.ends)
        yield Face(flat, None, INK, 0.35 * unit, depth=float(depth.max()) + camera.distance)
    for place in scene.points:
        if place.joint:
            yield from _joint_faces(place, k, camera)


def _line_faces(scene: Scene, line: SceneLine, k: int, camera: _Camera) -> Iterator[Face]:
    unit = _unit_width(camera)
    ends = np.array([scene.points[line.a].r[k], scene.points[line.b].r[k]])
    if line.kind == "spring":
        ends = _spring_coil(ends, 0.02 * camera.radius)
    elif line.kind == "rope":
        ends = _hanging_rope(ends, line.length, camera.up)
    flat, depth = camera(ends)
    # a link inside a body is hidden by it
    width = 0.45 * unit if line.kind == "rope" else 0.9 * unit
    yield Face(flat, None, METAL if line.kind == "link" else INK, width, depth=float(depth.max()))
    if line.kind == "damper":
        # the cylinder of a dashpot
        dashpot = flat[0] + np.outer([0.35, 0.65], flat[-1] - flat[0])
        yield Face(dashpot, None, METAL, 2.8 * unit, depth=float(depth.min()))


def _joint_faces(place: ScenePoint, k: int, camera: _Camera) -> Iterator[Face]:
    """A ball, and a base below it where the joint is fixed in space."""
    unit = _unit_width(camera)
    flat, depth = camera(place.r[k])
    angles = 2 * np.pi * np.arange(12) / 12
    ball = flat[0] + 0.95 * unit * np.column_stack([np.cos(angles), np.sin(angles)])
    yield Face(ball, METAL, depth=float(depth[0]) - 0.01 * camera.radius)
    if place.fixed:
        half = np.array([[-2.6, -1.2], [2.6, -1.2], [2.6, -2.1], [-2.6, -2.1]]) * unit
        yield Face(flat[0] + half, METAL, depth=float(depth[0]))


def _strip(strip: SurfaceStrip, k: int, camera: _Camera) -> Iterator[Face]:
    """A wall, belt or curved ground: its strip, and hatching on the solid side of its edge."""
    line = strip.line + strip.shift[k]
    back, front = line + strip.across, line - strip.across
    flat, depth = camera(np.concatenate([front, back[::-1]]))
    far = float(depth.max()) + 0.02 * camera.radius
    yield Face(flat, METAL, depth=far, alpha=0.3)
    for edge in (front, back):
        yield Face(camera(edge)[0], None, INK, 1.2, depth=far, alpha=0.7)
    steps = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    size = 0.08 * camera.radius
    travel = 0.0 if strip.travel is None else float(strip.travel[k])
    for s in np.arange(travel % size, steps[-1], size):
        p = np.array([np.interp(s, steps, front[:, i]) for i in range(3)])
        q = p + 2 * strip.across
        if strip.travel is None:
            along = (line[-1] - line[0]) / np.linalg.norm(line[-1] - line[0])
            q = p - 0.6 * size * (strip.normal + along)
        yield Face(camera(np.array([p, q]))[0], None, INK, 0.8, depth=far, alpha=0.5)


def _hanging_rope(ends: FloatArray, length: float, up: FloatArray) -> FloatArray:
    """L ≈ l + 8 d²/(3 l): a slack rope as a parabola with the sag d."""
    distance = float(np.linalg.norm(ends[1] - ends[0]))
    slack = length - distance
    if slack <= 1e-6 * length:
        return ends
    near = distance <= 0.2 * length
    sag = slack / 2 if near else min(np.sqrt(3 * distance * slack / 8), length / 2)
    s = np.linspace(0.0, 1.0, 25)
    hanging = ends[0] + np.outer(s, ends[1] - ends[0]) - np.outer(4 * sag * s * (1 - s), up)
    return np.asarray(hanging)


def _spring_coil(ends: FloatArray, r: float) -> FloatArray:
    z = ends[1] - ends[0]
    length = float(np.linalg.norm(z))
    if length == 0:
        return ends
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z / length)
    x = x / np.linalg.norm(x)
    y = np.cross(z / length, x)
    s = np.linspace(0.1, 0.9, 12 * _TURNS + 1)
    phase = 2 * np.pi * _TURNS * np.linspace(0, 1, len(s))
    middle = (
        ends[0] + np.outer(s, z) + r * (np.outer(np.cos(phase), x) + np.outer(np.sin(phase), y))
    )
    return np.concatenate([ends[:1], middle, ends[1:]])


def _dimension(each: DimensionLine, camera: _Camera) -> Iterator[Face]:
    """The arc of an angle with the leg it is counted from, or the line of a coordinate."""
    if each.leg is not None:
        yield Face(camera(each.leg)[0], None, INK, 0.8, alpha=0.7)
    if each.drawn:
        yield Face(camera(each.line)[0], None, INK, 1.2)


def _traces(scene: Scene, k: int, camera: _Camera) -> Iterator[Face]:
    for n, place in enumerate(traced_points(scene)):
        if k > 1:
            yield Face(
                camera(scene.points[place].r[: k + 1])[0],
                None,
                COLOURS[n % len(COLOURS)],
                1.2,
                alpha=0.7,
            )


def _floor(scene: Scene, camera: _Camera) -> Iterator[Face]:
    """A patch of the ground as a grid of lines that fade."""
    height = scene.view.ground
    if height is None:
        return
    x, y, up = scene.view.axes
    o = camera.target + (height - camera.target @ up) * up
    cell = 10 ** np.round(np.log10(camera.radius / 2.2))
    count = int(min(14, np.ceil(2.2 * camera.radius / cell)))
    base = np.round(np.array([o @ x, o @ y]) / cell) * cell
    o = base[0] * x + base[1] * y + height * up
    for i in range(-count, count + 1):
        reach = np.sqrt(max(count**2 - i**2, 0)) * cell
        alpha = 0.34 * (1 - abs(i) / (count + 1)) + 0.06
        for a, b in ((x, y), (y, x)):
            ends = np.array([o + i * cell * a - reach * b, o + i * cell * a + reach * b])
            yield Face(camera(ends)[0], None, INK, 0.8, alpha=alpha)


# ---- as text ---------------------------------------------------------------------------------


def svg(drawn: Picture, title: str = "") -> str:
    """The picture as SVG that scales with its place; `title` is for those who do not see it."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {drawn.width:g} '
        f'{drawn.height:g}" role="img" class="sketch"'
    )
    label = f' aria-label="{escape(title)}">' if title else ">"
    return (
        head
        + label
        + "".join(_element(f) for f in drawn.faces)
        + "".join(x.svg for x in drawn.labels)
        + "</svg>"
    )


def _element(face: Face) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in face.points)
    alpha = "" if face.alpha == 1.0 else f' opacity="{face.alpha:.2f}"'
    if face.fill is None:
        style = (
            f'fill="none" stroke="{face.stroke}" stroke-width="{face.width:.2g}" '
            f'stroke-linecap="round" stroke-linejoin="round"'
        )
        return f'<polyline points="{points}" {style}{alpha}/>'
    # a thin edge of the same colour closes the gaps between faces
    edge = f' stroke="{face.fill}" stroke-width=".5"' if not alpha else ""
    return f'<polygon points="{points}" fill="{face.fill}"{edge}{alpha}/>'
