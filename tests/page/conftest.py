"""Pages that several tests look at, made once."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from browsing import executable, flags

from dalembert import gallery
from dalembert.interface.page.report_page import (
    ReportData,
    ReportRequest,
    compute_report,
    render_page,
    report_run_options,
)
from dalembert.interface.report.system_report import ReportSubject


def studied(name: str, **changes: object) -> ReportData:
    """A system of the gallery as `dalembert report` studies it."""
    entry = gallery.entry(name)
    request = ReportRequest(entry.duration, report_run_options(entry.start, {}, entry.inputs), name)
    return compute_report(
        ReportSubject(
            entry.build(),
            entry.title,
            entry.source,
            entry.description,
            mode_names=entry.mode_names,
        ),
        dataclasses.replace(request, **changes),
    )


@pytest.fixture(scope="session")
def disk() -> ReportData:
    return studied("rolling-disk", duration=4.0)


@pytest.fixture(scope="session")
def disk_page(disk) -> str:
    return render_page(disk)


@pytest.fixture(scope="session")
def disk_file(disk_page, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("page") / "rolling $(rm) disk.html"
    path.write_text(disk_page, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser():
    """Chromium, where it and playwright are installed."""
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="the browser tests need playwright: pip install playwright"
    )
    if executable() is None:
        pytest.skip("the browser tests need Chromium: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=executable(), args=flags())
        yield found
        found.close()
