"""A text becomes a System: every element, in any order, with errors that say file, line and
column.
"""

from __future__ import annotations

import json
import pickle

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.exchange.modelfile.reader import read_model
from dalembert.exchange.modelfile.save import toml_text
from dalembert.exchange.modelfile.source_positions import BadModel

PENDULUM = """name = "Pendulum"
gravity = 9.81
pin.theta = "O"
rod.bar = { at = "theta", mass = 1, length = 1 }
run = { duration = 10, start = { theta = 1.0 } }
"""
DISK = """name = "Rolling disk"
coordinates = "x y phi theta psi"
constants = { m = 1, r = 0.5, g = 9.81 }
gravity = "-g*N.z"
frame.D = { axes = "zxz", angles = ["phi", "theta", "psi"], through = "A B" }
point.C = "x*N.x + y*N.y"
point.G = { of = "C", offset = "r*B.y" }
disk.disk = { G = "G", frame = "D", mass = "m", radius = "r", axis = "B.z" }
roll.disk = "C"
"""
CHAIN = """gravity = "g"
constants = { m = 1, l = 0.1, g = 9.81 }
pin.theta_1 = "O"
rod.link_1 = { at = "theta_1", mass = "m", length = "l" }
[[repeat]]
from = 2
n = 10
pin."theta_{i}" = "link_{i-1}.tip"
rod."link_{i}" = { at = "theta_{i}", mass = "m", length = "l" }
"""


def test_a_pendulum_has_at_most_eight_lines():
    assert len(PENDULUM.splitlines()) <= 8
    s = read_model(PENDULUM)
    assert "θ̈" in str(da.kane(s).equations)
    assert s.settings.run == {"duration": 10.0, "start": {"theta": 1.0}}


def test_a_file_says_what_the_gallery_says():
    assert str(da.kane(gallery.build("rolling-disk")).equations) == str(
        da.kane(read_model(DISK)).equations
    )


def test_the_order_of_a_file_does_not_matter():
    turned = "\n".join(reversed(DISK.splitlines()))
    assert str(da.kane(read_model(DISK)).equations) == str(da.kane(read_model(turned)).equations)


def test_json_is_read_by_the_same_table():
    table = {
        "gravity": 9.81,
        "pin": {"theta": "O"},
        "rod": {"bar": {"at": "theta", "mass": 1, "length": 1}},
    }
    assert str(da.kane(read_model(PENDULUM)).equations) == str(
        da.kane(read_model(json.dumps(table), "m.json")).equations
    )


def test_families_are_counted_out():
    assert 10 == len(read_model(CHAIN).q)
    longer = read_model(CHAIN, set={"n": 20, "m": "2"})
    assert 20 == len(longer.q)
    assert 2 == longer.symbols["m"].value


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "said"),
    [
        ("rod.bar", "rodd.bar", 4, 1, "unknown key 'rodd'; did you mean 'rod'?"),
        ("mass = 1", "masss = 1", 4, 27, "did you mean 'mass'?"),
        (
            'at = "theta", mass',
            'at = "thta", mass',
            4,
            18,
            "no point is called 'thta'; did you mean 'theta'?",
        ),
        ("mass = 1", 'mass = "2*m"', 4, 37, "unknown name 'm'"),
        ("mass = 1", 'mass = "2*(3"', 4, 37, "the parenthesis: it is never closed"),
        ("mass = 1", "mass = true", 4, 34, "expected a number or an expression, got true"),
        ("mass = 1", "mass = -1", 4, 1, "a mass must be positive"),
        ("mass = 1, ", "", 4, 1, "needs mass"),
        ("= 9.81", "= ", 2, 11, "this is not TOML"),
        ("duration = 10", "duraton = 10", 5, 9, "did you mean 'duration'?"),
        ("theta = 1.0", "thea = 1.0", 5, 34, "unknown name 'thea'"),
        ('pin.theta = "O"', 'pin.theta = "bar.tip"', 3, 1, "circular"),
        ("gravity = 9.81", "gravity = 9.81\ngravity = 1", 3, 12, "two elements of one name"),
        ("mass = 1", "mass = nan", 4, 34, "not a finite number"),
    ],
)
def test_an_error_has_its_place(old, new, line, column, said):
    with pytest.raises(BadModel) as refused:
        read_model(PENDULUM.replace(old, new), "p.toml")
    assert said in refused.value.message
    assert ("p.toml", line, column) == (
        refused.value.file,
        refused.value.line,
        refused.value.column,
    )
    assert f"p.toml:{line}:{column}: " in str(refused.value)
    assert "^" in str(refused.value).splitlines()[-1]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5000,
        "a = " + "[" * 5000,
        'name = "x"\n[pin]\ntheta = 3',
        "pin = 3",
        "repeat = 5",
        "[[repeat]]\nn = 1000000\npin.a = 'O'",
        "run = 3",
    ],
)
def test_what_is_no_model_is_refused(text):
    with pytest.raises(BadModel):
        read_model(text)


