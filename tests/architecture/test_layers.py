"""Data flows one way: nothing imports against the arrow, principles never import one another, heavy packages come late."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import dalembert

ROOT = Path(dalembert.__file__).parent
# the chapters in their order; a module may import its own chapter and those before it
LAYERS = (
    "errors",
    "arrays",
    "files",
    "once",
    "references",
    "nearest_name",
    "notebook",
    "algebra",
    "units",
    "geometry",
    "model",
    "kinematics",
    "kinetics",
    "equations",
    "principles",
    "agreement",
    "numerics",
    "ode",
    "states",
    "simulation",
    "integrals",
    "friction",
    "constraint_analysis",
    "statics",
    "linear",
    "flexible",
    "inverse",
    "studies",
    "robots",
    "modelfile",
    "api",
    "exports",
    "report",
    "gallery",
    "page",
    "cli",
    "__main__",
)
# those who only know the common form M u' = f
METHOD_BLIND = ("numerics", "ode", "states", "simulation", "integrals", "constraint_analysis")
# those who may speak to the library as a user does, through `import dalembert as da`
USERS = ("gallery", "cli")
HEAVY = ("pint", "sympy", "scipy", "llvmlite", "plotly", "matplotlib", "flint")

FILES = sorted(ROOT.rglob("*.py"))


def module_of(file: Path) -> tuple[str, ...]:
    """('algebra', 'tape') for src/dalembert/algebra/tape.py; () for the package itself."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def for_annotations(tree: ast.Module) -> set[ast.AST]:
    """All nodes inside `if TYPE_CHECKING:`."""
    blocks = [
        node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
    ]
    return {inner for block in blocks for statement in block.body for inner in ast.walk(statement)}


def exists(module: tuple[str, ...]) -> bool:
    path = ROOT.joinpath(*module)
    return path.is_dir() or path.with_suffix(".py").is_file()


def imports(file: Path, tree: ast.Module) -> Iterator[tuple[str, ...]]:
    """The modules of dalembert that a file imports at run time, wherever in the file."""
    exempt = for_annotations(tree)
    package = (*module_of(file), "") if file.name == "__init__.py" else module_of(file)
    for node in ast.walk(tree):
        if node in exempt:
            continue
        if isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ("dalembert", *package[: len(package) - node.level]) if node.level else ()
            base += tuple((node.module or "").split(".")) if node.module else ()
            names = [(*base, alias.name) for alias in node.names]
        else:
            continue
        for name in names:
            if name[0] == "dalembert":
                module = name[1:]
                yield module if exists(module) else module[:-1]


PARSED = {file: ast.parse(file.read_text(encoding="utf-8")) for file in FILES}
EDGES = [(module_of(file), imported) for file, tree in PARSED.items() for imported in imports(file, tree)]


def name(file: Path) -> str:
    return str(file.relative_to(ROOT))


def test_every_module_belongs_to_a_chapter():
    # a name that is missing here goes into LAYERS, in the place where it stands in the flow
    assert [] == [name(file) for file in FILES if module_of(file) and module_of(file)[0] not in LAYERS]


def against_the_arrow(importer: tuple[str, ...], imported: tuple[str, ...]) -> bool:
    if not imported:
        # the whole package
        return importer[0] not in USERS
    return LAYERS.index(imported[0]) > LAYERS.index(importer[0])


def test_nothing_imports_against_the_arrow():
    # the package itself lists the public names of all chapters
    assert [] == [edge for edge in EDGES if edge[0] and against_the_arrow(*edge)]
    assert against_the_arrow(("algebra", "tape"), ("cli",))
    assert against_the_arrow(("kinetics", "loads"), ())


def sub_chapters() -> dict[tuple[str, ...], set[tuple[str, ...]]]:
    """{folder inside a chapter: the other folders of the same chapter that it imports from}."""
    found: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for importer, imported in EDGES:
        here, there = importer[:2], imported[:2]
        if len(importer) > 2 and len(imported) > 1 and here != there and here[0] == there[0] and ROOT.joinpath(*there).is_dir():
            found.setdefault(here, set()).add(there)
    return found


