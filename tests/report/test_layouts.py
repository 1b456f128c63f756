"""One report, three layouts."""

import io

import pytest

from dalembert.report import latex, markdown, terminal
from dalembert.report.blocks import Display, Formula, Heading, Line, Table, Verdict, words

HOSTILE = r"50% of $x_1 & {y} ~ ^2 \input{z} <b> | *a* ω q̇"
BLOCKS = (
    Heading(1, "Title"),
    words("It says ", Formula("a = b"), ", and ", Verdict("it fails", holds=False), "."),
    Display(
        (
            Line(Formula("b + c"), (Formula("a"),)),
            Line(Formula("d = e"), note=("a note",)),
            Line("in words", ("along ", Formula("x")), sign=":"),
        )
    ),
    Display((Line(Formula("z_1"), ("v of ", Formula("B"))),), ("z_1 = a b",)),
    Table(("one", "two"), (("1", Formula("|x|")), ("2", ""))),
)


def shown(blocks, width=None):
    file = io.StringIO()
    out = terminal.console(file)
    out.width = terminal.UNLIMITED if width is None else width
    terminal.show(blocks, out)
    return file.getvalue()


def test_terminal():
    expected = """\
Title
═════

It says a = b, and it fails.
  a       = b + c
  d = e    [a note]
  along x: in words

  v of B = z_1
  with 1 intermediate:
    z_1 = a b

one  two
────────
1    |x|
2
"""
    assert expected == shown(BLOCKS)


def test_markdown():
    text = markdown.text(BLOCKS)
    assert text.startswith(
        "# Title\n\nIt says $a = b$, and **it fails**.\n\n$$\n\\begin{aligned}\na &= b + c \\\\\nd &= e\\quad[\\text{a note}]"
    )
    assert "\\text{along }x &\\text{:}\\quad \\text{in words}" in text
    assert "with 1 intermediate\n\n$$\n\\begin{aligned}\nz_1 &= a b\n\\end{aligned}\n$$" in text
    assert text.endswith("| one | two |\n| --- | --- |\n| 1 | $\\vert x\\vert $ |\n| 2 |  |")


def test_latex():
    text = latex.body(BLOCKS)
    assert text.startswith("\\section*{Title}\n\nIt says $a = b$, and \\textbf{it fails}.\n\n\\begin{align*}\na &= b + c \\\\\n")
    assert "\\begin{tabular}{ll}\none & two \\\\\n\\hline\n1 & $|x|$ \\\\\n2 &  \\\\\n\\end{tabular}" in text
    assert latex.document(BLOCKS).count("\\begin{document}") == 1


@pytest.mark.parametrize(
    "block", [Heading(2, HOSTILE), words(HOSTILE), Display((Line(HOSTILE, (HOSTILE,), note=(HOSTILE,)),)), Table((HOSTILE,), ((HOSTILE,),))]
)
def test_words_mean_themselves(block):
    text = latex.body([block])
    assert r"50\% of \$x\_1 \& \{y\} \textasciitilde{} \textasciicircum{}2 \textbackslash{}input\{z\}" in text
    assert text.isascii()
    assert r"\<b\> \| \*a\*" in markdown.text([block]) or isinstance(block, Display)


def test_rich_markup_in_words_is_not_obeyed():
    assert "[bold]x[/bold] :smile:" in shown([words("[bold]x[/bold] :smile:"), Table(("[red]",), (("[/red]",),))])


def test_a_long_left_side_starts_at_the_margin():
    long = " + ".join(f"a_{{{k}}}" for k in range(60))
    lines = latex.aligned([Line(Formula(f"{long} = 0")), Line(Formula("b = 1"))])
    assert all(line.startswith("&") for line in lines)
    assert lines[0].endswith(" = 0")
    assert " \\\\\n&\\quad + " in lines[0]
    assert lines[0].replace(" \\\\\n&\\quad", "") == f"&{long} = 0"


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_narrow_windows_lose_nothing(width):
    cells = (("a-long-name-without-spaces", "one two three four five six seven eight nine ten", "x" * 30),)
    text = shown([Table(("first", "second", "third"), cells)], width)
    letters = "".join(text.split())
    assert all(letters.count(c) >= "".join(cells[0]).count(c) for c in set("".join(cells[0])) - {" "})
    assert all(len(line) <= width for line in text.splitlines())
    assert "…" not in text
