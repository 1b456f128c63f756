"""The studio in Chromium: typed, completed, clicked; every wait is for a condition."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from dalembert import gallery
from dalembert.exchange.modelfile.templates import TEMPLATES

SIZE = {"width": 1280, "height": 900}
PENDULUM = TEMPLATES["pendulum"]


def memory(pid):
    """Resident megabytes of a process."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def family(pid):
    """A process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return [pid, *map(int, children)]


class Typing:
    """A page of the studio with everything that its console said."""

    def __init__(self, context, address):
        self.page, self.said = context.new_page(), []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda problem: self.said.append(str(problem)))
        self.page.on("dialog", self.accept)
        self.page.goto(address)
        self.page.wait_for_selector("html[data-studio=ready]", timeout=60_000)
        self.area = self.page.get_by_label("Model text")
        self.settled()

    def accept(self, dialog):
        dialog.accept()

    def do(self, script):
        return self.page.evaluate(script)

    def until(self, condition):
        # held by the window: a promise that nothing refers to may be collected
        self.do(
            f"window.waited = new Promise(done => {{ const look = () => ({condition}) ? done() : "
            f"setTimeout(look, 20); look(); }})"
        )

    def settled(self):
        """The newest text is answered."""
        self.until("studio.count > 0 && studio.shown === studio.count && !studio.waiting")

    def give(self, text):
        """Another text as a whole."""
        self.area.fill(text)
        self.settled()

    @property
    def faults(self):
        return self.page.locator(".faultlist li").all_inner_texts()

    @property
    def equations(self):
        return self.page.locator(".equationtext").inner_text()


@pytest.fixture
def visit(browser, shared):
    context = browser.new_context(viewport=SIZE, reduced_motion="reduce")
    shared.act("new", kind="pendulum")
    yield Typing(context, shared.address)
    context.close()


def test_a_model_that_is_typed_shows_what_its_file_shows(visit, shared):
    expected = visit.equations
    shown = visit.do("stage.t.length")
    visit.area.fill("")
    visit.area.press_sequentially(PENDULUM)
    visit.settled()
    assert [] == visit.faults
    assert PENDULUM == visit.area.input_value()
    assert expected == visit.equations
    assert shown == visit.do("stage.t.length")
    assert "11 principles agree exactly" in visit.page.locator(".facts").inner_text()
    assert [] == visit.said


def test_a_fault_is_marked_and_the_last_motion_stays(visit):
    before = visit.equations
    visit.give(PENDULUM.replace('mass = "m"', 'mass = "mm"'))
    assert 1 == len(visit.faults)
    assert visit.faults[0].startswith("7:")
    box = visit.page.locator(".marks i").bounding_box()
    # the mark lies on the seventh line, at the word
    area = visit.area.bounding_box()
    assert box["y"] == pytest.approx(area["y"] + 8 + 6 * 20, abs=1)
    assert "The last motion that was possible is shown." in visit.page.locator(".note").inner_text()
    assert before == visit.equations
    assert visit.do("stage !== null")
    visit.give(PENDULUM)
    assert [] == visit.faults
    assert [] == visit.said


@pytest.mark.slow
def test_keys_and_names_are_completed(visit):
    visit.give(f"{PENDULUM}\n[particle.ball]\n")
    visit.area.focus()
    visit.page.keyboard.press("Control+End")
    visit.page.keyboard.type("ma")
    assert "mass" in visit.page.locator(".completions li").first.inner_text()
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.type(' = "m"\nat = "the')
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.type('"\n')
    assert visit.area.input_value().endswith('[particle.ball]\nmass = "m"\nat = "theta"\n')
    visit.settled()
    assert [] == visit.faults
    assert [] == visit.said


@pytest.mark.slow
def test_the_menu_inserts_an_element(visit):
    visit.area.focus()
    visit.page.keyboard.press("Control+End")
    visit.page.locator(".insert").select_option("particle")
    assert "[particle.p1]" in visit.area.input_value()
    visit.page.keyboard.press("Control+z")
    assert "[particle.p1]" not in visit.area.input_value()
    assert [] == visit.said


@pytest.mark.slow
def test_words_are_explained(visit):
    line = PENDULUM.split("\n").index(
        next(x for x in PENDULUM.split("\n") if x.startswith("rod.bar"))
    )
    area = visit.area.bounding_box()
    width = visit.do("studio.editor.width")
    visit.page.mouse.move(area["x"] + 8 + 1.5 * width, area["y"] + 8 + 20 * line + 10)
    hint = visit.page.locator(".hint")
    assert "rod: A thin uniform rod" in hint.inner_text()


@pytest.mark.slow
def test_a_click_on_a_body_marks_its_lines(visit):
    visit.until("stage && stage.eye")
    canvas = visit.page.locator("#player canvas").bounding_box()
    x, y = visit.do(
        "(() => { const p = stage.at(stage.bodies[0].r), m = stage.eye.camera, k = "
        "m[3]*p[0]+m[7]*p[1]+m[11]*p[2]+m[15];"
        " return [(m[0]*p[0]+m[4]*p[1]+m[8]*p[2]+m[12])/k, "
        "(m[1]*p[0]+m[5]*p[1]+m[9]*p[2]+m[13])/k]; })()"
    )
    visit.page.mouse.click(
        canvas["x"] + (x + 1) / 2 * canvas["width"], canvas["y"] + (1 - y) / 2 * canvas["height"]
    )
    assert [7, 7] == visit.do("studio.editor.chosen")
    assert [] == visit.said


@pytest.mark.slow
def test_sliders_run_the_typed_model(visit):
    visit.page.wait_for_selector("#trial[data-ready=yes]")
    visit.page.get_by_label("theta", exact=True).fill("0.5")
    visit.until("trial.shown === trial.id && trial.id > 0")
    assert 0.5 == pytest.approx(visit.do("trial.values('q:0').v[0]"))
    assert [] == visit.said


HOSTILE = """<img src=x onerror=window.pwned=1></script><script>window.pwned=1</script>"""


@pytest.mark.slow
def test_hostile_names_stay_names(visit):
    text = PENDULUM.replace('"Pendulum"', f'"{HOSTILE}"').replace("rod.bar", f"rod.'{HOSTILE}'")
    visit.give(text)
    visit.give(text.replace('mass = "m"', f"mass = '{HOSTILE}'"))
    assert 1 == len(visit.faults)
    assert visit.do("window.pwned === undefined && document.querySelectorAll('img').length === 0")
    assert [] == visit.said


@pytest.mark.slow
def test_other_themes_and_phones(browser, shared):
    for scheme, width, height in (("dark", 1280, 900), ("light", 390, 844)):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme
        )
        visit = Typing(context, shared.address)
        assert visit.do("document.documentElement.scrollWidth <= innerWidth")
        assert [] == visit.said
        context.close()


# key by key; after every eighth line the text is answered before the next key
TYPE = """async (text) => {
  const area = document.querySelector("textarea");
  let lines = 0;
  for (const c of text) {
    area.setRangeText(c, area.value.length, area.value.length, "end");
    area.dispatchEvent(new Event("input"));
    if (c === "\\n" && ++lines % 8 === 0) await new Promise((done) => setTimeout(done, 200));
  }
}"""


@pytest.mark.slow
@pytest.mark.parametrize("name", gallery.names())
def test_every_gallery_model_is_typed_key_by_key(browser, shared, name):
    _, found = shared.act("new", kind=name)
    text = found["document"]["text"]
    context = browser.new_context(viewport=SIZE, reduced_motion="reduce")
    visit = Typing(context, shared.address)
    expected, scene = visit.equations, visit.do("document.querySelector('#scene')?.textContent")
    visit.area.fill("")
    visit.page.evaluate(TYPE, text)
    visit.settled()
    assert [] == visit.faults
    assert text == visit.area.input_value()
    assert expected == visit.equations
    assert scene == visit.do("document.querySelector('#scene')?.textContent")
    assert [] == visit.said
    context.close()


@pytest.mark.slow
def test_a_thousand_random_edits_leave_the_memory_flat(browser, shared):
    """Half of the edits break the text; the server and its worker live on, and neither grows nor
    does the page.
    """
    draw = random.Random(3)
    context = browser.new_context(viewport=SIZE, reduced_motion="reduce")
    shared.act("new", kind="pendulum")
    visit = Typing(context, shared.address)
    session = context.new_cdp_session(visit.page)
    sizes = []
    for k in range(1000):
        at, cut = (
            draw.randrange(len(PENDULUM)),
            draw.choice(["", "x", '"', "[", "}", "=", "1", "theta"]),
        )
        visit.area.fill(
            PENDULUM if k % 2 else PENDULUM[:at] + cut + PENDULUM[at + draw.randrange(4) :]
        )
        visit.do("studio.derive()")
        visit.settled()
        if k % 200 == 199:
            session.send("HeapProfiler.collectGarbage")
            heap = visit.do("performance.memory.usedJSHeapSize") / 2**20
            sizes.append((*(memory(pid) for pid in family(shared.process.pid)), heap))
    assert shared.process.poll() is None
    for first, last in zip(sizes[1], sizes[-1], strict=True):
        assert last <= 1.15 * first + 10
    assert [] == visit.said
    context.close()
