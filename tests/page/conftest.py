"""Pages that several tests look at, made once."""

from __future__ import annotations

import dataclasses

import pytest

from dalembert import gallery
from dalembert.page.html_page import page
from dalembert.page.study import ReportRequest, Study, page_run, study
from dalembert.report.document import Subject


def studied(name: str, **changes: object) -> Study:
    """A system of the gallery as `dalembert report` studies it."""
    entry = gallery.entry(name)
    request = ReportRequest(entry.duration, page_run(entry.start, {}, entry.inputs), name)
    return study(Subject(entry.build(), entry.title, entry.source, entry.description), dataclasses.replace(request, **changes))


@pytest.fixture(scope="session")
def disk() -> Study:
    return studied("rolling-disk", duration=4.0)


@pytest.fixture(scope="session")
def disk_page(disk) -> str:
    return page(disk)
