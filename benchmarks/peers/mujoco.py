"""MuJoCo: composite-rigid-body dynamics in C, by `mj_forward` from Python or from a native loop."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import native_loop
import numpy
from numpy.typing import NDArray
from systems import GRAVITY, Link

from peers import Unavailable

_AXES = ("1 0 0", "0 1 0", "0 0 1")
# everything but the smooth forward dynamics is switched off
_OPTION = f"""<option gravity="0 0 {-GRAVITY}">
<flag constraint="disable" contact="disable" sensor="disable"/></option>"""


def _numbers(values: Any) -> str:
    return " ".join(repr(float(x)) for x in values)


def _text(links: list[Link]) -> str:
    """The chain as nested bodies."""
    opened = []
    for link in links:
        I = link.inertia
        full = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        opened.append(
            f'<body pos="{_numbers(link.offset)}"><joint type="hinge" axis="{_AXES[link.axis]}"/>'
            f'<inertial pos="{_numbers(link.centre)}" mass="{link.mass!r}" '
            f'fullinertia="{_numbers(full)}"/>'
        )
    body = "".join(opened) + "</body>" * len(links)
    return f'<mujoco><compiler angle="radian"/>{_OPTION}<worldbody>{body}</worldbody></mujoco>'


class Chain:
    """The spatial chain as a model of MuJoCo."""

    def __init__(self, links: list[Link]) -> None:
        self.model = mujoco.MjModel.from_xml_string(_text(links))
        self.data = mujoco.MjData(self.model)
        self.n = len(links)

    def one(self, q: NDArray[Any], u: NDArray[Any]) -> NDArray[Any]:
        """One call from Python."""
        data = self.data
        data.qpos[:], data.qvel[:] = q, u
        mujoco.mj_forward(self.model, data)
        return numpy.array(data.qacc)

    def loop(self, Q: NDArray[Any], U: NDArray[Any]) -> Callable[[], NDArray[Any]]:
        """`mj_forward` from a native loop."""
        found = next(Path(mujoco.__file__).parent.glob("libmujoco*"), None)
        if found is None:
            msg = "its library was not found"
            raise Unavailable(msg)
        f = ctypes.cast(ctypes.CDLL(str(found)).mj_forward, ctypes.c_void_p).value
        data = self.data
        # the only way to the C structures
        a = numpy.array([self.model._address, data._address], dtype=numpy.uint64)  # noqa: SLF001
        b = numpy.array(
            [x.ctypes.data for x in (data.qpos, data.qvel, data.qacc)], dtype=numpy.uint64
        )
        run = native_loop.rows(
            "mujoco", (f or 0, a.ctypes.data, b.ctypes.data), numpy.hstack([Q, U]), self.n
        )

        def kept(_keep: tuple[object, ...] = (self, a, b)) -> NDArray[Any]:
            return run()

        return kept
