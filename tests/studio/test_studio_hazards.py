"""What can go wrong around the studio in Chromium: a sentence says so, and the text stays."""

from __future__ import annotations

import pytest
from test_studio_browser import PENDULUM, SIZE, Typing

pytestmark = pytest.mark.slow


@pytest.fixture
def opened(browser, studio, tmp_path):
    """A file in a studio of its own: the running studio, the file, and its page."""
    file = tmp_path / "one.toml"
    file.write_text(PENDULUM, encoding="utf-8")
    running = studio("one.toml")
    context = browser.new_context(viewport=SIZE, reduced_motion="reduce")
    yield running, file, Typing(context, running.address)
    context.close()


def note(visit):
    return visit.page.locator(".note").inner_text()


def test_a_file_that_changes_on_disk_is_shown(opened):
    _, file, visit = opened
    changed = PENDULUM.replace("60 deg", "50 deg")
    file.write_text(changed, encoding="utf-8")
    visit.do("studio.look()")
    visit.settled()
    assert changed == visit.area.input_value()
    assert "changed on disk: its new text is shown" in note(visit)


def test_a_file_that_changes_under_an_unsaved_text_is_not_overwritten_unasked(opened):
    _, file, visit = opened
    mine = PENDULUM.replace("60 deg", "40 deg")
    visit.give(mine)
    file.write_text("# of somebody else", encoding="utf-8")
    visit.do("studio.look()")
    assert "this text is not saved" in note(visit)
    assert mine == visit.area.input_value()
    asked = []
    visit.page.remove_listener("dialog", visit.accept)
    visit.page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    visit.do("studio.save()")
    assert ["one.toml changed on disk or is there already. Overwrite it?"] == asked
    assert "# of somebody else" == file.read_text(encoding="utf-8")


def test_a_file_that_vanishes_is_written_again_by_save(opened):
    _, file, visit = opened
    file.unlink()
    visit.do("studio.look()")
    assert "is not on disk any more; Save writes it again" in note(visit)
    assert PENDULUM == visit.area.input_value()
    visit.do("studio.save()")
    assert PENDULUM == file.read_text(encoding="utf-8")


def test_a_studio_that_ends_leaves_the_text_in_the_page_and_in_a_file(opened, tmp_path):
    running, _, visit = opened
    mine = PENDULUM.replace("60 deg", "40 deg")
    visit.give(mine)
    running.end()
    visit.do("studio.derive()")
    assert "does not answer" in note(visit)
    assert mine == visit.area.input_value()
    assert mine == (tmp_path / "one.unsaved.toml").read_text(encoding="utf-8")


def test_a_page_that_is_closed_finds_its_text_again(opened, browser):
    running, _, visit = opened
    mine = PENDULUM.replace("60 deg", "40 deg")
    visit.give(mine)
    visit.page.close(run_before_unload=False)
    context = browser.new_context(viewport=SIZE, reduced_motion="reduce")
    again = Typing(context, running.address)
    assert mine == again.area.input_value()
    assert not again.do("document.querySelector('.unsaved').hidden")
    context.close()


def test_ten_megabytes_are_refused_with_a_sentence(opened):
    _, _, visit = opened
    visit.do(
        "(() => { studio.editor.area.value = '# ' + 'x'.repeat(10 * 2 ** 20); "
        "studio.editor.paint(); return studio.derive(); })()"
    )
    assert "MB are more than any model needs" in note(visit)
    visit.give(PENDULUM)
    assert [] == visit.faults
    assert "<math" in visit.do("document.querySelector('.equationtext').innerHTML")


MISSING = {
    "WebGL": "HTMLCanvasElement.prototype.getContext = () => null",
    "WebAssembly": "delete window.WebAssembly",
}


@pytest.mark.parametrize("lacks", MISSING)
def test_a_browser_without_what_it_needs_says_so(browser, shared, lacks):
    context = browser.new_context(viewport=SIZE, reduced_motion="reduce")
    context.add_init_script(MISSING[lacks])
    shared.act("new", kind="pendulum")
    visit = Typing(context, shared.address)
    assert "<math" in visit.do("document.querySelector('.equationtext').innerHTML")
    said = visit.page.locator(".lacking" if lacks == "WebGL" else "#trial .status-line")
    assert lacks in said.inner_text()
    assert [] == visit.said
    context.close()
