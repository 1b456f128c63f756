"""One report, three layouts."""

import io

import pytest
from rich.cells import cell_len

import dalembert as da
from dalembert.interface.report import terminal_renderer
from dalembert.interface.report.document_blocks import (
    Display,
    FormulaSpan,
    Heading,
    Line,
    TableBlock,
    VerdictSpan,
    align_lines,
    paragraph,
)
from dalembert.interface.report.renderers import LATEX, MARKDOWN, latex_rows
from dalembert.symbolic.algebra.printing import expression_tree
from dalembert.symbolic.algebra.printing.print_tree import (
    Call,
    Equality,
    Factors,
    Letter,
    NamedSymbol,
    SignedTerms,
)

HOSTILE = r"50% of $x_1 & {y} ~ ^2 \input{z} <b> | *a* ω q̇"
a, b, c, d, e, x, B = map(Letter, "abcdexB")
z_1 = NamedSymbol("z_1", "z_1")
BLOCKS = (
    Heading(1, "Title"),
    paragraph(
        "It says ", FormulaSpan(Equality(a, b)), ", and ", VerdictSpan("it fails", holds=False), "."
    ),
    Display(
        (
            Line(FormulaSpan(SignedTerms(((False, b), (False, c)))), (FormulaSpan(a),)),
            Line(FormulaSpan(Equality(d, e)), note=("a note",)),
            Line("in words", ("along ", FormulaSpan(x)), sign=":"),
        )
    ),
    Display(
        (Line(FormulaSpan(z_1), ("v of ", FormulaSpan(B))),), (Equality(z_1, Factors((a, b))),)
    ),
    TableBlock(("one", "two"), (("1", FormulaSpan(Call("abs", (x,)))), ("2", ""))),
)


def shown(blocks, width=None):
    file = io.StringIO()
    out = terminal_renderer.console(file)
    out.width = terminal_renderer.UNLIMITED if width is None else width
    terminal_renderer.print_blocks(blocks, out)
    return file.getvalue()


def test_terminal():
    expected = """\
Title
═════

It says a = b, and it fails.
  a       = b + c
  d = e    [a note]
  along x: in words

  v of B = z₁
  with 1 intermediate:
    z₁ = a b

one  two
────────
1    |x|
2
"""
    assert expected == shown(BLOCKS)


def test_markdown():
    text = MARKDOWN.text(BLOCKS)
    assert text.startswith(
        "# Title\n\nIt says $a = b$, and **it fails**.\n\n$$\n\\begin{aligned}\na &= b + c \\\\\nd "
        "&= e\\quad[\\text{a note}]"
    )
    assert "\\text{along }x &\\text{:}\\quad \\text{in words}" in text
    assert "with 1 intermediate\n\n$$\n\\begin{aligned}\nz_{1} &= a b\n\\end{aligned}\n$$" in text
    assert text.endswith(
        "| one | two |\n| --- | --- |\n| 1 | $\\left\\vert x\\right\\vert $ |\n| 2 |  |"
    )


def test_latex():
    text = LATEX.text(BLOCKS)
    assert text.startswith(
        "\\section*{Title}\n\nIt says $a = b$, and \\textbf{it fails}.\n\n\\begin{align*}\na &= b "
        "+ c \\\\\n"
    )
    assert (
        "\\begin{tabular}{ll}\none & two \\\\\n\\hline\n1 & $\\left|x\\right|$ \\\\\n2 &  "
        "\\\\\n\\end{tabular}" in text
    )
    assert LATEX.document(BLOCKS).count("\\begin{document}") == 1


@pytest.mark.parametrize(
    "block",
    [
        Heading(2, HOSTILE),
        paragraph(HOSTILE),
        Display((Line(HOSTILE, (HOSTILE,), note=(HOSTILE,)),)),
        TableBlock((HOSTILE,), ((HOSTILE,),)),
    ],
)
def test_words_mean_themselves(block):
    text = LATEX.text([block])
    assert (
        r"50\% of \$x\_1 \& \{y\} \textasciitilde{} \textasciicircum{}2 \textbackslash{}input\{z\}"
        in text
    )
    assert text.isascii()
    assert r"\<b\> \| \*a\*" in MARKDOWN.text([block]) or isinstance(block, Display)


def test_rich_markup_in_words_is_not_obeyed():
    assert "[bold]x[/bold] :smile:" in shown(
        [paragraph("[bold]x[/bold] :smile:"), TableBlock(("[red]",), (("[/red]",),))]
    )


def test_a_long_left_side_starts_at_the_margin():
    long = SignedTerms(tuple((False, Letter("a", (Letter(str(k)),))) for k in range(60)))
    lines = [Line(FormulaSpan(Equality(long, b))), Line(FormulaSpan(Equality(b, c)))]
    assert all(row.left is None for row in align_lines(lines))
    shown = latex_rows(align_lines(lines))
    assert " \\\\\n&\\quad + " in shown
    written = " + ".join(f"a_{{{k}}}" for k in range(60))
    assert f"&{written} = b \\\\\n&b = c" == shown.replace(" \\\\\n&\\quad", "")


def long_formula():
    s = da.System("x")
    (theta, phi, psi), (m, r, g) = s.coordinates("theta phi psi"), s.constants("m r g")
    return expression_tree(
        m * r**2 * (1 + 5 * da.cos(theta) ** 2) * phi.dot / 4
        + 3 * m * r**2 * psi.dot * da.cos(theta) / 2
        - m * g
    )


@pytest.mark.parametrize("width", [5, 12, 30, 50, 1000])
def test_long_formulas_are_broken_at_their_signs_and_nothing_is_lost(width):
    tree = long_formula()
    lines = terminal_renderer.wrap_formula(tree, width)
    assert terminal_renderer.Notation()(tree) == " ".join(lines)
    assert width < 20 or all(cell_len(line) <= width for line in lines)


def test_breaks_are_before_signs_outside_parentheses():
    whole = terminal_renderer.Notation()(long_formula())
    assert 3 == len(terminal_renderer.Notation.breakable_parts(long_formula(), 0))
    assert whole == " ".join(terminal_renderer.Notation.breakable_parts(long_formula(), 0))
    assert whole == " ".join(terminal_renderer.Notation.breakable_parts(long_formula(), 1))


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_narrow_windows_lose_nothing(width):
    cells = (
        (
            "a-long-name-without-spaces",
            "one two three four five six seven eight nine ten",
            "x" * 30,
        ),
    )
    text = shown([TableBlock(("first", "second", "third"), cells)], width)
    letters = "".join(text.split())
    assert all(
        letters.count(c) >= "".join(cells[0]).count(c) for c in set("".join(cells[0])) - {" "}
    )
    assert all(len(line) <= width for line in text.splitlines())
    assert "…" not in text
