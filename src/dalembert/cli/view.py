"""view: the page of a system in the browser, without a file of one's own."""

from __future__ import annotations

import tempfile
from pathlib import Path

from dalembert.cli import pages
from dalembert.cli.options import AnySystem, Given, Input, Start
from dalembert.cli.program import subject
from dalembert.numerics.cache import ObjectCache

FOLDER = "pages"


def view(
    system: AnySystem,
    duration: pages.Duration = None,
    values: Given = None,
    start: Start = None,
    inputs: Input = None,
) -> None:
    """Write the page to the cache folder and open it."""
    chosen = subject(system, values)
    request = pages.wished(system, chosen, duration, {"--set": values, "--start": start, "--input": inputs})
    folder = ObjectCache.of_environment().directory or Path(tempfile.gettempdir())
    target = folder / FOLDER / f"{pages.file_of(system)}.html"
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    pages.one(system, request, chosen, target, (), show=True)
