"""Meshes of links, on request: MuJoCo opens the files, and only those inside the given folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import numpy as np

from dalembert.errors import warn
from dalembert.exchange.robots.optional_engines import captured_warnings, mujoco
from dalembert.exchange.robots.robot_record import Robot, quaternion4
from dalembert.exchange.robots.transforms import IDENTITY, Pose, rotation, rotation_zyx
from dalembert.exchange.robots.unsupported_features import abbreviate, names
from dalembert.mechanics.geometry.triangle_mesh import TriangleMesh

# triangles of a whole robot: a page of a few hundred kilobytes more, and corners that 16 bits can
# count
MAX_TRIANGLES: Final = 20_000
_MESH: Final = 7
_MAX_FILE_BYTES: Final = 64 * 2**20


LinkSurfaces = dict[str, list[TriangleMesh]]
# {why meshes are not drawn: those meant}
MissingMeshes = dict[str, list[str]]


class _Unreadable(Exception):
    """Why a mesh is not drawn, and its name."""

    def __init__(self, why: str, name: str) -> None:
        super().__init__(f"{why}: {name}")
        self.why, self.name = why, name


def with_meshes(robot: Robot, file: Path, folder: Path, *, urdf: bool) -> Robot:
    """The same robot, with the surfaces of its links; a link none of whose meshes can be read
    keeps its primitives or its bar.
    """
    surfaces_by_link, lacking = _urdf_surfaces(file, folder) if urdf else _mjcf_surfaces(file)
    if lacking:
        words = "; ".join(
            f"{why}: {abbreviate(tuple(dict.fromkeys(which)))}" for why, which in lacking.items()
        )
        warn(f"{robot.name}: meshes that are not drawn; {words}")
    share = MAX_TRIANGLES // max(1, sum(map(len, surfaces_by_link.values())))
    fine = tuple(
        name
        for name, surfaces in surfaces_by_link.items()
        if any(len(s.faces) > share for s in surfaces)
    )
    if fine:
        many = sum(len(s.faces) for surfaces in surfaces_by_link.values() for s in surfaces)
        warn(
            f"{robot.name}: {many} triangles are too many for a page; drawn with at most "
            f"{share} in a mesh: {abbreviate(fine)}"
        )
    drawn = {
        name: tuple(s.decimate(share) for s in surfaces)
        for name, surfaces in surfaces_by_link.items()
    }
    return replace(
        robot, bodies=tuple(replace(b, surfaces=drawn.get(b.name, ())) for b in robot.bodies)
    )


# ---- MJCF --------------------------------------------------------------------------------------


def _mjcf_surfaces(file: Path) -> tuple[LinkSurfaces, MissingMeshes]:
    """{body: surfaces}: those that only serve to be seen where there are some, else all; and
    what is not there.
    """
    from dalembert.exchange.robots.mjcf import compile_mjcf

    m, _ = compile_mjcf(file)
    bodies, surfaces = names(m, "body", m.nbody), LinkSurfaces()
    for k in range(1, m.nbody):
        geoms = [g for g in range(m.ngeom) if m.geom_bodyid[g] == k and m.geom_type[g] == _MESH]
        seen = [g for g in geoms if not m.geom_contype[g] and not m.geom_conaffinity[g]]
        if geoms:
            surfaces[bodies[k]] = [_surface(m, g) for g in seen or geoms]
    # a model whose files are absent was compiled without its shapes
    absent = (
        []
        if m.nmesh
        else [str(mesh.file) for mesh in mujoco().MjSpec.from_file(str(file)).meshes if mesh.file]
    )
    return surfaces, {"not all of them can be opened": absent} if absent else {}


def _surface(m: Any, g: int) -> TriangleMesh:
    """The compiled mesh of a geom in the axes of its body: MuJoCo turns meshes into their
    principal axes, and the geom back.
    """
    mesh = int(m.geom_dataid[g])
    first, last = int(m.mesh_vertadr[mesh]), int(m.mesh_vertadr[mesh] + m.mesh_vertnum[mesh])
    start, end = int(m.mesh_faceadr[mesh]), int(m.mesh_faceadr[mesh] + m.mesh_facenum[mesh])
    corners = (
        np.asarray(m.mesh_vert[first:last], dtype=float) @ rotation(quaternion4(m.geom_quat[g])).T
        + m.geom_pos[g]
    )
    return TriangleMesh(corners, np.array(m.mesh_face[start:end], dtype=np.int64))


# ---- URDF --------------------------------------------------------------------------------------


def _urdf_surfaces(file: Path, folder: Path) -> tuple[LinkSurfaces, MissingMeshes]:
    """{link: surfaces}: of its visuals, else of its collision shapes; and, for a link without
    either, why it cannot be read.
    """
    # the file was checked: no DOCTYPE and no entities
    tree = ElementTree.fromstring(file.read_bytes())  # noqa: S314
    surfaces_by_link, lacking = LinkSurfaces(), MissingMeshes()
    opened: dict[tuple[Path, tuple[float, ...]], TriangleMesh] = {}
    for link in tree.iter("link"):
        problems: list[_Unreadable] = []
        for kind in ("visual", "collision"):
            surfaces = []
            for shape in link.findall(kind):
                mesh, origin = shape.find("geometry/mesh"), shape.find("origin")
                if mesh is None:
                    continue
                try:
                    at = IDENTITY if origin is None else _origin_pose(origin)
                    surface = _load_mesh(mesh, file, folder, opened)
                except _Unreadable as problem:
                    problems.append(problem)
                    continue
                surfaces.append(TriangleMesh(surface.vertices @ at.R.T + at.p, surface.faces))
            if surfaces:
                surfaces_by_link[str(link.get("name"))] = surfaces
                break
        else:
            for p in problems:
                lacking.setdefault(p.why, []).append(f"{p.name} of {link.get('name')}")
    return surfaces_by_link, lacking


def _origin_pose(origin: ElementTree.Element) -> Pose:
    """xyz, and roll, pitch, yaw about fixed axes"""
    p, (roll, pitch, yaw) = (_numbers(origin, name, (0.0, 0.0, 0.0)) for name in ("xyz", "rpy"))
    return Pose(rotation_zyx(yaw, pitch, roll), np.array(p))


def _numbers(e: ElementTree.Element, name: str, default: tuple[float, ...]) -> tuple[float, ...]:
    try:
        numbers = tuple(map(float, (e.get(name) or "").split())) or default
    except ValueError:
        numbers = ()
    if len(numbers) != 3 or not np.all(np.isfinite(numbers)):
        why = "no three numbers"
        raise _Unreadable(why, f"{name}={e.get(name)!r}")
    return numbers


def _load_mesh(
    mesh: ElementTree.Element,
    file: Path,
    folder: Path,
    opened: dict[tuple[Path, tuple[float, ...]], TriangleMesh],
) -> TriangleMesh:
    """One file by MuJoCo (binary STL, OBJ, MSH), scaled."""
    key = (
        _resolve_mesh_path(str(mesh.get("filename") or ""), file, folder),
        _numbers(mesh, "scale", (1.0, 1.0, 1.0)),
    )
    if key not in opened:
        path, scale = key
        m = mujoco()
        spec = m.MjSpec()
        # a surface need not be closed to be seen
        spec.add_mesh(
            name="mesh", file=str(path), scale=scale, inertia=m.mjtMeshInertia.mjMESH_INERTIA_SHELL
        )
        spec.worldbody.add_geom(
            type=m.mjtGeom.mjGEOM_MESH, meshname="mesh", contype=0, conaffinity=0
        )
        try:
            with captured_warnings():
                opened[key] = _surface(spec.compile(), 0)
        except ValueError as problem:
            raise _Unreadable(_mesh_error(str(problem), path), path.name) from problem
    return opened[key]


def _resolve_mesh_path(named: str, file: Path, folder: Path) -> Path:
    """The file that a URDF refers to: in its folder, or (package://…) below one of the folders
    above it; never outside `folder`.
    """
    plain = named.removeprefix("file://")
    parts = Path(plain.removeprefix("package://")).parts
    above = [place for place in (file.parent, *file.parents) if place.is_relative_to(folder)]
    ends = range(len(parts) if plain.startswith("package://") else 1)
    for candidate in (
        place.joinpath(*parts[k:])
        for k in ends
        for place in (above if len(ends) > 1 else above[:1])
    ):
        there = candidate.resolve()
        if there.is_relative_to(folder) and there.is_file():
            if there.stat().st_size > _MAX_FILE_BYTES:
                why = f"larger than {_MAX_FILE_BYTES // 2**20} MB"
                raise _Unreadable(why, there.name)
            return there
    why = f"not found inside {str(folder)!r} (root= names the folder that holds them)"
    raise _Unreadable(why, parts[-1] if parts else "no file name")


def _mesh_error(problem: str, path: Path) -> str:
    """Why MuJoCo could not read a file."""
    if "no decoder" in problem or "unknown mesh" in problem:
        return (
            f"MuJoCo reads binary STL, OBJ and MSH, not {path.suffix or 'files without an ending'}"
        )
    shown = " ".join(
        problem.split("Element name", maxsplit=1)[0].replace(str(path), path.name).split()
    )
    return f"MuJoCo cannot read them ({shown})"
