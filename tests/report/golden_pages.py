"""Derivations as they are printed: `python tests/report/golden_pages.py` writes them again
after a change that was read line by line.
"""

from pathlib import Path

import dalembert as da
from dalembert import gallery
from dalembert.mechanics.agreement.principle_registry import load_principle

FOLDER = Path(__file__).parent / "golden"
PAGES = (
    ("cart-and-bar", "kane"),
    ("cart-and-bar", "dalembert"),
    ("cart-and-bar", "lagrange"),
    ("vehicle", "kane"),
    ("vehicle", "boltzmann-hamel"),
    ("rolling-disk", "kane"),
    ("rolling-disk", "maggi"),
    ("positioning-device", "kane"),
    ("hoist", "kane"),
)


def page(system: str, principle: str) -> str:
    """`dalembert derive system --by principle --steps teach`"""
    d = load_principle(principle)[1](da.kinematics(gallery.build(system)))
    return f"{d.explain('teach')}\n"


def file(system: str, principle: str) -> Path:
    """Where a page is kept."""
    return FOLDER / f"{system}-{principle}.txt"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in PAGES:
        file(*each).write_text(page(*each), encoding="utf-8")
