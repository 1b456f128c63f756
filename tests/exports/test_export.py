"""What can be asked for, what is refused, and where it goes."""

from __future__ import annotations

import pytest

import dalembert as da
from cli.running import run
from dalembert import gallery
from dalembert.exchange.exports.formats import FORMATS
from dalembert.exchange.exports.identifiers import ascii_identifier, identifiers


@pytest.fixture
def pendulum():
    return gallery.build("double-pendulum")


def test_an_unknown_format_is_answered_with_all_of_them(pendulum):
    with pytest.raises(
        da.DalembertError, match=f"unknown format 'fortran'; known are {', '.join(FORMATS)}"
    ):
        da.export(pendulum, "fortran")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"real": "half"}, "choose one of 'double', 'float'"),
        ({"speed": 3}, "the format 'c' has no option 'speed'; its options: real"),
        ({"name": "two words"}, "cannot be the name of functions"),
        ({"outputs": "alpha"}, "give a list of expressions"),
        ({"outputs": ["gamma"]}, "gamma"),
        ({"values": {"nothing": 1}}, "'nothing' is not a constant"),
        ({"start": {"alpha": "far"}}, "alpha"),
    ],
)
def test_what_is_wrong_is_said(pendulum, arguments, says):
    with pytest.raises(da.DalembertError, match=says):
        da.export(pendulum, "c", **arguments)


def test_what_is_no_system_is_refused():
    with pytest.raises(da.DalembertError, match="give a System, not str"):
        da.export("double-pendulum", "c")


def test_events_and_callables_are_named(pendulum):
    with pytest.raises(da.NotExportable, match="carries no events, so 'landing' would be lost"):
        da.export(pendulum, "numpy", events=[da.event("alpha", name="landing")])
    cart = gallery.build("cart-and-bar")
    with pytest.raises(
        da.DalembertError,
        match=r"F: a Python function is possible only in da.simulate; here give a number, a table",
    ):
        da.export(cart, "c", inputs={"F": lambda t: t})


def test_inputs_bound_to_expressions_are_gone_and_others_stay():
    cart = gallery.build("cart-and-bar")
    assert "INPUTS = ('F',)" in str(da.export(cart, "numpy"))
    assert "INPUTS = ()" in str(da.export(cart, "numpy", inputs={"F": "2*sin(t)"}))


def test_values_become_the_defaults(pendulum):
    name = next(s.name for s in pendulum.symbols.values() if s.kind == "constant")
    assert f"{name}: float = 7.5" in str(da.export(pendulum, "numpy", values={name: 7.5}))


def test_an_existing_file_is_replaced_whole_or_kept(pendulum, tmp_path, monkeypatch):
    target = tmp_path / "pendulum.py"
    target.write_text("mine")
    monkeypatch.setattr(
        "pathlib.Path.replace",
        lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")),
    )
    with pytest.raises(da.DalembertError, match="No space left on device"):
        da.export(pendulum, "numpy", target)
    assert target.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [target]
    monkeypatch.undo()
    da.export(pendulum, "numpy", target)
    assert "def rates(" in target.read_text()


def test_unwritable_places_and_several_files_for_one_name_are_refused(pendulum, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        da.DalembertError, match=r"cannot write .*Not a directory|cannot write .*File exists"
    ):
        da.export(pendulum, "c", tmp_path / "file")
    with pytest.raises(
        da.DalembertError,
        match=r"several files \(double_pendulum.h, double_pendulum.c\); give a folder",
    ):
        da.export(pendulum, "c", tmp_path / "mine.c")
    with pytest.raises(da.DalembertError, match="give the name of a file or a folder"):
        da.export(pendulum, "c", 3)


def test_identifiers():
    assert ascii_identifier("θ_1.dot.dot") == "theta_1_ddot"
    assert ascii_identifier("2m") == "x2m"
    assert identifiers(["if", "if_", "θ", "theta"], {"if"}) == {
        "if": "if_",
        "if_": "if__",
        "θ": "theta",
        "theta": "theta_",
    }
    assert identifiers(["M", "m"], (), case_insensitive=True) == {"M": "M", "m": "m_"}


def test_the_command_writes_and_says_where(tmp_path):
    done = run("export", "double-pendulum", "--to", "c", "-o", str(tmp_path))
    assert done.exit_code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["double_pendulum.c", "double_pendulum.h"]
    assert "written: " in done.stdout


def test_the_command_refuses_and_warns(tmp_path):
    assert "known are c, " in run("export", "double-pendulum").stderr
    assert "unknown format" in run("export", "double-pendulum", "--to", "cobol").stderr
    done = run("export", "bouncing-ball", "--to", "numpy", "-o", str(tmp_path / "ball.py"))
    assert done.exit_code == 0
    assert "events are not part of numpy" in done.stderr
