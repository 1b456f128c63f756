"""view: the page in the browser."""

import webbrowser

import pytest

from cli.running import run


@pytest.fixture
def shown(monkeypatch, tmp_path):
    pages = []
    monkeypatch.setattr(webbrowser, "open", lambda uri: pages.append(uri) or len(pages) < 2)
    monkeypatch.chdir(tmp_path)
    return pages


def test_the_page_is_opened_and_lies_in_the_cache_folder(shown, tmp_path, monkeypatch):
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "cache"))
    result = run("view", "simple-pendulum", "--for", "1")
    assert 0 == result.exit_code
    page = tmp_path / "cache" / "pages" / "simple-pendulum.html"
    assert [page.as_uri()] == shown
    assert 'id="module"' in page.read_text(encoding="utf-8")
    # without a browser it is said what to do
    result = run("report", "simple-pendulum", "--for", "1", "--open")
    assert "no browser was found here: open that file in one" in result.stdout


def test_a_text_cannot_be_opened(shown):
    result = run("report", "simple-pendulum", "--text", "--open")
    assert 0 != result.exit_code
    assert "--open go with the page" in result.stderr
    assert [] == shown
