"""A folder of problems and answers → a table: exercise, student, verdict, points, and the sentence
for each answer.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from dalembert.analysis.verify.result import Verification
from dalembert.analysis.verify.verify import verify
from dalembert.errors import BadDescription, DalembertError
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.interface.exercises.problem import EQUATIONS, ExerciseProblem, read_problem
from dalembert.mechanics.model.system import System

ANSWERS: Final = (".txt", ".tex", ".md")
LARGEST: Final = 2**20


@dataclass(frozen=True)
class Grade:
    """The verdict on one answer."""

    exercise: str
    student: str
    verdict: str
    points: float
    most: float
    sentence: str
    # the smallest correction of each wrong row
    corrections: tuple[str, ...] = ()


@dataclass(frozen=True)
class GradeTable(Displayable):
    """The grades of a folder."""

    folder: str
    grades: tuple[Grade, ...]

    def csv(self) -> str:
        """The table as CSV."""
        file = io.StringIO()
        table = csv.writer(file, lineterminator="\n")
        table.writerow(
            ("exercise", "student", "verdict", "points", "most", "sentence", "corrections")
        )
        for g in self.grades:
            table.writerow(
                (
                    g.exercise,
                    g.student,
                    g.verdict,
                    f"{g.points:g}",
                    f"{g.most:g}",
                    g.sentence,
                    "; ".join(g.corrections),
                )
            )
        return file.getvalue()

    def __str__(self) -> str:
        wide = [
            max((len(getattr(g, name)) for g in self.grades), default=0)
            for name in ("exercise", "student")
        ]
        lines = [
            f"{g.exercise:<{wide[0]}}  {g.student:<{wide[1]}}  {g.points:>5g}/{g.most:g}  "
            f"{g.sentence}"
            for g in self.grades
        ]
        return "\n".join(lines)


def grade_folder(folder: Path) -> GradeTable:
    """Grade every answer: NAME.toml is a problem, NAME/STUDENT.txt (or .tex) an answer to it."""
    if not folder.is_dir():
        msg = (
            f"{folder} is no folder; give one with problem files NAME.toml and answers "
            "NAME/STUDENT.txt"
        )
        raise BadDescription(msg)
    problems = sorted(folder.glob("*.toml"))
    if not problems:
        msg = (
            f"{folder} has no problem file (NAME.toml); `dalembert exercise new SYSTEM` writes one"
        )
        raise BadDescription(msg)
    grades = [grade for file in problems for grade in _grades(folder, file)]
    if not grades:
        msg = (
            f"{folder} has no answers: they are text files in a folder with the name of the "
            f"problem, {problems[0].stem}/STUDENT.txt"
        )
        raise BadDescription(msg)
    return GradeTable(str(folder), tuple(grades))


def _grades(folder: Path, file: Path) -> Iterator[Grade]:
    problem = read_problem(file)
    # one system for all answers: its true equations are derived once
    system = problem.system()
    answers = folder / file.stem
    for path in sorted(answers.iterdir()) if answers.is_dir() else ():
        # no path is followed out of the folder
        if (
            path.suffix.lower() in ANSWERS
            and path.is_file()
            and folder.resolve() in path.resolve().parents
        ):
            yield grade_answer(problem, system, file.stem, path)


def grade_answer(problem: ExerciseProblem, system: System, exercise: str, path: Path) -> Grade:
    """One answer; what cannot be read is a grade with its reason, so that nothing is lost."""
    most = problem.scheme.most
    try:
        if path.stat().st_size > LARGEST:
            return Grade(
                exercise,
                path.stem,
                "refused",
                0.0,
                most,
                f"The file has {path.stat().st_size} bytes; at most {LARGEST} are read.",
            )
        of = None if problem.asks == EQUATIONS else problem.asks
        result = verify(
            system,
            path.read_bytes(),
            of=of,
            let=dict(problem.let),
            marks=problem.scheme,
            attribute=False,
        )
    except (DalembertError, OSError) as refusal:
        sentence = " | ".join(line.strip() for line in str(refusal).splitlines()[:2])
        return Grade(exercise, path.stem, "refused", 0.0, most, f"Not read: {sentence}")
    return Grade(
        exercise,
        path.stem,
        result.verdict,
        _points(result, most),
        most,
        result.sentence,
        tuple(_corrections(result)),
    )


def _points(result: Verification, most: float) -> float:
    if result.points is not None:
        return result.points
    return most if result.holds else 0.0


def _corrections(result: Verification) -> Iterator[str]:
    for k, row in enumerate(result.rows, 1):
        if row.corrections:
            changes = ", ".join(change.sentence for change in row.corrections[0])
            several = f" (or {len(row.corrections) - 1} other)" if len(row.corrections) > 1 else ""
            yield f"row {k}: {changes}{several}"


def as_data(table: GradeTable) -> list[dict[str, Any]]:
    """The table for JSON."""
    return [
        {
            "exercise": g.exercise,
            "student": g.student,
            "verdict": g.verdict,
            "points": g.points,
            "most": g.most,
            "sentence": g.sentence,
            "corrections": list(g.corrections),
        }
        for g in table.grades
    ]
