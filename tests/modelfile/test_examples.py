"""The sources' ten systems as files: the equations of the gallery, what the books print, and
their misprints caught by dimensions.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dalembert import gallery
from dalembert.cli.system_lookup import find_system
from dalembert.exchange.modelfile.reader import load_model, read_model
from dalembert.exchange.modelfile.source_positions import BadModel
from dalembert.exchange.modelfile.templates import TEMPLATES
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
    described = find_system(str(file))
    assert (entry.title, entry.source, entry.description) == (
        described.title,
        described.source,
        described.description,
    )
    assert [p.label for p in entry.printed] == [r.label for r in described.results]


# what is printed, and what is right; SOURCES of the gallery say where
MISPRINTS = (
    # H_G for its rate
    (
        "free-body",
        "I_1*omega_1 + (I_3 - I_2)*omega_2*omega_3 - M_1",
        "I_1*omega_1' + (I_3 - I_2)*omega_2*omega_3 - M_1",
    ),
    # Bar00 (11): the same in the law itself
    ("free-body", "M_1 - I_1*omega_1", "M_1 - (I_1*omega_1' + (I_3 - I_2)*omega_2*omega_3)"),
    # Mit22 (42): r (r · r) for r (r · ω̇), along 1
    (
        "free-body",
        "m*((x**2 + y**2 + z**2)*omega_1' - x*(x**2 + y**2 + z**2))",
        "m*((x**2 + y**2 + z**2)*omega_1' - x*(x*omega_1' + y*omega_2' + z*omega_3'))",
    ),
    # a column without L
    ("vehicle", "X' - cos(theta)*u1 + sin(theta)*u2", "X' - cos(theta)*u1 + L*sin(theta)*u2"),
    # a row without L
    (
        "vehicle",
        "m*X''*sin(theta) + m*Y''*cos(theta) + I_G*theta'' - (F_C + F_D)*h",
        "-m*L*X''*sin(theta) + m*L*Y''*cos(theta) + I_G*theta'' - (F_D - F_C)*h",
    ),
    # a term of T without a
    (
        "cart-and-bar",
        "(M + m)*x'**2/2 + m*x'*theta'*cos(theta)",
        "(M + m)*x'**2/2 + m*a*x'*theta'*cos(theta)",
    ),
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


# misprints of the right dimension, by name: other means than units must find them
LIKE_THE_RIGHT_ONE = {
    "Bar00 (62), ½ lost": ("free-body", "m*(x'**2 + y'**2 + z'**2) - M_1"),
    "Bar00 (55), signs of the second row, with L": (
        "vehicle",
        "m*L*X''*sin(theta) + m*L*Y''*cos(theta) + I_G*theta'' - (F_C + F_D)*h",
    ),
    "Mei85 Ex. 7.4 (b), M for M + m": (
        "cart-and-bar",
        "M*x'**2/2 + m*a*x'*theta'*cos(theta) + 2*m*a**2*theta'**2/3",
    ),
    "Mit22 (42), sign of the second term": (
        "free-body",
        "m*((x**2 + y**2 + z**2)*omega_1' + x*(x*omega_1' + y*omega_2' + z*omega_3'))",
    ),
    "Mit22 34.3, sign of K₀ in 𝓗": (
        "positioning-device",
        "7*m*v**2/10 + 7*m*Omega**2*(L + s)**2/10 + k*s**2/2",
    ),
    "Mit22 (3), sign of 𝒫": ("positioning-device", "b*v**2/r**2 + b*omega_y*(Omega - omega_y)"),
}
# letters, indices, order and words: Bar00 (8), (10), (12), (22)–(23), (27), (28), (38)–(40), (43),
# (47), (59), Mar (5), (20), Mei85 (7.11),
# (7.33), Ex. 7.2 (a), Ex. 7.3 (g), Gre03 (4.39), Mit22 (2), (9), (12), (18), (28), (54), (55),
# 34.1.3, 34.2, 34.3 (last bullet)


@pytest.mark.parametrize("label", LIKE_THE_RIGHT_ONE)
def test_misprints_that_units_cannot_show(label):
    name, printed = LIKE_THE_RIGHT_ONE[label]
    text = next(f for f in FILES if f.stem == name).read_text(encoding="utf-8")
    s = read_model(f'{text}\n[[printed]]\nlabel = "misprint"\nresidual = "{printed}"\n')
    assert s.dimension(printed) is not None


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
