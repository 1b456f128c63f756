"""dalembert study, and the page of what it wrote."""

import re

import pytest

from cli.running import run


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "study.zarr"
    asked = (
        "--over",
        "m_1=-1,0.5,2",
        "--over",
        "alpha~normal(1, 0.1)",
        "--n",
        "20",
        "--keep",
        "max(beta)",
        "--keep",
        "beta",
        "--for",
        "1",
    )
    return path, run(
        "study", "double-pendulum", *asked, "--at", "0:1:11", "--workers", "2", "-o", str(path)
    )


def test_a_study_says_how_it_went_and_where_it_is(written):
    path, ended = written
    assert 0 == ended.exit_code, ended.output
    assert "Double pendulum: 60 runs of 1" in ended.output
    assert "40 finished, 20 refused" in ended.output
    assert f"written: {path}" in ended.output.replace("\n", "")


def test_the_page_of_a_study_shows_pictures_and_failures(written, tmp_path):
    path, _ = written
    ended = run("report", str(path), "-o", str(tmp_path / "study.html"))
    assert 0 == ended.exit_code, ended.output
    page = (tmp_path / "study.html").read_text(encoding="utf-8")
    assert 2 == page.count('<figure class="study">')
    assert "a mass must be positive" in page
    assert "40 finished, 20 refused" in page
    # no folder of its author's machine
    assert path.name in page
    assert str(path.parent) not in page
    # every shape that is referred to is there, once
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(re.findall(r'id="([^"]+)"', page))
    identities = re.findall(r'\bid="([^"]+)"', page)
    assert len(identities) == len(set(identities))


def test_a_file_that_is_no_study_has_no_page(tmp_path):
    ended = run("report", str(tmp_path / "nothing.zarr"))
    assert 0 != ended.exit_code
    assert "cannot be read as a study" in ended.output


@pytest.mark.parametrize(
    ("over", "told"),
    [
        ((), "nothing varies"),
        (("--over", "alpha"), "write it as name=first:last:count"),
        (("--over", "alpha=1:2"), "a range is first:last:count"),
        (("--over", "alpha=1:2:0"), "a range is first:last:count"),
        (("--over", "alpha=a:2:3"), "is not a number"),
        (("--over", "alpha~normla(0, 1)", "--n", "3"), "did you mean 'normal'"),
        (("--over", "alpha~normal(0)", "--n", "3"), "takes two numbers"),
        (("--over", "alpha~normal(0, -1)", "--n", "3"), "must be positive"),
        (("--over", "alpha~uniform(1, 1)", "--n", "3"), "the range from 1 to 1 is empty"),
        (("--over", "alpha~normal(0, 1)"), "needs the number of draws"),
        (("--over", "alpah=1,2"), "did you mean 'alpha'"),
        (("--over", "alpha=1", "--over", "alpha=2"), "given twice"),
        (
            ("--over", "alpha=1", "--workers", "2", "--scheduler", "tcp://127.0.0.1:9"),
            "give one of them",
        ),
    ],
)
def test_what_cannot_be_a_study_is_refused(over, told):
    ended = run("study", "double-pendulum", *over)
    assert 0 != ended.exit_code
    assert told in " ".join(ended.output.split())


def test_the_map_of_a_study_names_the_sliders_of_its_run(tmp_path):
    path = tmp_path / "study.zarr"
    over = ("--over", "alpha=0.2:2:4", "--over", "m_2=0.5:3:3")
    done = run(
        "study", "double-pendulum", *over, "--keep", "max(beta)", "--for", "1", "-o", str(path)
    )
    assert 0 == done.exit_code, done.output
    run("report", str(path), "-o", str(tmp_path / "study.html"))
    page = (tmp_path / "study.html").read_text(encoding="utf-8")
    assert "Start.alpha" in page
    assert "Constants.m_2" in page
    # a cell for each run, and a panel that can make it again
    assert 12 == page.count('<path fill="#')
    assert 'id="live"' in page
