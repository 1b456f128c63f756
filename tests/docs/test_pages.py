"""Every piece of code in the documentation runs, and what is to be refused is refused."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import dalembert as da
from dalembert.interface.report.bibliography import REFERENCES

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(
    p for p in DOCS.rglob("*.md") if "_build" not in p.parts and p.parent.name != "decisions"
)
sys.path.insert(0, str(DOCS))

import running  # noqa: E402 - the folder of the pages is no package
from formulas import typeset  # noqa: E402
from measured import with_measurements  # noqa: E402
from thumbnails import card  # noqa: E402


def names(pages=PAGES):
    return {page: page.read_text(encoding="utf-8") for page in pages}


@pytest.mark.each_time(45)
@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(DOCS)))
def test_the_code_of_the_page_runs(page):
    text = page.read_text(encoding="utf-8")
    shown = running.run_page(text, page.name)
    assert text.count("```python") + text.count("```console") == shown.count(
        "```python\n"
    ) + shown.count("```console\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(DOCS)))
def test_the_formulas_of_the_page_can_be_typeset(page):
    text = re.sub(
        r"^```.*?^```$|`[^`\n]+`",
        "",
        page.read_text(encoding="utf-8"),
        flags=re.DOTALL | re.MULTILINE,
    )
    for formula in re.findall(r"\$\$(.+?)\$\$|\$([^$]+)\$", text, flags=re.DOTALL):
        assert "<math" in typeset("".join(formula))


def test_every_page_is_in_a_table_of_contents():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    assert not [
        p
        for p in PAGES
        if p.name != "index.md" and str(p.relative_to(DOCS).with_suffix("")) not in index
    ]


def test_every_public_name_is_in_the_reference_once():
    reference = "\n".join(names(p for p in PAGES if p.parent.name == "reference").values())
    listed = re.findall(r"^\.\. auto\w+:: dalembert\.(\w+)$", reference, flags=re.MULTILINE)
    assert sorted(da.__all__) == sorted(listed)


def test_every_public_name_says_what_it_is():
    assert not [name for name in da.__all__ if not (getattr(da, name).__doc__ or "").strip()]


def test_every_principle_has_a_page():
    from dalembert.mechanics.agreement.principle_registry import PRINCIPLES

    pages = {page.stem for page in PAGES if page.parent.name == "principles"}
    assert {principle.name for principle, _ in PRINCIPLES} <= pages


def test_every_key_that_is_cited_is_known():
    cited = {
        key for text in names().values() for key in re.findall(r"\b[A-Z][A-Za-z]{1,3}\d{2}\b", text)
    }
    assert "Bar00" in cited
    assert not cited - set(REFERENCES)


def test_every_exercise_has_an_answer_that_is_checked():
    for page, text in names(p for p in PAGES if p.parent.name == "tutorial").items():
        answers = re.findall(r"^<details>.*?^</details>$", text, flags=re.DOTALL | re.MULTILINE)
        assert len(re.findall(r"^\*\*\d\.\*\* ", text, flags=re.MULTILINE)) == len(answers) > 1, (
            page.name
        )
        assert all("\nassert " in answer for answer in answers), page.name


def test_what_a_page_quotes_was_measured():
    shown = with_measurements((DOCS / "comparison.md").read_text(encoding="utf-8"))
    assert "<!-- measured" not in shown
    with pytest.raises(LookupError, match="no such thing"):
        with_measurements("<!-- measured\nno such thing\n-->")


def test_a_card_of_the_gallery_links_a_live_page_or_a_report_that_is_there(tmp_path):
    shown = card("simple-pendulum", tmp_path)
    assert "<svg" in shown
    assert 'href="../gallery/simple-pendulum-live.html"' in shown
    assert 'id="live"' in (tmp_path / "simple-pendulum-live.html").read_text(encoding="utf-8")
    (tmp_path / "simple-pendulum.html").touch()
    assert 'href="../gallery/simple-pendulum.html"' in card("simple-pendulum", tmp_path)


def test_code_that_fails_is_not_passed_over():
    with pytest.raises(ZeroDivisionError):
        running.run_page("```python\n1 / 0\n```", "page")
    with pytest.raises(AssertionError, match="was to be refused"):
        running.run_page("```python refused\n1 + 1\n```", "page")
    with pytest.raises(AssertionError, match="ended with 2"):
        running.run_page("```console\n$ dalembert derive no-such-system\n```", "page")


def test_what_is_printed_stands_below():
    assert "{code-block} text\n:class: output wrapped\n4\n``````" in running.run_page(
        "```python\nx = 2\nprint(2 * x)\n```", "page"
    )


def test_a_written_document_stands_below():
    shown = running.run_page(
        "```console\n$ dalembert derive simple-pendulum -o here.html\n```", "page"
    )
    assert "<math" in shown
    assert "<body>" not in shown
    assert str(Path.cwd()) not in shown


PICTURE = re.compile(r"^<!-- (?:sketch|live|bars): |!\[[^\n]*\]\(|^<!-- cards -->", re.MULTILINE)
# a value that is shown below its block
PLOT = re.compile(r"\.plot\([^\n]*\)\n```$", re.MULTILINE)
TASKS = ("howto", "tutorial")
GUIDES = ("index.md", "asked-elsewhere.md", "benchmarks.md", "gallery.md")


def with_picture(pages):
    return [p for p, text in names(pages).items() if PICTURE.search(text) or PLOT.search(text)]


def test_pages_show_something():
    """Counts that may only grow: how-to pages and tutorials, and all user pages."""
    tasks = [p for p in PAGES if p.parent.name in TASKS]
    users = [p for p in PAGES if p.parent.name in (*TASKS, "principles") or p.name in GUIDES]
    assert 41 <= len(with_picture(tasks)), sorted(set(tasks) - set(with_picture(tasks)))
    assert 59 <= len(with_picture(users)), sorted(set(users) - set(with_picture(users)))


def test_every_sketch_is_of_a_system_of_the_gallery():
    from scenes import MARK

    from dalembert import gallery

    drawn = {match["name"] for text in names().values() for match in MARK.finditer(text)}
    assert len(drawn) > 15
    assert set() == drawn - set(gallery.names())


def test_a_sketch_and_a_live_scene_are_made(tmp_path):
    from scenes import with_scenes

    shown = with_scenes(
        "<!-- sketch: simple-pendulum -->\n\n<!-- live: simple-pendulum -->", "howto/page", tmp_path
    )
    assert '<figure class="sketch"><svg' in shown
    assert 'src="../scenes/simple-pendulum.html"' in shown
    assert "<canvas" in (tmp_path / "scenes/simple-pendulum.html").read_text(encoding="utf-8")


def test_bars_are_drawn_from_the_measurements():
    from charts import seconds, with_charts

    shown = with_charts("<!-- bars: Test\nchain 7, native loop\n-->")
    assert shown.count('<rect class="ours"') >= 1
    assert shown.count('<rect class="theirs"') >= 2
    assert "Pinocchio" in shown
    assert 3.7e-7 == pytest.approx(seconds("0.37 µs"))
    assert seconds("fails at 1e-06") is None


# they need packages of the extra `export`; tests/exports runs them
SHOWN_ONLY = {"to_jax", "to_casadi"}


def test_every_public_function_has_an_example_that_runs():
    import inspect

    functions = {name for name in da.__all__ if inspect.isroutine(getattr(da, name))}
    reference = "\n".join(names(p for p in PAGES if p.parent.name == "reference").values())
    below = re.findall(
        r"^\.\. autofunction:: dalembert\.(\w+)\n```\n\n```python\n(.*?)^```",
        reference,
        re.DOTALL | re.MULTILINE,
    )
    shown = {name for name, code in below if f"da.{name}(" in code}
    assert len(functions) > 80
    assert functions - SHOWN_ONLY == shown


def public_functions():
    import inspect

    return {n: getattr(da, n) for n in da.__all__ if inspect.isroutine(getattr(da, n))}


def test_every_parameter_result_and_exception_is_described():
    from reference_fields import exceptions, fields

    for name, function in public_functions().items():
        lines = list(fields(function))
        assert any(line.startswith(":returns: ") for line in lines), name
        assert any(line.startswith(":raises ") for line in lines), name
        for exception in exceptions(name):
            assert issubclass(getattr(da, exception), da.DalembertError)


def test_an_undescribed_parameter_is_noticed():
    from reference_fields import undescribed

    with pytest.raises(KeyError, match="unheard_of"):
        undescribed(lambda unheard_of: None, "nothing about it")


def test_every_function_of_the_table_of_exceptions_is_public():
    from reference_fields import PARTICULAR, RAISED_BY

    named = {n for names in RAISED_BY.values() for n in names.split()} | {n for n, _ in PARTICULAR}
    assert set() == named - set(public_functions())


def test_headings_regions_and_code_are_made_accessible():
    from accessible import accessible

    page = (
        '<aside class="sidebar-drawer"><p role="heading">x</p></aside><aside class="toc-drawer '
        'no-toc"></aside><pre>wide</pre>'
    )
    shown = accessible(page)
    assert 'role="heading" aria-level="2"' in shown
    assert 2 == shown.count("aria-label=")
    assert '<pre tabindex="0">' in shown
    table = '<div class="table-wrapper docutils"><th class="head"><p></p></th><h3>Cart</h3></div>'
    assert (
        '<div class="table-wrapper docutils" tabindex="0"><td class="head"></td>'
        "<p><strong>Cart</strong></p></div>" == accessible(table)
    )
    assert "<h3>1. Description</h3>" == accessible("<h3>1. Description</h3>")
    search = '<article role="main" id="furo-main-content">'
    assert f"{search}<h1>Search</h1>" == accessible(search)


def test_every_picture_and_column_has_words():
    for page, text in names().items():
        assert "![](" not in text, page
        assert not re.search(
            r"^\|(?:[^|\n]*\|)* *\|\n\|[-:| ]+\|$",
            re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE),
            re.MULTILINE,
        ), page
