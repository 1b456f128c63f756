import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import Unwritable
from dalembert.foundation.atomic_write import write_text
from dalembert.interface.page.report_page import (
    ReportRequest,
    compute_report,
    render_page,
    report_run_options,
)
from dalembert.interface.report.system_report import ReportSubject

SCRIPT = "<script>alert(1)</script>"
SHELL = "$(rm -rf ~)"
VOID = {"meta", "link", "input", "br", "hr", "img"}


class Balanced(HTMLParser):
    """Every element that is opened is closed, in order."""

    def __init__(self):
        super().__init__()
        self.open, self.tags = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert tag == self.open.pop()

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def parsed(text):
    found = Balanced()
    found.feed(text)
    assert [] == found.open
    return found


def falling(name="Falling", m=1):
    s = da.System(name, gravity=9.81, source=SHELL)
    y = s.coordinate("y")
    s.particle(name, s.constant("m", m), s.O.offset(y * s.N.y, name))
    s.force(s.input("F") * s.N.y, s.bodies[0].G, name=f"push {name}")
    return compute_report(
        ReportSubject(s, name, s.source, f"About {name}"),
        ReportRequest(0.5, report_run_options(inputs={"F": "sin(t)"})),
    )


def test_the_page_is_whole_and_needs_nothing_else(disk_page):
    found = parsed(disk_page)
    identities = [attrs["id"] for _, attrs in found.tags if "id" in attrs]
    assert len(set(identities)) == len(identities)
    for part in ("system", "equations", "agreement", "motion", "energy", "linear", "reproduction"):
        assert part in identities
    # nothing is fetched: no address but names of XML, anchors and data
    addresses = [
        attrs[key]
        for _, attrs in found.tags
        for key in ("src", "href", "action", "poster")
        if attrs.get(key)
    ]
    assert all(a.startswith(("#", "data:")) for a in addresses)
    assert {"http://www.w3.org/2000/svg"} == set(re.findall(r"https?://[^\s\"'<>)]+", disk_page))
    assert len(disk_page.encode()) <= 1.07e6


def test_it_shows_every_principle_with_its_equations_and_steps(disk, disk_page):
    assert 11 == len(disk.derivations)
    for d in disk.derivations:
        panel = disk_page.partition(f'id="principle-{d.principle.name}"')[2].partition(
            'role="tabpanel"'
        )[0]
        assert "<math" in panel
        assert panel.count("<details>") >= 3
        assert 'encoding="application/x-tex"' in panel


def test_it_says_what_matters(disk, disk_page):
    assert "11 principles agree" in disk_page
    for words in (
        "kinetic energy",
        "Kinematic audit",
        "Three kinds of error",
        "integrator",
        "Steady motion with psi.dot = 6",
        "rtol",
        "Gre03",
    ):
        assert words in disk_page
    assert "dalembert report rolling-disk" in disk_page
    assert "s = gallery.build(&#x27;rolling-disk&#x27;)" in disk_page
    # the motion itself is in the page
    assert disk.run is not None
    assert '"names":["t","x","y","phi","theta","psi","phi.dot","theta.dot","psi.dot"]' in disk_page


@pytest.mark.slow
def test_the_program_of_the_page_makes_it_again(disk, tmp_path, monkeypatch):
    from dalembert.interface.page.parts.reproduce import python_program

    monkeypatch.chdir(tmp_path)
    exec(compile(python_program(disk), "page", "exec"), {})
    again = Path("report.html").read_text(encoding="utf-8")
    assert "11 principles agree" in again


@pytest.mark.slow
def test_the_same_study_gives_the_same_page(disk, disk_page):
    assert disk_page == render_page(disk)


@pytest.mark.parametrize(
    "name", [SCRIPT, SHELL, "'\"><img src=x onerror=alert(1)>", "</title></style></script>"]
)
def test_hostile_names_are_words(name):
    text = render_page(falling(name))
    found = parsed(text)
    own = {"scene", "plots", "table", "live", "engine", "module"}
    scripts = [attrs for tag, attrs in found.tags if tag == "script"]
    assert all(
        attrs.get("id", "packed-") in own or attrs.get("id", "packed-").startswith("packed-")
        for attrs in scripts
    )
    assert [] == [
        tag for tag, _ in found.tags if tag in {"img", "iframe", "object", "embed", "form", "base"}
    ]
    assert not any(key.startswith("on") for _, attrs in found.tags for key in attrs)
    assert name not in text or name == SHELL


def test_a_hostile_coordinate_is_refused():
    s = da.System("System")
    with pytest.raises(da.BadDescription, match="cannot be a name"):
        s.coordinate(SCRIPT)


def test_without_values_there_is_a_page_and_it_says_why_nothing_moves():
    text = render_page(falling(m=None))
    parsed(text)
    assert "Not run: no value for the constant m" in text
    assert 'id="scene"' not in text
    assert "principle-kane" in text


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(Unwritable, match="nowhere"):
        write_text(tmp_path / "nowhere" / "page.html", "text")
    target = tmp_path / "page.html"
    assert target == write_text(target, "text")
    assert ["page.html"] == [p.name for p in tmp_path.iterdir()]


def test_inputs_given_as_expressions_run_and_can_be_given_again(tmp_path):
    s = gallery.build("cart-and-bar")
    written = da.write_report(
        s, tmp_path / "page.html", duration=1.0, inputs={s.expression("F"): 2 * da.sin(3 * s.t)}
    ).read_text("utf-8")
    assert "cannot be read" not in written
    assert "&#x27;2*sin(3*t)&#x27;" in written


def test_events_reach_the_run(tmp_path):
    entry = gallery.entry("bouncing-ball")
    known = {"duration": 1.0, "start": entry.start, "inputs": dict(entry.inputs)}
    flying, bouncing = (
        da.write_report(entry.build(), tmp_path / "page.html", **known, events=e).read_text("utf-8")
        for e in ((), entry.events)
    )
    row = "<td>table</td><td>impact</td><td>"
    assert row not in flying
    assert row in bouncing
