"""A run in a notebook."""

import html

import dalembert as da
from dalembert import gallery


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
