"""MuJoCo, where it is installed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dalembert.errors import DalembertError


class EngineMissing(DalembertError, ImportError):
    """A package that is needed here and not installed."""


def mujoco() -> Any:
    """The module mujoco, which reads the files and is the witness."""
    try:
        import mujoco as module
    except ImportError as problem:
        msg = (
            "URDF and MJCF files are read by MuJoCo, which is not installed: pip install "
            "'dalembert[robots]'"
        )
        raise EngineMissing(msg) from problem
    return module


@contextmanager
def captured_warnings() -> Iterator[list[str]]:
    """The warnings of MuJoCo meanwhile, each once; it would print them and write a file into the
    user's folder.
    """
    module = mujoco()
    messages: list[str] = []
    before = module.get_mju_user_warning()
    module.set_mju_user_warning(messages.append)
    try:
        with warnings.catch_warnings(record=True) as deprecated:
            warnings.simplefilter("always")
            yield messages
        messages += [str(w.message) for w in deprecated]
        messages[:] = dict.fromkeys(" ".join(text.split()) for text in messages)
    finally:
        module.set_mju_user_warning(before)


def pinocchio() -> Any:
    """The module pinocchio, or None: a second witness where it is installed."""
    try:
        import pinocchio as module
    except ImportError:
        return None
    return module
