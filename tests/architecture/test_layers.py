"""Data flows one way: nothing imports against the arrow, principles never import one another,
heavy packages come late.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import dalembert
from dalembert.foundation.late_imports import LATE_MODULES

ROOT = Path(dalembert.__file__).parent
# the parts and their chapters in order; a module may import its own chapter and those before it
PARTS = {
    "foundation": (
        "array_types",
        "atomic_write",
        "caching",
        "deferred_dataclass",
        "late_imports",
        "renamed_names",
        "shared_keywords",
        "suggestions",
        "display",
    ),
    "symbolic": ("algebra", "units"),
    "mechanics": (
        "geometry",
        "model",
        "kinematics",
        "kinetics",
        "equations",
        "principles",
        "agreement",
    ),
    "runtime": (
        "numerics",
        "ode",
        "states",
        "derivatives",
        "simulation",
        "dynamics",
        "contact",
    ),
    "analysis": (
        "integrals",
        "constraint_analysis",
        "statics",
        "linear",
        "flexible",
        "inverse",
        "studies",
        "optimal",
        "periodic",
        "verify",
        "control",
    ),
    "exchange": ("robots", "modelfile", "exports"),
    "interface": ("api", "report", "page", "studio", "exercises", "agents"),
}
# documented paths and entry points outside the parts
LAYERS = (
    "short_tracebacks",
    "errors",
    *(f"{part}/{chapter}" for part, chapters in PARTS.items() for chapter in chapters),
    "gallery",
    "cli",
    "__main__",
)
# those who only know the common form M u' = f
METHOD_BLIND = (
    "runtime/numerics",
    "runtime/ode",
    "runtime/states",
    "runtime/simulation",
    "analysis/integrals",
    "analysis/constraint_analysis",
)
# those who may speak to the library as a user does, through `import dalembert as da`
USERS = ("gallery", "cli")
HEAVY = ("pint", "sympy", "scipy", "llvmlite", "plotly", "matplotlib", "flint")

FILES = sorted(ROOT.rglob("*.py"))


def module_of(file: Path) -> tuple[str, ...]:
    """('symbolic', 'algebra', 'tape') for symbolic/algebra/tape.py; () for the package itself."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def every_node(tree: ast.AST) -> list[ast.AST]:
    """All nodes of a file, listed once for all tests."""
    nodes: list[ast.AST] | None = getattr(tree, "every_node", None)
    if nodes is None:
        nodes = tree.every_node = list(ast.walk(tree))
    return nodes


def for_annotations(tree: ast.Module) -> set[ast.AST]:
    """All nodes inside `if TYPE_CHECKING:`."""
    blocks = [
        node
        for node in every_node(tree)
        if isinstance(node, ast.If)
        and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
    ]
    return {inner for block in blocks for statement in block.body for inner in ast.walk(statement)}


def exists(module: tuple[str, ...]) -> bool:
    path = ROOT.joinpath(*module)
    return path.is_dir() or path.with_suffix(".py").is_file()


def imports(file: Path, tree: ast.Module) -> Iterator[tuple[str, ...]]:
    """The modules of dalembert that a file imports at run time, wherever in the file."""
    exempt = for_annotations(tree)
    package = (*module_of(file), "") if file.name == "__init__.py" else module_of(file)
    for node in every_node(tree):
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


@pytest.fixture(scope="module", name="parsed")
def parsed_files() -> dict[Path, ast.Module]:
    """All files; a fixture, because so many nodes slow down the tests that follow."""
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in FILES}


