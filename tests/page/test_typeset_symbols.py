"""Names and expressions as a page prints them."""

from __future__ import annotations

import re

import pytest

from dalembert import gallery
from dalembert.interface.page.simulator.slider_forms import meanings
from dalembert.interface.page.typeset_symbols import expression_html, symbol_html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("max(beta)", "max(β)"),
        ("time(beta - pi, up)", "time(β − π, up)"),
        ("mean(x**2*u_delta)", "mean(x²·u<sub>δ</sub>)"),
        ("1e-3*q_1'", "1e-3·q̇₁"),
        ("alpha.ddot", "α̈"),
        ("a<b", "a&lt;b"),
    ],
)
def test_expressions_have_the_letters_of_books(text, html):
    assert html == expression_html(text)


def test_a_symbol_is_printed_as_in_the_equations():
    tape = gallery.build("whipple-bicycle").space.tape
    shown = re.sub(r"<[^>]*>", "", symbol_html(tape, "u_delta"))
    assert "uδ" == shown


def test_every_number_of_the_disk_has_a_meaning():
    known = meanings(gallery.build("rolling-disk"))
    assert "g: gravitational acceleration" == known["g"]
    assert "r: constant of disk" == known["r"]
    assert "m: mass of disk" == known["m"]
    assert "rate of psi" == known["psi.dot"]
