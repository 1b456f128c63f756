"""<inertial> of links written back into a URDF; everything else of the file stays as it is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as Tree

import numpy as np

from dalembert.analysis.inverse.regressor import reference_point
from dalembert.errors import BadDescription
from dalembert.exchange.robots.robot_record import RobotSource
from dalembert.exchange.robots.xml_validation import checked_file
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.atomic_write import check_extension, write_text
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate

if TYPE_CHECKING:
    from dalembert.analysis.studies.identification_result import BodyInertia

_ENTRIES = (
    ("ixx", 0, 0),
    ("ixy", 0, 1),
    ("ixz", 0, 2),
    ("iyy", 1, 1),
    ("iyz", 1, 2),
    ("izz", 2, 2),
)


def write_urdf(
    system: System, bodies: Mapping[str, BodyInertia], path: str | os.PathLike[str]
) -> Path:
    """The robot's own file with new masses, mass centres and inertias of the named bodies."""
    source = system.origin
    if not isinstance(source, RobotSource) or not source.path_is_urdf:
        msg = f"write_urdf: {system.name!r} was not loaded from a URDF file"
        raise BadDescription(msg)
    check_extension(path, (".urdf",))
    # refuses entities and other files once more: the file may have changed
    file = checked_file(source.path).path
    root = Tree.fromstring(file.read_bytes())  # noqa: S314 - checked the line before
    links = {link.get("name"): link for link in root.iter("link")}
    for body in system.bodies:
        if body.name in bodies and body.frame is not None:
            element = links.get(body.name)
            if element is None:
                msg = f"write_urdf: {file.name} has no link {body.name!r} any more; load it again"
                raise BadDescription(msg)
            _set_inertial(element, *_in_link_axes(system, source, body.name, bodies[body.name]))
    Tree.indent(root)
    text = Tree.tostring(root, encoding="unicode", xml_declaration=True)
    return write_text(path, text + "\n")


def _in_link_axes(
    system: System, source: RobotSource, name: str, identified: BodyInertia
) -> tuple[float, FloatArray, FloatArray]:
    """m, c and I in the axes of the link, seen from its origin."""
    body = next(b for b in system.bodies if b.name == name)
    at = source.links[name]
    shift = at.point - reference_point(body)
    numbers = {s.scalar.i: float(s.value) for s in system.symbols.values() if s.value is not None}
    nodes = list(shift.components(at.frame))
    origin = np.array(evaluate(shift.tape, nodes, numbers.__getitem__, FloatArithmetic()), float)
    R = at.pose.R
    c = R.T @ (identified.com - origin - at.pose.p)
    return identified.mass, c, R.T @ identified.inertia @ R


def _set_inertial(link: Tree.Element, mass: float, com: FloatArray, I: FloatArray) -> None:
    inertial = link.find("inertial")
    if inertial is None:
        inertial = Tree.SubElement(link, "inertial")
    for child in list(inertial):
        inertial.remove(child)
    xyz = " ".join(repr(float(x)) for x in com)
    Tree.SubElement(inertial, "origin", {"xyz": xyz, "rpy": "0 0 0"})
    Tree.SubElement(inertial, "mass", {"value": repr(mass)})
    Tree.SubElement(inertial, "inertia", {k: repr(float(I[i, j])) for k, i, j in _ENTRIES})