def test_files_that_are_not_read(tmp_path):
    for name, content in (
        ("a.toml", b"\xff\xfe\x00"),
        ("b.toml", b"#" * (2**20 + 1)),
        ("c.toml", None),
    ):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(da.BadDescription):
            da.load(tmp_path / name)


def test_nothing_is_executed():
    for text in (
        "__import__('os').system('true')",
        "(lambda: 1)()",
        "m.__class__",
        "[1 for x in y]",
        "open('/etc/passwd')",
    ):
        with pytest.raises(BadModel):
            read_model(
                f'pin.theta = "O"\nrod.bar = {{ at = "theta", mass = "{text}", length = 1 }}'
            )


def test_a_model_travels_with_its_journal_and_settings():
    s = pickle.loads(
        pickle.dumps(
            read_model(
                CHAIN.replace("m = 1", 'm = "1 kg"')
                .replace("l = 0.1", 'l = "10 cm"')
                .replace("9.81", '"9.81 m/s**2"')
            )
        )
    )
    assert "m" == s.unit("l")
    assert toml_text(s) == toml_text(read_model(toml_text(s)))


def test_coordinates_say_their_dimension():
    text = (
        'coordinates = { x = "m" }\nconstants.m = "1 kg"\npoint.P = "2*x*N.x"\nparticle.p = { '
        'mass = "m", at = "P" }\n'
    )
    assert "m/s" == read_model(text).unit("x'")
    with pytest.raises(BadModel, match="is needed"):
        read_model(text.replace('x = "m"', 'x = "kg"'))


def test_equilibria_and_linear_points_are_settings():
    asked = "equilibrium = { near = { theta = 3 }, box = { theta = [-4, 4] } }"
    s = read_model(f'{PENDULUM}{asked}\nlinear = {{ about = {{ theta = "180 deg" }} }}\n')
    assert {"near": {"theta": 3.0}, "box": {"theta": (-4.0, 4.0)}} == s.settings.equilibrium
    assert pytest.approx(3.141592653589793) == s.settings.linear["about"]["theta"]


@pytest.mark.parametrize(
    ("element", "begins"),
    [
        ('potential.V = "k*l**2*theta**2/2 + m*l"', "m*l"),
        ('potential.V = "k*theta**2"', "k*"),
        ('potential.V = "k*l**2*(1 - cos(l))"', "cos"),
        ('constrain.c = "theta*(l + m)"', "m)"),
        ('force.F = { F = "m*g*N.x + m*N.y", at = "theta" }', "m*N.y"),
        ('force.F = { F = "m*g*N.x + m*N.x", at = "theta" }', "m*N.x"),
        ('point.B = "l*N.x + (l + k)*N.y"', "k)"),
        ('particle.p = { mass = 3, at = "theta" }', "3,"),
        ('expressions.z = "m + l"\npotential.V = "z*g*l"', 'l"'),
    ],
)
def test_a_dimension_error_points_to_the_term(element, begins):
    text = (
        'constants = { m = "2 kg", l = "50 cm", g = "9.81 m/s**2", k = "3 N/m" }\npin.theta = "O"\n'
    )
    with pytest.raises(BadModel) as refused:
        read_model(f'{text}rod.bar = {{ at = "theta", mass = "m", length = "l" }}\n{element}\n')
    line = element.partition("\n")[0]
    assert (4, line.index(begins) + 1) == (refused.value.line, refused.value.column)