def test_folders_inside_a_chapter_import_one_another_in_one_direction():
    folders = sub_chapters()
    assert ("simulation", "plotting") in folders["simulation", "reactions"]
    # a circle is an error that names it
    tuple(TopologicalSorter(folders).static_order())


def test_imports_are_found_wherever_they_stand():
    assert (("algebra", "folds"), ("algebra", "tape")) in EDGES
    source = """
from typing import TYPE_CHECKING
from dalembert.algebra.tape import Tape
from ..geometry import frame
from . import base
if TYPE_CHECKING:
    from dalembert.cli import main
def late():
    import dalembert.errors
    from dalembert import nothing
"""
    found = list(imports(ROOT / "principles" / "kane.py", ast.parse(source)))
    assert found == [("algebra", "tape"), ("geometry", "frame"), ("principles", "base"), ("errors",), ()]


def test_principles_never_import_one_another():
    for importer, imported in EDGES:
        if importer[:1] == imported[:1] == ("principles",) and len(importer) > 1:
            assert imported == ("principles", "base"), f"{'.'.join(importer)} imports {'.'.join(imported)}: two routes would be one"


def test_numbers_are_computed_without_knowing_the_principle():
    for importer, imported in EDGES:
        if importer[:1] in {(layer,) for layer in METHOD_BLIND}:
            assert imported[:1] != ("principles",), f"{'.'.join(importer)} imports {'.'.join(imported)}"


def annotated(tree: ast.Module) -> set[ast.AST]:
    """All nodes inside annotations."""
    roots = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            roots.append(node.returns)
        elif isinstance(node, ast.arg | ast.AnnAssign):
            roots.append(node.annotation)
    return {inner for root in roots if root is not None for inner in ast.walk(root)}


def used_though_imported_for_annotations(tree: ast.Module) -> set[str]:
    exempt, inside = for_annotations(tree), annotated(tree)
    late = {
        (alias.asname or alias.name).split(".")[0]
        for node in exempt
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    # a function that imports the same name for itself may use it
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and node not in exempt:
            late -= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node not in inside and node not in exempt}
    return late & used


def test_imports_for_annotations_are_used_in_annotations_only():
    assert {} == {name(file): used for file, tree in PARSED.items() if (used := used_though_imported_for_annotations(tree))}
    assert {"x"} == used_though_imported_for_annotations(ast.parse("if TYPE_CHECKING:\n    import x\nx.y()"))


def test_public_names_are_listed_once_and_sorted():
    names = list(getattr(dalembert, "__all__", []))
    assert sorted(set(names)) == names
    assert all(hasattr(dalembert, public) for public in names)


def test_import_is_light():
    program = f"import sys, dalembert; print([heavy for heavy in {HEAVY} if heavy in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout.strip() == "[]"


# files are written whole by dalembert.files; the cache of compiled code tests what it reads
WRITERS = ("files.py", "numerics/cache.py")


def writes(tree: ast.Module) -> Iterator[str]:
    """Calls that write to a file by its name."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        modes = [
            a.value for a in [*node.args, *(k.value for k in node.keywords)] if isinstance(a, ast.Constant) and isinstance(a.value, str)
        ]
        if called in ("write_text", "write_bytes") or (called == "open" and any(m[:1] in ("w", "x", "a") and len(m) < 4 for m in modes)):
            yield ast.unparse(node)


def test_files_are_written_whole():
    found = [f"{name(file)}: {call}" for file, tree in PARSED.items() for call in writes(tree) if name(file) not in WRITERS]
    # what is written to a part, or to nowhere
    assert [] == [call for call in found if ": part.open(" not in call and "os.devnull" not in call]
    assert ["path.write_text('x')"] == list(writes(ast.parse("path.write_text('x')")))
