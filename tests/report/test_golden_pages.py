"""A changed sentence of a derivation is seen in the difference of its page."""

import pytest

from report.golden_pages import FOLDER, PAGES, file, page


@pytest.mark.parametrize(("system", "principle"), PAGES)
def test_the_page_is_as_it_was_read(system, principle):
    assert file(system, principle).read_text(encoding="utf-8") == page(system, principle)


def test_no_page_is_left_over():
    assert {file(*each) for each in PAGES} == set(FOLDER.iterdir())
