"""A run in a notebook."""

import base64
import html
import json

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.interface.page.parts.reproduce import InteractiveRequest, interactive_panel


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


# what a notebook does with a widget: it imports its module and hands it a model and a place
NOTEBOOK = """<!DOCTYPE html><body data-jp-theme-light="false"><div id="cell"></div>
  <script type="module">
const state = STATE, url = URL.createObjectURL(new Blob([state._esm], { type: "text/javascript" }));
const widget = (await import(url)).default,
  model = { get: (name) => state[name], on() {}, off() {} };
window.gone = widget.render({ model, el: document.getElementById("cell") });
</script>"""


def test_a_widget_lives_without_a_kernel(browser, tmp_path):
    pytest.importorskip(
        "anywidget", reason="the widget needs anywidget: pip install dalembert[notebook]"
    )
    shown = gallery.build("simple-pendulum").view(1.0, start={"phi": 1.0}, progress=False)
    bundle = shown._repr_mimebundle_()
    assert {
        "application/vnd.jupyter.widget-view+json",
        "text/html",
        "image/png",
        "text/plain",
    } <= set(bundle)
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    state = {name: shown._widget.get_state()[name] for name in ("_esm", "html", "title")}
    file = tmp_path / "notebook.html"
    file.write_text(
        NOTEBOOK.replace("STATE", json.dumps(state).replace("<", "\\u003c")), encoding="utf-8"
    )
    page = browser.new_context(viewport={"width": 900, "height": 700}, offline=True).new_page()
    page.goto(file.as_uri())
    page.wait_for_selector("iframe")
    inside = page.frame_locator("iframe")
    inside.locator("#trial[data-ready=yes]").wait_for()
    assert "dark" == inside.locator("html").get_attribute("data-theme")
    inside.get_by_label("phi", exact=True).fill("2")
    inside.locator(".status-line", has_text="1 s in").wait_for()
    # as high as what it holds, and gone when the notebook says so
    assert (
        page.evaluate(
            "(f => f.clientHeight - "
            "f.contentDocument.body.scrollHeight)(document.querySelector('iframe'))"
        )
        >= 0
    )
    assert 0 == page.evaluate("gone(), document.querySelectorAll('iframe').length")


def test_without_anywidget_the_frame_is_shown(monkeypatch):
    monkeypatch.setattr("dalembert.interface.page.run_viewer._widget_class", lambda: None)
    shown = gallery.build("simple-pendulum").view(1.0, start={"phi": 1.0}, progress=False)
    assert {} == shown._repr_mimebundle_()
