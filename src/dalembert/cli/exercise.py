"""exercise new, page, grade: problems for students, their pages, and the table of their answers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from dalembert.cli.command_registry import Argument, Option
from dalembert.cli.output import Json, print_line, print_result
from dalembert.cli.shared_options import SetValues
from dalembert.cli.system_lookup import find_system
from dalembert.errors import Unknown
from dalembert.foundation.atomic_write import write_text
from dalembert.foundation.suggestions import suggest_name

ACTIONS = ("new", "page", "grade")


Action = Annotated[
    str, Argument("new|page|grade", "Write a problem file, make its page, or grade a folder.")
]
Target = Annotated[str, Argument("TARGET", "new: a system; page: a problem file; grade: a folder.")]
Asks = Annotated[
    str,
    Option("--asks", metavar="WHAT", help="new: equations, or a quantity such as T or dof."),
]
Points = Annotated[
    float, Option("--points", metavar="POINTS", help="new: points for a right answer.")
]
Student = Annotated[
    str, Option("--student", metavar="NAME", help="page: the numbers of this student.")
]
Solution = Annotated[bool, Option("--solution", help="page: with the derivation.")]
Output = Annotated[Path | None, Option("-o", "--output", metavar="FILE", help="Output file.")]


def exercise(
    action: Action,
    target: Target,
    values: SetValues = None,
    *,
    asks: Asks = "equations",
    points: Points = 10.0,
    student: Student = "",
    solution: Solution = False,
    motion: Annotated[bool, Option("--motion", help="page: with an animation.")] = False,
    output: Output = None,
    as_json: Json = False,
) -> None:
    r"""Set and grade exercises.

    \b
    dalembert exercise new cart-and-bar -o course/cart.toml
    dalembert exercise page course/cart.toml -o cart.html
    dalembert exercise page course/cart.toml --solution -o solution.html
    dalembert exercise grade course -o grades.csv
    """
    if action not in ACTIONS:
        msg = f"exercise {action!r:.40}: {suggest_name(action, ACTIONS) or 'new, page or grade'}"
        raise Unknown(msg)
    if action == "new":
        _new(target, values, asks, points, output)
    elif action == "page":
        _page(Path(target), student, output, solution=solution, motion=motion)
    else:
        _grade(Path(target), output, as_json=as_json)


def _new(
    name: str, values: list[str] | None, asks: str, points: float, output: Path | None
) -> None:
    from dalembert.interface.exercises.problem import new_problem

    text = new_problem(find_system(name, values).system, asks=asks, points=points)
    if output is None:
        sys.stdout.write(text)
    else:
        print_line(f"written: {write_text(output, text)}")


def _page(path: Path, student: str, output: Path | None, *, solution: bool, motion: bool) -> None:
    from dalembert.interface.exercises.problem import read_problem
    from dalembert.interface.exercises.problem_page import problem_page

    target = output or path.with_suffix(".solution.html" if solution else ".html")
    page = problem_page(read_problem(path), student=student, solution=solution, motion=motion)
    print_line(f"written: {write_text(target, page)}")


def _grade(folder: Path, output: Path | None, *, as_json: bool) -> None:
    from dalembert.interface.exercises.grading import as_data, grade_folder

    table = grade_folder(folder)
    if output is not None:
        import json

        text = (
            json.dumps(as_data(table), indent=1, ensure_ascii=False) + "\n"
            if output.suffix.lower() == ".json"
            else table.csv()
        )
        print_line(f"written: {write_text(output, text)}")
    elif as_json:
        print_result(as_data(table), as_json=True)
    else:
        print_line(str(table))
