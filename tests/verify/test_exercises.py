"""Problem files, their pages, and the table of a folder of answers."""

import csv
import io
from pathlib import Path

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.interface.exercises.grading import grade_folder
from dalembert.interface.exercises.problem import new_problem, read_problem
from dalembert.interface.exercises.problem_page import problem_page

EXAMPLE = Path(__file__).parents[2] / "examples" / "exercises"


@pytest.fixture
def problem(tmp_path):
    file = tmp_path / "cart.toml"
    file.write_text(new_problem(gallery.build("cart-and-bar"), points=8), encoding="utf-8")
    return file


def test_a_new_problem_can_be_read(problem):
    read = read_problem(problem)
    assert (8, "equations") == (read.scheme.most, read.asks)
    assert "x and theta" in read.task


def test_every_student_has_numbers_of_their_own_and_keeps_them(problem):
    read = read_problem(problem)
    anna, ben = read.numbers_for("anna"), read.numbers_for("ben")
    assert anna == read_problem(problem).numbers_for("anna")
    assert anna != ben
    assert all(low <= anna[name] <= high for name, (low, high) in read.numbers.items())
    assert anna["m"] == pytest.approx(float(read.system("anna").symbols["m"].value))


def test_the_page_shows_the_solution_only_where_it_is_asked_for(problem):
    read = read_problem(problem)
    page, solved = problem_page(read, student="anna"), problem_page(read, solution=True)
    assert "Derive the equations of motion" in page
    assert "<svg" in page
    assert "Numbers for anna" in page
    assert "Generalized" not in page
    assert "Generalized inertia forces" in solved


@pytest.mark.slow
def test_the_page_may_show_a_motion(problem):
    assert "<iframe" in problem_page(read_problem(problem), motion=True)


def test_the_committed_example_is_what_grading_gives():
    graded = list(csv.reader(io.StringIO(grade_folder(EXAMPLE).csv())))
    expected = list(csv.reader(io.StringIO((EXAMPLE / "grades.csv").read_text(encoding="utf-8"))))
    assert expected == graded
    assert 31 == len(graded)


def test_a_scheme_may_be_changed(problem, tmp_path):
    text = problem.read_text(encoding="utf-8").replace("sign = 0.25", "sign = 1.0")
    problem.write_text(text, encoding="utf-8")
    (tmp_path / "cart").mkdir()
    rows = (EXAMPLE / "cart" / "clara.txt").read_text(encoding="utf-8")
    (tmp_path / "cart" / "clara.txt").write_text(rows, encoding="utf-8")
    (grade,) = grade_folder(tmp_path).grades
    assert (4.0, 8.0) == (grade.points, grade.most)


def test_answers_that_cannot_be_read_are_kept_with_their_reason(problem, tmp_path):
    folder = tmp_path / "cart"
    folder.mkdir()
    (folder / "empty.txt").write_text("", encoding="utf-8")
    (folder / "latin.txt").write_bytes(b"x'' = \xe9")
    (folder / "large.txt").write_text("x" * 2**21, encoding="utf-8")
    (folder / "notes.pdf").write_bytes(b"%PDF")
    grades = grade_folder(tmp_path).grades
    assert ["empty", "large", "latin"] == [g.student for g in grades]
    assert {"refused"} == {g.verdict for g in grades}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("asks =", "ask =", "did you mean 'task'"),
        ("[exercise]", "[excercise]", "unknown key"),
        ("m = [0.5, 1.5]", "m = 3", "a range"),
        ("m = [0.5, 1.5]", "mm = [0.5, 1.5]", "no constant 'mm'"),
        ("most = 8", "most = 8\nmosst = 3", "did you mean 'most'"),
        ("sign = 0.25", "sign = 7", "from 0 to 1"),
        ("seed = 1", "seed =", "not TOML"),
    ],
)
def test_mistakes_in_problem_files_are_refused(problem, old, new, words):
    problem.write_text(problem.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(da.DalembertError, match=words):
        read_problem(problem)


def test_folders_without_problems_or_answers(tmp_path, problem):
    with pytest.raises(da.DalembertError, match="no answers"):
        grade_folder(tmp_path)
    with pytest.raises(da.DalembertError, match="no folder"):
        grade_folder(tmp_path / "nowhere")
    problem.unlink()
    with pytest.raises(da.DalembertError, match="no problem file"):
        grade_folder(tmp_path)
