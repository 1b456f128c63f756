"""A studio in a process of its own, ended by its own process id; and Chromium to look at it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "page")]
from browsing import executable, flags  # noqa: E402 - helpers of the tests
from running_studio import start  # noqa: E402


@pytest.fixture
def studio(tmp_path):
    """Start studios in an own folder; all of them are ended."""
    started = []

    def begin(*arguments):
        started.append(start(tmp_path, *arguments))
        return started[-1]

    yield begin
    for one in started:
        if one.process.poll() is None:
            one.end()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One studio for several tests that only ask it."""
    running = start(tmp_path_factory.mktemp("studio"))
    yield running
    running.end()


@pytest.fixture(scope="module")
def browser():
    """Chromium, where it and playwright are installed."""
    reason = "the browser tests need playwright: pip install playwright"
    sync_api = pytest.importorskip("playwright.sync_api", reason=reason)
    if executable() is None:
        pytest.skip("the browser tests need Chromium: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=executable(), args=flags())
        yield opened
        opened.close()
