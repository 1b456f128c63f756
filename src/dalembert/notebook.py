"""How a notebook shows our results: as the report would.

The report reads every chapter, so no chapter can import it. It is looked up by name when a notebook asks.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final

REPORT: Final = "dalembert.report.notebook"


class Shown:
    """What a notebook shows as a page of a report, with formulas typeset."""

    def _repr_html_(self) -> str:
        return str(import_module(REPORT).html(self))

    def _repr_markdown_(self) -> str:
        return str(import_module(REPORT).markdown(self))

    def _repr_latex_(self) -> str:
        return str(import_module(REPORT).latex(self))
