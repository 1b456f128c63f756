"""How large the house is: files, code lines, raw tape calls, hand loops, files per walk, classes
that share a name, long files.

    python benchmarks/house.py [--names | --chapters] [SRC ...]

`--names` lists the classes that share a name, the long files and the files of each walk instead,
`--chapters` the code lines of every chapter. Every SRC is a folder that holds the package
`dalembert` (default: the one beside this file); several give several columns.
"""

from __future__ import annotations

import ast
import io
import os
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

LONGEST = 350
TAPE_CALLS = frozenset({"add", "sub", "mul", "div", "neg", "power"})
# the files whose functions a walk runs through, after a system has been described
# every module is loaded before: what is only loaded is not walked through
BUILD = """
import pkgutil, sys
from importlib import import_module
import dalembert as da
from dalembert import gallery
for module in pkgutil.walk_packages(da.__path__, "dalembert."):
    if not module.name.endswith("__main__"):
        import_module(module.name)
s = gallery.build('rolling-disk')
"""
WALKS = {
    "kane": "da.kane(s).equations",
    "agreement": "da.agreement(s)",
    "simulate": "da.simulate(s, 0.1, start={'theta': 1.0, \"psi'\": 1.0})",
    "report": "da.write_report(s, __import__('tempfile').mkdtemp() + '/x.html', duration=0.1, "
    "start={'theta': 1.0, \"psi'\": 1.0})",
}
# modules and class bodies, which run when a file is imported, are no functions (their code has no
# CO_OPTIMIZED)
WATCH = """
seen = set()
def look(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_flags & 1 and "/dalembert/" in code.co_filename:
        seen.add(code.co_filename)
sys.setprofile(look)
"""


def files(src: Path) -> list[Path]:
    """Every module of the package."""
    return sorted((src / "dalembert").rglob("*.py"))


def code_lines(text: str) -> int:
    """Lines that hold code: no blank lines, comments or docstrings."""
    tree = ast.parse(text)
    prose: set[int] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            prose.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    held = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (
            tokenize.COMMENT,
            tokenize.NL,
            tokenize.NEWLINE,
            tokenize.INDENT,
            tokenize.DEDENT,
            tokenize.ENDMARKER,
        ):
            held.update(range(token.start[0], token.end[0] + 1))
    return len(held - prose)


def tape_calls(tree: ast.AST) -> int:
    """t.add(…), tape.mul(…): single operations written by hand."""
    return sum(_is_tape_call(node) for node in ast.walk(tree))


def _is_tape_call(node: ast.AST) -> bool:
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Attribute)
        or node.func.attr not in TAPE_CALLS
    ):
        return False
    owner = node.func.value
    name = (
        owner.id
        if isinstance(owner, ast.Name)
        else owner.attr
        if isinstance(owner, ast.Attribute)
        else ""
    )
    return name in ("t", "tape")


def hand_loops(tree: ast.AST) -> int:
    """Loops that accumulate a sum on the tape, one product at a time."""
    return sum(
        isinstance(node, ast.For)
        and any(isinstance(x, ast.Assign | ast.AugAssign) and tape_calls(x) for x in node.body)
        for node in ast.walk(tree)
    )


def classes(trees: list[ast.Module]) -> Iterator[str]:
    """Names of classes that stand in a chapter's open."""
    for tree in trees:
        yield from (
            node.name
            for node in tree.body
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        )


def walked(src: Path, walk: str) -> list[str]:
    """The files of the package that a walk runs through."""
    program = f"{BUILD}{WATCH}{WALKS[walk]}\nsys.setprofile(None)\nprint(*sorted(seen), sep='\\n')"
    environment = {**os.environ, "PYTHONPATH": str(src)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return [
        line.rpartition("/dalembert/")[2]
        for line in done.stdout.splitlines()
        if line.endswith(".py")
    ]


def measured(src: Path) -> dict[str, int]:
    """All numbers of one house."""
    texts = [file.read_text(encoding="utf-8") for file in files(src)]
    trees = [ast.parse(text) for text in texts]
    shared = Counter(classes(trees))
    return {
        "files": len(texts),
        "code lines": sum(map(code_lines, texts)),
        "raw tape calls": sum(map(tape_calls, trees)),
        "hand loops": sum(map(hand_loops, trees)),
        "classes that share a name": sum(count > 1 for count in shared.values()),
        f"files over {LONGEST} lines": sum(text.count("\n") > LONGEST for text in texts),
        **{f"files per walk: {walk}": len(walked(src, walk)) for walk in WALKS},
    }


def chapters(src: Path) -> Counter[str]:
    """The code lines of every chapter; modules that stand beside the chapters count together."""
    lines: Counter[str] = Counter()
    for file in files(src):
        chapter, *inside = file.relative_to(src / "dalembert").parts
        lines[chapter if inside else "beside the chapters"] += code_lines(
            file.read_text(encoding="utf-8")
        )
    return lines


def list_chapters(folders: list[Path]) -> None:
    """A row for each chapter of any of the houses, and what they are together."""
    columns = [chapters(folder) for folder in folders]
    for name in sorted(set().union(*columns)):
        print(f"{name:28}", *(f"{column[name]:8}" for column in columns))
    print(f"{'all':28}", *(f"{column.total():8}" for column in columns))


def list_names(src: Path) -> None:
    """What the numbers count, by name."""
    places: dict[str, list[str]] = {}
    for file in files(src):
        text, name = file.read_text(encoding="utf-8"), str(file.relative_to(src / "dalembert"))
        for kind in classes([ast.parse(text)]):
            places.setdefault(kind, []).append(name)
        if text.count("\n") > LONGEST:
            print(f"long: {name}, {text.count(chr(10))} lines")
    for kind, where in sorted(places.items()):
        if len(where) > 1:
            print(f"class {kind}: {', '.join(where)}")
    for walk in WALKS:
        print(f"{walk}: {', '.join(walked(src, walk))}")


def main(folders: list[Path]) -> None:
    """A table with a column for each house."""
    columns = [measured(folder) for folder in folders]
    for name in columns[0]:
        print(f"{name:28}", *(f"{column[name]:8}" for column in columns))


if __name__ == "__main__":
    given = [Path(a).resolve() for a in sys.argv[1:] if not a.startswith("--")] or [
        Path(__file__).resolve().parents[1] / "src"
    ]
    if "--names" in sys.argv:
        for folder in given:
            list_names(folder)
    elif "--chapters" in sys.argv:
        list_chapters(given)
    else:
        main(given)
