"""200 hostile texts as expressions, names, display names and file names: refused in words or
taken as what they are, never executed.
"""

from html.parser import HTMLParser

import pytest

import dalembert as da
from dalembert.errors import DalembertError
from dalembert.foundation.atomic_write import slug
from hostile import MARK, TEXTS

FAST = 3
SOME = [
    text if k % FAST == 0 else pytest.param(text, marks=pytest.mark.slow)
    for k, text in enumerate(TEXTS)
]


@pytest.fixture(autouse=True)
def nothing_is_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    assert [] == list(tmp_path.rglob(MARK))


def short(text):
    return text[:40].encode("unicode_escape").decode()


def answer(call, text):
    """What is said against a text, if anything."""
    try:
        call(text)
    except DalembertError as problem:
        return str(problem)
    return ""


class Tags(HTMLParser):
    """Every tag and attribute of a page, and what its scripts say."""

    def __init__(self):
        super().__init__()
        self.found, self.script = [], False

    def handle_starttag(self, tag, attrs):
        self.found += [
            tag,
            *(f"{k}={v}" for k, v in attrs if k.startswith("on") or k in ("src", "href")),
        ]
        self.script = tag == "script"

    def handle_data(self, data):
        self.found += [data] if self.script else []

    def handle_endtag(self, tag):
        self.script = False


@pytest.mark.parametrize("text", SOME, ids=short)
def test_an_expression_is_read_or_refused(text):
    s = da.System("s")
    x = s.coordinate("x")
    for read in (s.expression, s.__getitem__, lambda t: da.event(t, stop=True)):
        assert len(answer(read, text)) < 600
    assert x == s["x"]


@pytest.mark.parametrize("text", SOME, ids=short)
def test_a_name_is_taken_as_it_is_or_refused(text):
    s = da.System("s", gravity=9.81)
    hinge = s.pin("x", s.O)
    s.particle("first", 1, hinge.offset(-hinge.frame.y))
    for declare in (
        s.coordinate,
        s.constant,
        s.input,
        lambda t: s.display(x=t),
        lambda t: s.particle(t, 1, hinge.offset(hinge.frame.x)),
        lambda t: s.force(s.N.x, hinge, name=t),
        lambda t: s.constrain(s["x"] - 1, t),
        da.System,
    ):
        assert len(answer(declare, text)) < 600


@pytest.mark.parametrize("text", SOME, ids=short)
def test_what_is_shown_of_a_name_is_text(text):
    try:
        s = da.System(text, gravity=9.81)
        hinge = s.pin("x", s.O)
        s.particle(text, 1, hinge.offset(-hinge.frame.y))
        s.display(x=text)
    except DalembertError:
        return
    tags = Tags()
    tags.feed(da.kane(s)._repr_html_() + s._repr_html_())
    assert not [tag for tag in tags.found if MARK in tag]


@pytest.mark.parametrize("text", SOME, ids=short)
def test_the_name_of_a_system_gives_a_file_in_this_folder(text, tmp_path):
    name = slug(text)
    assert "/" not in name
    assert name not in ("", ".", "..")
    (tmp_path / f"{name}.svg").write_text("")
    assert [f"{name}.svg"] == [p.name for p in tmp_path.iterdir()]


@pytest.fixture(scope="module")
def run():
    s = da.System("Pendulum", gravity=9.81)
    s.rod("rod", s.pin("theta", s.O), mass=1, length=1)
    return da.simulate(s, 0.1, start={"theta": 1}, progress=False)


@pytest.mark.parametrize("text", SOME, ids=short)
def test_a_file_is_written_where_its_name_says_or_not_at_all(run, text, tmp_path):
    inside = tmp_path / "a" / "b" / "c"
    inside.mkdir(parents=True)
    said = answer(run.to_csv, f"{inside}/{text}")
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    if said:
        assert "cannot write" in said
        assert [] == files
        return
    (written,) = files
    assert written.read_text(encoding="utf-8").startswith("t,theta,theta.dot\n")


def test_there_are_two_hundred_of_them():
    assert 200 <= len(TEXTS)
    assert len(set(TEXTS)) == len(TEXTS)
