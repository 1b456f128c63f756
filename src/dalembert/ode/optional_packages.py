"""Packages that only some calls need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dalembert.ode.failures import MissingPackage


def optional_package(module: str, who: str, install: str = "") -> Any:
    """The module, or a word on who needs its package and how to get it."""
    try:
        return import_module(module)
    except ImportError as problem:
        package = install or module.partition(".")[0]
        msg = f"{who} needs {module.partition('.')[0]}, which is not installed: pip install {package}"
        raise MissingPackage(msg) from problem
