"""axe-core on ten pages, light and dark: no serious, critical or moderate finding.

axe-core comes from npm into a temporary directory; without npm the tests are skipped.
"""

from __future__ import annotations

import shutil
import subprocess

import pytest
from browsing import Visit
from test_first_screen import TEN

from conftest import studied
from dalembert.interface.page.report_page import render_page

pytestmark = pytest.mark.slow
GRAVE = ("critical", "serious", "moderate")
# formulas have the colours of their paragraphs, and a page may hold fifty thousand letters
RUN = """axe.run({ exclude: [["math"]] }, { resultTypes: ["violations"] }).then((r) =>
  r.violations.map((v) => [v.impact, v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120))]))
"""


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("the accessibility tests need npm: apt-get install npm")
    folder = tmp_path_factory.mktemp("axe")
    done = subprocess.run(
        [npm, "install", "--prefix", str(folder), "axe-core"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if done.returncode or not script.exists():
        pytest.skip(f"axe-core cannot be installed by npm: {done.stderr[-200:]}")
    return script.read_text(encoding="utf-8")


def findings(browser, file, axe, scheme):
    context = browser.new_context(
        viewport={"width": 1280, "height": 900},
        color_scheme=scheme,
        reduced_motion="reduce",
        bypass_csp=True,
    )
    visit = Visit(context, file)
    visit.page.wait_for_selector("html.settled")
    # regions that scroll become focusable after formulas are unpacked; folded ones stay packed
    visit.until(
        "[...document.querySelectorAll('[data-packed]')]"
        ".every(e => e.closest('[hidden], details:not([open])'))"
    )
    visit.painted()
    visit.page.add_script_tag(content=axe)
    problems = [v for v in visit.do(RUN) if v[0] in GRAVE]
    context.close()
    return problems


@pytest.mark.parametrize("name", TEN)
def test_ten_pages_have_no_grave_finding(browser, tmp_path, axe, name):
    file = tmp_path / "page.html"
    file.write_text(render_page(studied(name)), encoding="utf-8")
    for scheme in ("light", "dark"):
        assert [] == findings(browser, file, axe, scheme)


def test_a_planted_fault_is_reported(browser, tmp_path, axe, disk_page):
    file = tmp_path / "page.html"
    file.write_text(
        disk_page.replace("<footer>", '<footer style="color:#eee"><img src="data:,">', 1),
        encoding="utf-8",
    )
    rules = {rule for _, rule, _ in findings(browser, file, axe, "light")}
    assert {"color-contrast", "image-alt"} <= rules
