"""How the source reads: the counts of decision 24, chapter by chapter, and the functions that are
too long.

    python benchmarks/code_structure.py [--functions | --chapters | --lines] [FOLDER]

FOLDER is that of the package (default: src/dalembert). Lines of code are counted after the source
was formatted at 88 columns in a temporary copy, so that neither wide lines nor dense ones change
the counts; docstrings, comments and blank lines do not count. `--functions` lists functions over 40
lines and those with more than 20 local names, `--chapters` the lines of every chapter, `--lines`
what they consist of. Needs ruff.
"""

from __future__ import annotations

import ast
import io
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

WIDTH = 88
LONG, VERY_LONG, MANY_LOCALS = 40, 60, 20
RUN_OPTIONS = (
    "start guess values inputs rtol atol at t0 max_step progress integrator stabilize "
    "baumgarte_rate events sensitivities"
)
# words in -ed and -ing that are nouns
NOUNS = "speed need string spring thing damping coupling ring heading bearing seed feed"
IRREGULAR = (
    "written known given held found made kept told said taken shown seen drawn left sent built "
    "begun chosen driven spelled spelt born brought thought bought caught felt meant paid sold "
    "stood understood spoken broken frozen hidden thrown worn sworn torn grown blown flown lent "
    "bent spent lost met led fed hung struck spun wound"
)
NOT_CODE = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


class Source(NamedTuple):
    """One file, formatted: its path in the package, its text and tree, and its lines of code."""

    path: Path
    text: str
    tree: ast.Module
    lines: frozenset[int]


class Function(NamedTuple):
    """A function with its lines of code and its local names."""

    path: Path
    node: ast.FunctionDef
    lines: int
    local_names: int


def read_sources(root: Path) -> list[Source]:
    """All files of the package, formatted at 88 columns."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(root, copy)
        command = ["ruff", "format", "--isolated", "--quiet", "--line-length", str(WIDTH)]
        subprocess.run([sys.executable, "-m", *command, str(copy)], check=True)
        sources = []
        for path in sorted(copy.rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            tree = ast.parse(text)
            sources.append(Source(path.relative_to(copy), text, tree, code_lines(text, tree)))
        return sources


def code_lines(text: str, tree: ast.Module) -> frozenset[int]:
    """Numbers of the lines that hold code."""
    docstrings: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node, clean=False
        ):
            docstrings.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return frozenset(lines - docstrings)


def functions(sources: list[Source]) -> Iterator[Function]:
    """Every function, nested ones too."""
    for source in sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.FunctionDef):
                own = range(node.lineno, (node.end_lineno or 0) + 1)
                stored = {
                    x.id
                    for x in ast.walk(node)
                    if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)
                }
                yield Function(source.path, node, len(source.lines.intersection(own)), len(stored))


def is_participle(name: str) -> bool:
    """Whether a name is one bare participle: `solved`, `running`, `found`."""
    bare = name.strip("_")
    regular = re.fullmatch(r"[a-z]+(ed|ing)", bare) and bare not in NOUNS.split()
    return bool(regular) or bare in IRREGULAR.split()


def counts(sources: list[Source], root: Path) -> dict[str, int]:
    """The counts of decision 24."""
    every = list(functions(sources))
    stored = [
        node.id
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    plain = [path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))]
    written = "\n".join(plain)
    run_options = set(RUN_OPTIONS.split())
    options = (
        run_options.intersection(a.arg for a in (*f.node.args.args, *f.node.args.kwonlyargs))
        for f in every
    )
    return {
        "files": len(sources),
        "functions": len(every),
        f"code lines at {WIDTH} columns": sum(len(source.lines) for source in sources),
        f"functions over {LONG} lines": sum(f.lines > LONG for f in every),
        f"functions over {VERY_LONG} lines": sum(f.lines > VERY_LONG for f in every),
        f"functions with more than {MANY_LOCALS} local names": sum(
            f.local_names > MANY_LOCALS for f in every
        ),
        "functions named by one participle": sum(is_participle(f.node.name) for f in every),
        "functions that declare 8 or more run options": sum(len(given) >= 8 for given in options),
        "assignments to `found`": stored.count("found"),
        "`told` and `beside`": len(re.findall(r"\b(?:told|beside)\b", written)),
        "`isinstance` on ConstrainedRates": len(
            re.findall(r"isinstance\([^)]*ConstrainedRates", written)
        ),
        "lines over 100 columns": sum(len(line) > 100 for line in written.splitlines()),
    }


def chapter_of(path: Path) -> str:
    """`runtime/ode`, or the folder or file at the top level."""
    return "/".join(path.parts[:2]) if len(path.parts) > 2 else path.parts[0]


def chapters(sources: list[Source], root: Path) -> Counter[str]:
    """The lines of code of every chapter, and the lines of the scripts of pages."""
    lines = Counter({chapter_of(s.path): 0 for s in sources})
    for source in sources:
        lines[chapter_of(source.path)] += len(source.lines)
    lines["scripts of pages"] = sum(
        len(script.read_text(encoding="utf-8").splitlines()) for script in root.rglob("*.js")
    )
    return lines


def kinds_of_lines(sources: list[Source]) -> Counter[str]:
    """What the lines of code consist of."""
    total: Counter[str] = Counter()
    for source in sources:
        kind: dict[int, str] = {}
        for first, last, name in _labelled_blocks(source.tree):
            for line in range(first, last + 1):
                kind.setdefault(line, name)
        text = source.text.splitlines()
        for line in source.lines:
            bare = re.fullmatch(r"[\s)\]},:(]*", text[line - 1])
            total[kind.get(line, "closing brackets" if bare else "statements")] += 1
    return total


def _labelled_blocks(tree: ast.Module) -> Iterator[tuple[int, int, str]]:
    """(first line, last line, kind) of imports, signatures, fields, messages and tables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node.lineno, node.end_lineno or 0, "imports"
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min(node.lineno, *(d.lineno for d in node.decorator_list), node.lineno)
            yield first, node.body[0].lineno - 1, "signatures"
            for field in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(field, ast.AnnAssign):
                    yield field.lineno, field.end_lineno or 0, "fields"
        elif isinstance(node, ast.Raise) or (
            isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "msg"
        ):
            yield node.lineno, node.end_lineno or 0, "messages"
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            yield node.lineno, node.end_lineno or 0, "tables"


def list_functions(sources: list[Source]) -> None:
    """Long functions, longest first, then those with many local names."""
    every = list(functions(sources))
    for f in sorted(every, key=lambda f: -f.lines):
        if f.lines > LONG:
            print(f"{f.lines:4} lines  {f.path} {f.node.name}")
    for f in sorted(every, key=lambda f: -f.local_names):
        if f.local_names > MANY_LOCALS:
            print(f"{f.local_names:4} names  {f.path} {f.node.name}")


def main(arguments: list[str]) -> None:
    """The counts, or what was asked for."""
    folders = [Path(a) for a in arguments if not a.startswith("--")]
    root = folders[0] if folders else Path(__file__).resolve().parents[1] / "src" / "dalembert"
    sources = read_sources(root)
    if "--functions" in arguments:
        list_functions(sources)
        return
    if "--chapters" in arguments:
        table: dict[str, int] = dict(chapters(sources, root).most_common())
    elif "--lines" in arguments:
        table = dict(kinds_of_lines(sources).most_common())
    else:
        table = counts(sources, root)
    for name, count in table.items():
        print(f"{count:7}  {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
