"""The sources' ten systems as files: the equations of the gallery, what the books print, and their misprints caught by dimensions."""

from __future__ import annotations

from pathlib import Path

import pytest

from dalembert import gallery
from dalembert.cli.program import subject
from dalembert.modelfile.places import BadModel
from dalembert.modelfile.reader import load_model, read_model
from dalembert.modelfile.templates import TEMPLATES
from same_equations import equal

FILES = sorted((Path(__file__).parents[2] / "examples" / "models").glob("*.toml"))


def test_there_are_ten():
    assert 10 == len(FILES)
    assert {f.stem for f in FILES} <= set(gallery.names())


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_a_file_has_the_equations_of_the_gallery(file):
    entry = gallery.entry(file.stem)
    s = load_model(file)
    assert equal(entry.build(), s)
    # every symbol has a dimension, and the same run is proposed
    assert set(s.symbols) == set(s.known_dimensions())
    assert dict(entry.start) == s.settings.run.get("start", {})
    assert entry.duration == s.settings.run["duration"]
    described = subject(str(file))
    assert (entry.title, entry.source, entry.description) == (described.title, described.source, described.description)
    assert [p.label for p in entry.printed] == [r.label for r in described.results]


# what is printed, and what is right; SOURCES of the gallery say where
MISPRINTS = (
    # H_G for its rate
    ("free-body", "I_1*omega_1 + (I_3 - I_2)*omega_2*omega_3 - M_1", "I_1*omega_1' + (I_3 - I_2)*omega_2*omega_3 - M_1"),
    # a column without L
    ("vehicle", "X' - cos(theta)*u1 + sin(theta)*u2", "X' - cos(theta)*u1 + L*sin(theta)*u2"),
    # a row without L
    (
        "vehicle",
        "m*X''*sin(theta) + m*Y''*cos(theta) + I_G*theta'' - (F_C + F_D)*h",
        "-m*L*X''*sin(theta) + m*L*Y''*cos(theta) + I_G*theta'' - (F_D - F_C)*h",
    ),
    # a term of T without a
    ("cart-and-bar", "(M + m)*x'**2/2 + m*x'*theta'*cos(theta)", "(M + m)*x'**2/2 + m*a*x'*theta'*cos(theta)"),
    (
        "cart-and-bar",
        "(M + m)*x'' + m*theta''*cos(theta) + k*x - F",
        "(M + m)*x'' + m*a*theta''*cos(theta) + k*x - F",
    ),
)


@pytest.mark.parametrize(("name", "printed", "right"), MISPRINTS)
def test_misprints_of_the_wrong_dimension_are_caught(name, printed, right):
    file = next(f for f in FILES if f.stem == name)
    text = file.read_text(encoding="utf-8")
    read_model(f'{text}\n[[printed]]\nlabel = "right"\nresidual = "{right}"\n')
    with pytest.raises(BadModel, match="unlike terms") as refused:
        read_model(f'{text}\n[[printed]]\nlabel = "misprint"\nresidual = "{printed}"\n')
    assert text.count("\n") + 4 == refused.value.line
    # in the expression, not at its key
    assert refused.value.column > len('residual = "')


def test_a_damper_in_the_wrong_unit_is_caught():
    # a torque follows from it, so it is not in N s/m
    text = next(f for f in FILES if f.stem == "positioning-device").read_text(encoding="utf-8")
    with pytest.raises(BadModel, match=r"damper: .* but \[N m\] is needed"):
        read_model(text.replace("2 N*m*s", "2 N*s/m"))


@pytest.mark.parametrize("kind", TEMPLATES)
def test_files_to_begin_with_can_be_used(kind):
    s = read_model(TEMPLATES[kind])
    assert s.known_dimensions()
    assert "duration" in s.settings.run