@pytest.fixture(scope="module", name="edges")
def import_edges(parsed: dict[Path, ast.Module]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """(importer, imported) of every import at run time."""
    return [
        (module_of(file), imported)
        for file, tree in parsed.items()
        for imported in imports(file, tree)
    ]


def name(file: Path) -> str:
    return str(file.relative_to(ROOT))


def chapter_of(module: tuple[str, ...]) -> str:
    """'symbolic/algebra' for ('symbolic', 'algebra', 'tape'), 'cli' for ('cli', 'derive')."""
    return "/".join(module[:2]) if module[0] in PARTS else module[0]


def test_every_module_belongs_to_a_chapter():
    # a name that is missing here goes into PARTS, in the place where it stands in the flow
    modules = [module_of(file) for file in FILES]
    assert [] == [
        m
        for m in modules
        if m and m not in {(part,) for part in PARTS} and chapter_of(m) not in LAYERS
    ]


def against_the_arrow(importer: tuple[str, ...], imported: tuple[str, ...]) -> bool:
    if not imported:
        # the whole package
        return importer[0] not in USERS
    return LAYERS.index(chapter_of(imported)) > LAYERS.index(chapter_of(importer))


def modules_by_name(tree: ast.AST) -> Iterator[str]:
    """Texts that name a module of this package, f-strings by their beginning."""
    for node in every_node(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            module = node.value.strip(".")
            if re.fullmatch(r"dalembert(\.[a-z_0-9]+)+", module):
                yield module


def test_modules_named_by_texts_follow_the_arrow_or_stand_in_the_table(parsed):
    late = set(LATE_MODULES.values())
    assert [] == [m for m in late if not exists(tuple(m.split(".")[1:]))]
    upward = [
        (name(file), module)
        for file, tree in parsed.items()
        if module_of(file) != ("foundation", "late_imports")
        for module in modules_by_name(tree)
        if exists(tuple(module.split(".")[1:]))
        and module_of(file)
        and against_the_arrow(module_of(file), tuple(module.split(".")[1:]))
    ]
    assert [] == upward
    # the check sees such a name
    assert ["dalembert.cli"] == list(modules_by_name(ast.parse("f('dalembert.cli')")))


def test_nothing_imports_against_the_arrow(edges):
    # the package itself lists the public names of all chapters
    assert [] == [edge for edge in edges if edge[0] and against_the_arrow(*edge)]
    assert against_the_arrow(("symbolic", "algebra", "tape"), ("cli",))
    assert against_the_arrow(("symbolic", "units"), ("mechanics", "geometry", "frame"))
    assert against_the_arrow(("mechanics", "kinetics", "loads"), ())


def sub_chapters(
    edges: list[tuple[tuple[str, ...], tuple[str, ...]]],
) -> dict[tuple[str, ...], set[tuple[str, ...]]]:
    """{folder inside a chapter: the other folders of the same chapter that it imports from}."""
    folders: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for importer, imported in edges:
        here, there = importer[:3], imported[:3]
        inside = len(importer) > 3 and len(imported) > 2 and here != there
        if inside and here[:2] == there[:2] and ROOT.joinpath(*there).is_dir():
            folders.setdefault(here, set()).add(there)
    return folders


def test_folders_inside_a_chapter_import_one_another_in_one_direction(edges):
    folders = sub_chapters(edges)
    simulation = ("runtime", "simulation")
    assert (*simulation, "plotting") in folders[*simulation, "reactions"]
    # a circle is an error that names it
    tuple(TopologicalSorter(folders).static_order())


def test_imports_are_found_wherever_they_stand(edges):
    assert (("symbolic", "algebra", "expression_graph"), ("symbolic", "algebra", "tape")) in edges
    source = """
from typing import TYPE_CHECKING
from dalembert.symbolic.algebra.tape import Tape
from ..geometry import frame
from . import derivation
if TYPE_CHECKING:
    from dalembert.cli import main
def late():
    import dalembert.errors
    from dalembert import nothing
"""
    found = list(imports(ROOT / "mechanics" / "principles" / "kane.py", ast.parse(source)))
    mechanics = ("mechanics",)
    assert found == [
        ("symbolic", "algebra", "tape"),
        (*mechanics, "geometry", "frame"),
        (*mechanics, "principles", "derivation"),
        ("errors",),
        (),
    ]


def test_principles_never_import_one_another(edges):
    for importer, imported in edges:
        principles = ("mechanics", "principles")
        if importer[:2] == imported[:2] == principles and len(importer) > 2:
            assert imported in ((*principles, "derivation"), (*principles, "texts")), (
                f"{'.'.join(importer)} imports {'.'.join(imported)}: two routes would be one"
            )


def test_numbers_are_computed_without_knowing_the_principle(edges):
    for importer, imported in edges:
        if importer and chapter_of(importer) in METHOD_BLIND:
            assert imported[:2] != ("mechanics", "principles"), (
                f"{'.'.join(importer)} imports {'.'.join(imported)}"
            )


def annotated(tree: ast.Module) -> set[ast.AST]:
    """All nodes inside annotations."""
    roots = []
    for node in every_node(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            roots.append(node.returns)
        elif isinstance(node, ast.arg | ast.AnnAssign):
            roots.append(node.annotation)
    return {inner for root in roots if root is not None for inner in ast.walk(root)}


def used_though_imported_for_annotations(tree: ast.Module) -> set[str]:
    exempt = for_annotations(tree)
    late = {
        (alias.asname or alias.name).split(".")[0]
        for node in exempt
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    # a function that imports the same name for itself may use it
    for node in every_node(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and node not in exempt:
            late -= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    if not late:
        return set()
    inside = annotated(tree)
    used = {
        node.id
        for node in every_node(tree)
        if isinstance(node, ast.Name) and node not in inside and node not in exempt
    }
    return late & used


def test_imports_for_annotations_are_used_in_annotations_only(parsed):
    assert {} == {
        name(file): used
        for file, tree in parsed.items()
        if (used := used_though_imported_for_annotations(tree))
    }
    assert {"x"} == used_though_imported_for_annotations(
        ast.parse("if TYPE_CHECKING:\n    import x\nx.y()")
    )


def test_public_names_are_listed_once_and_sorted():
    names = list(getattr(dalembert, "__all__", []))
    assert sorted(set(names)) == names
    assert all(hasattr(dalembert, public) for public in names)


def test_import_is_light():
    program = f"import sys, dalembert; print([heavy for heavy in {HEAVY} if heavy in sys.modules])"
    assert (
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True, text=True
        ).stdout.strip()
        == "[]"
    )


# files are written whole by dalembert.foundation.atomic_write; the cache of compiled code tests
# what it reads
WRITERS = ("foundation/atomic_write.py", "runtime/numerics/object_cache.py")


def writes(tree: ast.Module) -> Iterator[str]:
    """Calls that write to a file by its name."""
    for node in every_node(tree):
        if not isinstance(node, ast.Call):
            continue
        called = (
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        )
        modes = [
            a.value
            for a in [*node.args, *(k.value for k in node.keywords)]
            if isinstance(a, ast.Constant) and isinstance(a.value, str)
        ]
        by_method = isinstance(node.func, ast.Attribute) and called in ("write_text", "write_bytes")
        if by_method or (
            called == "open" and any(m[:1] in ("w", "x", "a") and len(m) < 4 for m in modes)
        ):
            yield ast.unparse(node)


def test_files_are_written_whole(parsed):
    found = [
        f"{name(file)}: {call}"
        for file, tree in parsed.items()
        for call in writes(tree)
        if name(file) not in WRITERS
    ]
    # what is written to a part, or to nowhere
    assert [] == [call for call in found if ": part.open(" not in call and "os.devnull" not in call]
    assert ["path.write_text('x')"] == list(writes(ast.parse("path.write_text('x')")))
