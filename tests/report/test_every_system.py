"""Every system of the gallery by every principle that applies: LaTeX that parses and compiles,
HTML that is valid.
"""

import shutil
import subprocess
import xml.etree.ElementTree as ET
from functools import lru_cache

import html5lib
import pytest
from pylatexenc.latexwalker import LatexWalker, LatexWalkerParseError, get_default_latex_context_db
from pylatexenc.macrospec import EnvironmentSpec, MacroSpec

import dalembert as da
from dalembert import gallery
from dalembert.errors import NotApplicable
from dalembert.interface.report import system_report
from dalembert.interface.report.document_blocks import Block
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.interface.report.renderers import HTML, LATEX
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES
from dalembert.symbolic.algebra import printing

# their equations fill many pages: in the fast suite without the search for a short form, and read
# by our own reader alone
LARGE = frozenset({
    "andrews-squeezer", "bricard", "rattleback", "whipple-bicycle", "n-four-bar",
    "flexible-slider-crank", "spatial-chain", "suslov",
    "free-body-quaternion", "beam-on-ball-joint", "snakeboard", "moving-knife-edge", "spin-up-beam",
    "four-bar", "flexible-pendulum",
})  # fmt: skip
# where every step is shown too, with its reasons
TAUGHT = ("cart-and-bar", "hoist", "rolling-disk", "vehicle")
# what LaTeX and amsmath know without arguments, and what they read one or two arguments of
PLAIN = frozenset({
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi", "pi", "rho", "sigma",
    "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi",
    "Sigma", "Upsilon", "Phi", "Psi",
    "Omega", "ell", "partial", "sum", "int", "infty", "cdot", "times", "neq", "le", "ge", "to",
    "dots", "pm", "in", "nabla", "backslash",
    "vert", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "exp", "log",
    "min", "max", "det", "left", "right",
    "quad", "hline", "parindent", "parskip",
    "allowdisplaybreaks", "ttfamily", "S", ",", ";", ":", "_", "{", "}", "$", "&", "#", "%", "\\",
    "textbackslash",
    "textasciicircum", "textasciitilde",
})  # fmt: skip
ARGUMENTS = {
    "tfrac": "{{",
    "text": "{",
    "operatorname": "{",
    "dddot": "{",
    "ddddot": "{",
    "boldsymbol": "{",
}


def known():
    """A context in which an unknown macro is an error."""
    context = get_default_latex_context_db()
    macros = [MacroSpec(name, args_parser=arguments) for name, arguments in ARGUMENTS.items()]
    environments = [
        EnvironmentSpec(name) for name in ("bmatrix", "aligned", "align*", "center", "flushleft")
    ]
    context.add_context_category("amsmath", macros=macros, environments=environments, prepend=True)
    context.set_unknown_macro_spec(None)
    context.set_unknown_environment_spec(None)
    return context


def parse(text: str) -> None:
    """Strict: braces, environments, and every macro known."""
    context = known()
    walker = LatexWalker(text, latex_context=context, tolerant_parsing=False)
    nodes, _, _ = walker.get_latex_nodes()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if node is None:
            continue
        if hasattr(node, "macroname"):
            assert node.macroname in PLAIN or context.get_macro_spec(node.macroname) is not None, (
                node.macroname
            )
        for inside in (
            getattr(node, "nodelist", None),
            getattr(getattr(node, "nodeargd", None), "argnlist", None),
        ):
            stack += inside or []


def validate(text: str) -> None:
    """HTML without a parse error, its formulas well-formed XML."""
    html5lib.HTMLParser(strict=True).parse(text)
    start = text.find("<math")
    while start >= 0:
        end = text.index("</math>", start) + len("</math>")
        ET.fromstring(text[start:end])
        start = text.find("<math", end)


@lru_cache(maxsize=2)
def blocks(name: str, level: str) -> tuple[Block, ...]:
    """The derivations by all principles that apply."""
    entry, system = gallery.entry(name), gallery.build(name)
    found = []
    for _, derive in PRINCIPLES:
        try:
            found.append(derive(da.kinematics(system)))
        except NotApplicable:
            continue
    subject = system_report.ReportSubject(system, entry.title, entry.source, entry.description)
    return tuple(system_report.derivation_report(subject, found, FormulaWriter(), level=level))


# longer documents are given to the other parsers, which take their time, in the slow suite
SHORT = 20_000
# of the large ones, those with loops, a member and a rolling body
SOME = ("andrews-squeezer", "rattleback", "rotating-beam")
SMALL = [name for name in gallery.names() if name not in LARGE]


@pytest.mark.each_time(10)
@pytest.mark.parametrize("name", SMALL)
def test_equations(name):
    text = LATEX.document(blocks(name, "equations"))
    page = HTML.document(blocks(name, "equations"))
    if len(text) <= SHORT:
        parse(text)
        validate(page)


@pytest.mark.slow
@pytest.mark.each_time(1)
@pytest.mark.parametrize("name", TAUGHT)
def test_every_step(name):
    parse(LATEX.document(blocks(name, "teach")))
    validate(HTML.document(blocks(name, "teach")))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        name if name in SOME else pytest.param(name, marks=pytest.mark.slow)
        for name in sorted(LARGE)
    ],
)
def test_equations_that_fill_pages(name, monkeypatch):
    monkeypatch.setattr(printing, "LIMIT", 50)
    monkeypatch.setattr(printing, "SHORTENING_LIMIT", 30)
    assert "<math" in HTML.text(blocks.__wrapped__(name, "equations"))


@pytest.mark.slow
@pytest.mark.parametrize("name", gallery.names())
def test_every_step_of_every_system(name):
    text = LATEX.document(blocks(name, "teach"))
    parse(text)
    validate(HTML.document(blocks(name, "teach")))


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("pdflatex") is None,
    reason="pdflatex is not installed (texlive-latex-base, texlive-latex-extra)",
)
@pytest.mark.parametrize("name", gallery.names())
def test_pdflatex_compiles_it(name, tmp_path):
    file = tmp_path / "derivation.tex"
    file.write_text(
        LATEX.document(blocks(name, "equations" if name in LARGE else "teach")), encoding="utf-8"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", file.name],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert 0 == done.returncode, done.stdout.decode(errors="replace")[-3000:]


@pytest.mark.parametrize(
    "broken", [r"\frac{1}{2", r"\begin{align*} a \end{center}", r"\unheardof{x}", "$a", r"a}"]
)
def test_broken_latex_is_noticed(broken):
    with pytest.raises((LatexWalkerParseError, AssertionError)):
        parse(broken)
