"""What is seen first, what is judged, what is taken by hand: the page in Chromium."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from test_trial import Tried

import dalembert as da
from conftest import studied
from dalembert import gallery
from dalembert.interface.page.public_path import public_path
from dalembert.interface.page.report_page import render_page

WINDOWS = {"desktop": (1280, 900), "phone": (390, 844)}
TEN = (
    "rolling-disk",
    "double-pendulum",
    "four-bar",
    "andrews-squeezer",
    "whipple-bicycle",
    "lagrange-top",
    "hoist",
    "flexible-pendulum",
    "snakeboard",
    "free-body",
)
# the lowest edge of the scene, of Play and of the first three fields
EDGES = """[document.querySelector('#player canvas'), document.querySelector('#player .play'),
  ...[...document.querySelectorAll('.knob input[type=text]')].slice(0, 3)]
  .map((e) => e.getBoundingClientRect().bottom)"""
# names that are shown and lie on one another
OVERLAPS = """(() => {
  const shown = [...document.querySelectorAll('.labels span')].filter((s) => !s.hidden);
  const boxes = shown.map((s) => s.getBoundingClientRect());
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
    && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  return boxes.flatMap((a, k) => boxes.slice(k + 1).filter((b) => meet(a, b))).length;
})()"""


def on_the_first_screen(browser, file, *, scheme="light"):
    for width, height in WINDOWS.values():
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            offline=True,
            reduced_motion="reduce",
        )
        visit = Tried(context, file)
        assert max(visit.do(EDGES)) <= height
        visit.page.locator("#player .view summary").click()
        visit.page.locator("[data-show=labels]").check()
        visit.painted()
        assert 0 == visit.do(OVERLAPS)
        assert [] == visit.said
        context.close()


def test_scene_play_and_sliders_are_on_the_first_screen(browser, disk_file):
    on_the_first_screen(browser, disk_file)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", TEN)
def test_ten_pages_begin_with_the_scene(browser, tmp_path, name, scheme):
    file = tmp_path / "page.html"
    file.write_text(render_page(studied(name)), encoding="utf-8")
    on_the_first_screen(browser, file, scheme=scheme)


@pytest.fixture
def tried(browser, tmp_path):
    """The page of a run by itself."""
    context = browser.new_context(
        viewport={"width": 1280, "height": 900}, offline=True, reduced_motion="reduce"
    )

    def open_page(name, **options):
        entry = gallery.entry(name)
        run = da.simulate(
            entry.build(), options.pop("duration", 1.0), start=dict(entry.start), progress=False
        )
        return Tried(context, run.view().save(tmp_path / "run.html"))

    yield open_page
    context.close()


def test_a_wrong_run_is_flagged(tried):
    """The crank passes dead points with l₂ = 0.3; Python warns of the same run."""
    visit = tried("four-bar")
    visit.give("theta_1", "0.9")
    visit.settled()
    assert "good" == visit.do("trial.root.dataset.judged")
    visit.give("duration", "3")
    visit.give("l_2", "0.3")
    visit.settled()
    assert "bad" == visit.do("trial.root.dataset.judged")
    said = visit.page.locator("#trial .status-line")
    assert "the speeds are singular close to that position" in said.inner_text()
    assert "fails" in said.get_attribute("class")
    assert [] == visit.said


@pytest.mark.slow
def test_a_run_that_loses_energy_is_flagged(tried):
    visit = tried("double-pendulum")
    visit.give("tolerance", "0.01")
    visit.give("alpha", "2.5")
    visit.settled()
    said = visit.page.locator("#trial .status-line")
    assert "energy error" in said.inner_text()
    assert "give a smaller tolerance" in said.inner_text()
    assert "fails" in said.get_attribute("class")
    # in the colour of a fault
    assert visit.do(
        "getComputedStyle(document.querySelector('.status-line')).color === "
        "(() => { const p = document.createElement('p'); p.style.color = 'var(--bad)';"
        " document.body.append(p); return getComputedStyle(p).color; })()"
    )


@pytest.mark.slow
def test_fields_take_numbers_as_people_write_them(tried):
    visit = tried("double-pendulum")
    for text, value in (
        ("pi/2", 1.5707963267948966),
        ("90 deg", 1.5707963267948966),
        ("1/3", 1 / 3),
        ("-2e-1", -0.2),
    ):
        visit.give("alpha", text)
        visit.settled()
        assert value == visit.do("trial.values('q:0').v[0]")
    visit.give("alpha", "3 kg +")
    visit.until("[...document.querySelectorAll('.fault')].some(p => p.textContent)")
    assert [] == visit.said


@pytest.mark.slow
def test_sliders_have_useful_ranges(tried):
    visit = tried("double-pendulum")
    found = {
        name: (form, low, high)
        for name, form, low, high in visit.do(
            "trial.knobs.map(k => [k.name, k.form, +k.slider.min, +k.slider.max])"
        )
    }
    assert ("angle", -3.141592653589793, 3.141592653589793) == found["alpha"]
    assert ("positive", -1, 1) == found["m_1"]
    visit.give("alpha", "1")
    visit.give("m_1", "5")
    visit.page.get_by_role("button", name="Reset m_1").click()
    visit.settled()
    assert "1" == visit.field("m_1").input_value()


@pytest.mark.slow
def test_a_short_run_plays_in_about_eight_seconds(tried):
    visit = tried("andrews-squeezer", duration=0.03)
    assert 5 <= visit.do("(clock.last - clock.first) / clock.speed") <= 12
    visit.do("clock.speed = 1")
    assert 1 == visit.do("clock.speed")


def body_on_screen(visit):
    """Where the last body is on the screen."""
    box = visit.page.locator("#player canvas").bounding_box()
    x, y = visit.do(
        "(() => { const p = stage.at(stage.bodies.at(-1).r), m = stage.eye.camera, k = "
        "m[3]*p[0]+m[7]*p[1]+m[11]*p[2]+m[15];"
        " return [(m[0]*p[0]+m[4]*p[1]+m[8]*p[2]+m[12])/k, "
        "(m[1]*p[0]+m[5]*p[1]+m[9]*p[2]+m[13])/k]; })()"
    )
    return box["x"] + (x + 1) / 2 * box["width"], box["y"] + (1 - y) / 2 * box["height"]


def drag(visit, right, down):
    """Take the last body and pull it; the largest constraint residual of all positions on the
    way.
    """
    visit.until("stage.eye")
    left, top = body_on_screen(visit)
    visit.page.mouse.move(left, top)
    visit.page.mouse.down()
    for k in range(1, 9):
        visit.page.mouse.move(left + right * k / 8, top + down * k / 8)
    visit.until("trial.drag.history.length > 1 && !trial.drag.pending")
    visit.page.mouse.up()
    visit.settled()
    return visit.do("trial.drag.worst")


@pytest.mark.each_time(1)
@pytest.mark.parametrize("name", ["double-pendulum", "four-bar", "rolling-disk"])
def test_a_body_is_dragged_and_the_run_starts_there(tried, name):
    visit = tried(name)
    before = visit.do(
        "Array.from({length: trial.data.n_q}, (_, k) => trial.positions(clock.first)[k])"
    )
    assert drag(visit, 60, -30) <= 1e-10
    after = visit.do("Array.from({length: trial.data.n_q}, (_, k) => trial.values(`q:${k}`).v[0])")
    assert max(abs(a - b) for a, b in zip(before, after, strict=True)) > 1e-3
    assert "good" == visit.do("trial.root.dataset.judged")
    assert [] == visit.said


def test_paths_of_the_author_are_not_printed():
    assert "panda.urdf" == public_path("/home/somebody/robots/panda.urdf")
    assert "panda.urdf" == public_path("~/panda.urdf")
    assert "file.py:arm" == public_path("/home/somebody/file.py:arm")
    assert "arm.toml" == public_path(r"C:\Users\somebody\arm.toml")
    assert "models/arm.toml" == public_path("models/arm.toml")
    assert "rolling-disk" == public_path("rolling-disk")


@pytest.mark.slow
def test_a_moving_body_is_pulled_and_released(tried):
    """The spring to the pointer does work, which is in the energy of the motion that follows."""
    visit = tried("double-pendulum")
    visit.page.get_by_role("button", name="Play").click()
    visit.until("clock.time > 0.05 && stage.eye")
    left, top = body_on_screen(visit)
    visit.page.mouse.move(left, top)
    visit.page.mouse.down()
    visit.page.mouse.move(left + 60, top - 40)
    visit.until("trial.drag.history.length > 3")
    assert visit.do("stage.tether !== null")
    visit.page.mouse.up()
    visit.settled()
    assert visit.do("trial.drag.worst") <= 1e-10
    assert visit.do("Math.abs(trial.result.frames.hand.at(-1))") > 1e-6
    assert "good" == visit.do("trial.root.dataset.judged")
    assert "work of the pointer" in visit.page.locator(".status-line").inner_text()
    assert visit.do("clock.playing && stage.tether === null")
    assert [] == visit.said
