"""One adaptor for each tool that dalembert is measured against; a tool that is not there is a
row that says so.
"""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable
from types import ModuleType
from typing import Any


class Unavailable(Exception):
    """A tool that cannot be measured on this machine, with the reason."""


def peer(name: str) -> ModuleType:
    """The adaptor of that name, if its tool can be imported."""
    try:
        return importlib.import_module(f"peers.{name}")
    except ImportError as error:
        msg = "not installed"
        raise Unavailable(msg) from error


def attempt(make: Callable[[], Any]) -> Any:
    """What `make` gives, or Unavailable with the reason in one line: a peer's failure is a row,
    not the end of the run.
    """
    try:
        return make()
    except Unavailable:
        raise
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        msg = f"failed: {reason[:80]}"
        raise Unavailable(msg) from error


def c_compiler() -> str:
    """The C compiler that tools which need one use."""
    found = shutil.which("gcc") or shutil.which("cc")
    if found is None:
        msg = "needs a C compiler"
        raise Unavailable(msg)
    return found
