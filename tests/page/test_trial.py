"""The panel "Try it" in a real browser: every wait is for a condition."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from browsing import Visit, executable, flags

sync_api = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright: pip install playwright")
pytestmark = pytest.mark.skipif(executable() is None, reason="the browser tests need Chromium: apt-get install chromium")

SIZE = {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=executable(), args=flags())
        yield found
        found.close()


@pytest.fixture(scope="module")
def file(disk_page, tmp_path_factory):
    path = tmp_path_factory.mktemp("trial") / "disk.html"
    path.write_text(disk_page, encoding="utf-8")
    return path


class Tried(Visit):
    """A page whose panel is ready."""

    def __init__(self, context, file, *, ready=True):
        super().__init__(context, file)
        if ready:
            self.page.wait_for_selector("#trial[data-ready=yes]")

    def field(self, name):
        return self.page.get_by_label(name, exact=True)

    def settled(self):
        self.until("trial.shown === trial.id && trial.id > 0")

    def give(self, name, text):
        self.field(name).fill(text)

    def faults(self):
        return [text for text in self.page.locator(".fault").all_inner_texts() if text]


@pytest.fixture
def visit(browser, file):
    context = browser.new_context(viewport=SIZE, offline=True, reduced_motion="reduce")
    yield Tried(context, file)
    context.close()


def test_another_start_moves_as_python_does_and_the_address_keeps_it(visit, disk, browser):
    import dalembert as da

    visit.give("theta", "1.0")
    visit.give("m", "2")
    visit.settled()
    run = da.simulate(disk.system, 4.0, start={"theta": 1.0, "psi.dot": 6.0}, values={"m": 2.0}, progress=False)
    t, x = visit.do("(() => { const f = trial.values('q:0'); return [Array.from(f.t), Array.from(f.v)]; })()")
    assert run.at(np.array(t))["x"] == pytest.approx(np.array(x), abs=1e-8)
    # scene and plots follow, the recorded run stays beside them
    assert visit.do("stage.ghost !== null && stage.t.length === trial.result.frames.t.length")
    assert 1 == visit.page.locator("#group-0 .plot").first.locator(".curve.pale").count()
    assert "in" in visit.page.locator(".said").inner_text()
    assert "#try?Start.theta=1&Constants.m=2" == visit.do("location.hash")
    again = visit.page.context.new_page()
    again.goto(visit.page.url)
    again.wait_for_selector("#trial[data-ready=yes]")
    assert "1" == again.get_by_label("theta", exact=True).input_value()
    again.close()
    visit.page.get_by_role("button", name="Back to the recorded run").click()
    visit.settled()
    assert visit.do("stage.ghost === null && trial.result === null")
    assert "" == visit.do("location.hash")
    assert [] == visit.said


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("m", "0", "a mass must be positive"),
        ("m", "-1", "a mass must be positive"),
        ("theta", "up", "“up” is not a number"),
        ("theta", "", "is not a number"),
        ("theta", "NaN", "is not a number"),
        ("theta", "1e999", "must be a finite number"),
        ("duration", "1e9", "a page follows at most 400 s"),
        ("duration", "-1", "a run goes forward in time"),
        ("tolerance", "5", "give a tolerance between"),
    ],
)
def test_nonsense_gets_a_sentence_and_the_last_run_stays(visit, name, text, sentence):
    visit.give("psi.dot", "5")
    visit.settled()
    before = visit.do("trial.result.count")
    visit.give(name, text)
    visit.until("[...document.querySelectorAll('.fault')].some(p => p.textContent)")
    assert sentence in visit.faults()[0]
    assert before == visit.do("trial.result.count")
    assert "true" == visit.field(name).get_attribute("aria-invalid")
    assert [] == visit.said


def test_the_keyboard_suffices(visit):
    slider = visit.page.get_by_role("slider", name="theta, slider")
    slider.focus()
    visit.page.keyboard.press("ArrowRight")
    visit.settled()
    assert visit.do("trial.result !== null")
    assert [] == visit.said


def test_python_and_csv_of_this_run(visit, disk):
    visit.give("theta", "1")
    visit.settled()
    text = visit.do("trial.python()")
    assert 's = gallery.build(\'rolling-disk\')\nrun = da.simulate(s, 4, start={"theta": 1, "psi.dot": 6}, rtol=1e-9, atol=1e-9)' in text
    with visit.page.expect_download() as download:
        visit.page.get_by_role("button", name="Download this run as CSV").click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert ["t", *disk.run.names] == lines[0].split(",")
    assert [0.0, 0.0, 0.0, 0.0, 1.0] == [float(x) for x in lines[1].split(",")[:5]]


def test_one_over_another(visit):
    across, up = (visit.page.get_by_label(f"Quantity {way}") for way in ("across", "up"))
    across.select_option(label="θ")
    up.select_option(index=1)
    assert visit.do("document.querySelectorAll('#phase .curve').length") == 1
    visit.give("theta", "1")
    visit.settled()
    assert visit.do("document.querySelectorAll('#phase .curve').length") == 2


@pytest.mark.parametrize("missing", ["WebAssembly", "Worker"])
def test_what_a_browser_lacks_is_said(browser, file, missing):
    context = browser.new_context(viewport=SIZE, offline=True)
    context.add_init_script(f"delete window.{missing}; window.{missing} = undefined;")
    visit = Tried(context, file, ready=False)
    assert {"WebAssembly": "WebAssembly", "Worker": "workers"}[missing] in visit.page.locator("#trial .said").inner_text()
    assert "the recorded run is shown" in visit.page.locator("#trial .said").inner_text()
    assert [] == visit.said
    context.close()


def test_the_module_is_small(disk_page):
    code = disk_page.split('id="module">')[1].split("</script>")[0]
    live = disk_page.split('id="live">')[1].split("</script>")[0]
    assert len(code) + len(json.dumps(live)) < 60_000
