"""Modules that are called against the flow between parts, in one table: each is imported when its
method is first called.

Keywords: late import, dependency order. `run.view()` is written where runs are, and the viewer
belongs to a later part. tests/architecture reads the table.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Final

LATE_MODULES: Final = {
    # results as a notebook shows them
    "report": "dalembert.interface.report.notebook_display",
    # s.view(), run.view(), run.animate()
    "viewer": "dalembert.interface.page.run_viewer",
    # orbit.page(), optimum.page(), fit.page()
    "orbit page": "dalembert.interface.page.orbit_page",
    "optimum page": "dalembert.interface.page.optimum_page",
    "fit page": "dalembert.interface.page.fit_page",
    # s.link()
    "robot links": "dalembert.exchange.robots.links",
    # identification.write_urdf()
    "URDF writer": "dalembert.exchange.robots.urdf_writer",
    # s.save()
    "model file": "dalembert.exchange.modelfile.save",
    # s.beam(…, functions=…)
    "discretisation": "dalembert.analysis.flexible.assumed_modes.discretise",
    # run.gradient()
    "adjoint": "dalembert.runtime.dynamics.adjoint",
}


def late_module(key: str) -> ModuleType:
    """A module of the table."""
    return import_module(LATE_MODULES[key])
