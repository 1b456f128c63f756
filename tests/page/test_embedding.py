import base64
import json
import re

import numpy as np
import pytest

from dalembert.interface.page.data_blocks import data_block, encode_floats, encode_series

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--",
    "]]>",
    "a & b",
    "\u2028line",
    '"quoted"',
    "$(rm -rf ~)",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_ends_the_block_it_stands_in(name):
    text = data_block("data", {"name": name})
    inside = re.fullmatch(r'<script type="application/json" id="data">([^<>]*)</script>', text)
    assert inside
    assert {"name": name} == json.loads(inside[1])


def test_numbers_come_back_as_they_were():
    x = np.array([[1.5, -2.25], [1e-30, 3e38]])
    assert np.array_equal(
        np.float32(x).ravel(), np.frombuffer(base64.b64decode(encode_floats(x)), "<f4")
    )
    y = np.random.default_rng(0).normal(size=7)
    assert np.array_equal(y, np.frombuffer(base64.b64decode(encode_floats(y, "<f8")), "<f8"))


def test_what_stands_still_is_stored_once():
    still, goes = np.ones((50, 3)), np.linspace(0, 1, 150).reshape(50, 3)
    assert 12 == len(base64.b64decode(encode_series(still)))
    assert 600 == len(base64.b64decode(encode_series(goes)))
