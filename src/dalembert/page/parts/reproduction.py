"""Versions, parameters, tolerances, the command and the Python that make a page again, and the data."""

from __future__ import annotations

from html import escape

from dalembert.page.parts.words import lowered, section, table
from dalembert.page.reproduce import command, program, versions
from dalembert.page.study import Study
from dalembert.report import document
from dalembert.report.html import html


def reproduction(study: Study) -> str:
    """The last part."""
    made_with = table((), [(escape(a), escape(b)) for a, b in versions(study)])
    data = '<p><button class="download" type="button">Download the motion as CSV</button></p>' if study.run is not None else ""
    asked = f"<h3>Command</h3><pre><code>{escape(command(study.request))}</code></pre>" if study.request.name else ""
    python = f"<h3>Python</h3><pre><code>{escape(program(study))}</code></pre>"
    works = lowered(html(document.sources(study.subject.source, *(d.principle.source for d in study.derivations))))
    left = f"<div><h3>Versions, values and tolerances</h3>{made_with}{data}</div>"
    return section("reproduction", "How to make this page again", f'<div class="columns">{left}<div>{asked}{python}</div></div>', works)
