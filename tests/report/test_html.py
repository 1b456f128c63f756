"""A report as HTML: valid, escaped, with its LaTeX."""

import html5lib
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.interface.report import system_report
from dalembert.interface.report.document_blocks import (
    Code,
    Display,
    FormulaSpan,
    Heading,
    Line,
    TableBlock,
    VerdictSpan,
    paragraph,
)
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.interface.report.renderers import HTML
from dalembert.symbolic.algebra.printing.print_tree import Equality, Letter, NamedSymbol

SCRIPT = "<script>alert(1)</script>"


def parsed(text):
    """Strict: any parse error is raised."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(text)


def test_every_block():
    blocks = (
        Heading(2, "Title"),
        paragraph(
            "So ",
            FormulaSpan(NamedSymbol("theta_1", "theta_1")),
            " is ",
            VerdictSpan("wrong", holds=False),
            quiet=True,
        ),
        Display(
            (Line(FormulaSpan(Letter("b")), (FormulaSpan(Letter("a")),), note=("why",)),),
            (Equality(NamedSymbol("z1", "z1"), Letter("a")),),
        ),
        TableBlock(
            ("one", "two"), (("1", FormulaSpan(Letter("x"))), (VerdictSpan("good", holds=True), ""))
        ),
        Code("if a < b:\n    pass\n"),
    )
    fragment = HTML.text(blocks)
    found = parsed(
        f"<!DOCTYPE html><html><head><title>x</title></head><body>{fragment}</body></html>"
    )
    assert ["h2", "p", "div", "p", "div", "table", "pre"] == [
        child.tag for child in found.find("body")
    ]
    assert "<h2>Title</h2>" in fragment
    assert '<p class="quiet">So <math ' in fragment
    assert '<strong class="fails">wrong</strong>' in fragment
    assert "if a &lt; b:\n    pass" in fragment
    assert '<p class="count">with 1 intermediate</p>' in fragment


def hostile():
    s = da.System(SCRIPT)
    (q,) = s.coordinates("q")
    (m,) = s.constants("m")
    P = s.O.offset(q * s.N.x, SCRIPT)
    s.particle("&" + SCRIPT, m, P)
    s.force(m * s.N.rotated(q, s.N.z, SCRIPT).x, at=P, name=SCRIPT)
    return s


def test_names_are_shown_never_obeyed():
    s = hostile()
    d = da.kane(s)
    subject = system_report.ReportSubject(s, SCRIPT, SCRIPT, SCRIPT)
    text = HTML.document(
        system_report.derivation_report(subject, [d], FormulaWriter(), level="teach")
    )
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    body = parsed(text).find("body")
    assert not [e for e in body.iter() if e.tag == "script"]
    assert SCRIPT in "".join(body.itertext())


def test_a_document_stands_by_itself():
    s = gallery.build("vehicle")
    text = HTML.document(
        system_report.derivation_report(
            system_report.ReportSubject(s, "Vehicle"),
            [da.boltzmann_hamel(s)],
            FormulaWriter(),
            level="teach",
        )
    )
    found = parsed(text)
    assert "Vehicle" == found.find("head/title").text
    assert "src=" not in text
    assert "href=" not in text


def test_the_parser_of_these_tests_is_strict():
    with pytest.raises(Exception, match=r"error|Unexpected|expected"):
        parsed(
            "<!DOCTYPE html><html><head><title>x</title></head><body><p><table></p></body></html>"
        )
