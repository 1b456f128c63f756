"""A run in a notebook."""

import html
import json

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.interface.page.interactive_panel import InteractiveRequest, interactive_panel


def test_a_run_shows_itself_in_a_frame_over_a_picture():
    s = gallery.build("simple-pendulum")
    shown = s.view(1.0, start={"phi": 1.0}, progress=False)
    text = shown._repr_html_()
    assert text.startswith("<div")
    assert "data:image/svg+xml;base64," in text
    document = html.unescape(text.split('srcdoc="')[1].split('" style')[0])
    assert 'id="trial"' in document
    assert '"name":"phi","value":1.0,"given":true' in document
    assert shown.html == da.simulate(s, 1.0, start={"phi": 1.0}, progress=False).view().html


def test_it_can_be_saved(tmp_path):
    run = da.simulate(gallery.build("simple-pendulum"), 1.0, start={"phi": 1.0}, progress=False)
    assert 'id="module"' in run.view().save(tmp_path / "run.html").read_text(encoding="utf-8")


def test_the_panel_knows_the_units_that_were_given():
    s = da.System("Pendulum")
    m, l, g = s.constants(m="2 kg", l="50 cm", g="9.81 m/s**2")
    s.gravity(-g * s.N.y)
    s.rod("bar", s.pin("theta", s.O), m, l)
    run = da.simulate(s, 0.1, start={"theta": "30 deg"}, progress=False)
    _, blocks = interactive_panel(
        InteractiveRequest(run, 0.1, {"theta": 0.5}, {}, {}, (), "", "Pendulum"), None
    )
    data = json.loads(blocks.partition(">")[2].partition("</script>")[0])
    assert {
        "m": "kg",
        "l": "m",
        "g": "m/s²",
        "theta": "rad",
        "theta.dot": "rad/s",
        "t": "s",
    } == data["units"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["view", "animate"])
def test_an_exported_notebook_keeps_a_working_page(browser, tmp_path, monkeypatch, kind):
    """The display of a cell in a file, as an export writes it: nothing else is needed, and nothing
    is cut off.
    """
    run = da.simulate(gallery.build("simple-pendulum"), 1.0, start={"phi": 1.0}, progress=False)
    monkeypatch.setattr("dalembert.interface.page.run_viewer.in_notebook", lambda: True)
    shown = getattr(run, kind)()
    assert not hasattr(shown, "_repr_mimebundle_")
    file = tmp_path / "notebook.html"
    text = f'<!DOCTYPE html><body data-jp-theme-light="false">{shown._repr_html_()}</body>'
    file.write_text(text, encoding="utf-8")
    page = browser.new_context(viewport={"width": 900, "height": 700}, offline=True).new_page()
    page.goto(file.as_uri())
    inside = page.frame_locator("iframe")
    inside.locator("html[data-ready=yes]").wait_for()
    assert "dark" == inside.locator("html").get_attribute("data-theme")
    if kind == "view":
        inside.locator("#trial[data-ready=yes]").wait_for()
        inside.get_by_label("phi", exact=True).fill("2")
        inside.locator(".status-line", has_text="1 s in").wait_for()
    page.wait_for_function(
        "(f => f.clientHeight >= f.contentDocument.body.scrollHeight)"
        "(document.querySelector('iframe'))"
    )
