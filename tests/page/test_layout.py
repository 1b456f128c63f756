"""Six pages as Chromium lays them out, at three sizes and shades: nothing lies on anything, nothing
is cut off, nothing is said.

What is compared is structure, not pixels, so that another font or another version of the browser
changes nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from browsing import Visit

import dalembert as da
from conftest import studied
from dalembert.interface.page.report_page import render_page

FAULTS = (Path(__file__).parent / "layout.js").read_text(encoding="utf-8")
# those of the gallery, and one whose contacts stick, slip, lift and land
CONTACTS = "bouncing-disk"
# rows and rolling; a rod with particles; many loops and springs; ropes; a flexible member; a page
# of long formulas
PAGES = (
    "rolling-disk",
    "dumbbell",
    "andrews-squeezer",
    "hoist",
    "flexible-pendulum",
    "whipple-bicycle",
)
WINDOWS = {
    "desktop": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
}
# pixels of the page beyond the window
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SHOW_ALL = "document.documentElement.classList.add('settled')"
UNFOLD = "for (const d of document.querySelectorAll('section details:not([open])')) d.open = true"
UNPACKED = "!document.querySelector('.panel:not([hidden]) details[open] [data-packed]')"


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("layout")
    found = {name: folder / f"{name}.html" for name in PAGES}
    for name, path in found.items():
        path.write_text(render_page(studied(name)), encoding="utf-8")
    found[CONTACTS] = folder / f"{CONTACTS}.html"
    da.write_report(bouncing_disk(), found[CONTACTS], duration=2, start={"y": 0.5, "phi.dot": 20})
    return found


def bouncing_disk() -> da.System:
    """It bounces, rests, slides and rolls against a stop."""
    s = da.System("Disk that bounces, slides and rolls against a stop", gravity=9.81)
    x, y, phi = s.coordinates("x y phi")
    B = s.N.rotated(-phi, s.N.z, "B")
    G = s.O.offset(x * s.N.x + y * s.N.y, "G", B)
    disk = s.disk("disk", G, B, 1, s.constant("r", 0.3), B.z)
    s.contact(G, radius=s["r"], on=disk, friction=0.2, restitution=0.5, name="floor")
    s.stop(x, upper=1, restitution=0.3, name="buffer")
    return s


@pytest.mark.slow
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", [*PAGES, CONTACTS])
def test_text_neither_overlaps_nor_is_cut_off(browser, pages, name, window):
    context = browser.new_context(offline=True, reduced_motion="reduce", **WINDOWS[window])
    try:
        visit = Visit(context, pages[name])
        visit.do(SHOW_ALL)
        visit.painted()
        visit.picture(f"layout-{name}-{window}", whole=True)
        assert [] == visit.do(FAULTS), "as it opens"
        visit.do(UNFOLD)
        visit.until(UNPACKED)
        for tab in visit.page.get_by_role("tab").all():
            tab.click()
            visit.painted()
            assert 0 >= visit.do(TOO_WIDE)
        # further down the scene sticks over the panel on a phone
        visit.do("scrollTo(0, 0)")
        visit.painted()
        assert [] == visit.do(FAULTS), (
            "with every step unfolded, on the last principle and the last plots"
        )
        assert [] == visit.said
    finally:
        context.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("planted", "expected"),
    [
        ("document.querySelector('h1').style.marginBottom = '-30px'", "on one another"),
        (
            (
                "Object.assign(document.querySelector('h1').style, {width: '40px', overflow: "
                "'hidden', "
                "whiteSpace: 'nowrap'})"
            ),
            "cut off",
        ),
        (
            (
                "document.querySelector('.lead').style.width = '3000px'; "
                "document.querySelector('.lead').style.maxWidth = 'none'"
            ),
            "wider than",
        ),
        (
            "for (const e of document.querySelectorAll('mtd')) e.style.padding = '0'",
            "fractions touch",
        ),
    ],
)
def test_a_planted_fault_is_found(browser, pages, planted, expected):
    context = browser.new_context(offline=True, **WINDOWS["desktop"])
    visit = Visit(context, pages["rolling-disk"])
    visit.do(SHOW_ALL)
    visit.do(planted)
    assert any(expected in fault for fault in visit.do(FAULTS))
    context.close()
