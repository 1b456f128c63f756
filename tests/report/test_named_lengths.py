"""|P − Q| keeps its own symbol in print, and what is printed is what was proved."""

import pickle

import pytest

import dalembert as da


def two_particles(*, named=True):
    s = da.System("Two particles")
    x, y, X, Y = s.coordinates("x y X Y")
    k, l, m, M = s.constants(k="10 N/m", l="1 m", m="1 kg", M="2 kg")
    P, Q = s.O.offset(x * s.N.x + y * s.N.y, "P"), s.O.offset(X * s.N.x + Y * s.N.y, "Q")
    s.particle("p", m, P)
    s.particle("q", M, Q)
    s.spring(k, P, Q, rest=l)
    if named:
        s.length("r", Q, P)
    return s


@pytest.mark.parametrize("derive", [da.kane, da.lagrange])
def test_rows_contain_the_symbol_and_define_it(derive):
    *rows, definition = derive(two_particles()).equations.text().splitlines()
    assert "m ẍ = k l x/r − k x − k l X/r + k X" == rows[0]
    assert "r = √((x − X)² + (y − Y)²)" == definition
    assert not any("√" in row for row in rows)


def test_the_printed_equations_are_right_and_a_wrong_definition_is_not():
    s = two_particles()
    text = da.kane(s).equations.text()
    plain = two_particles(named=False)
    assert da.verify(plain, text).holds
    assert not da.verify(plain, text.replace("(y − Y)²", "(y + Y)²")).holds


def test_derivations_and_tables_show_it():
    page = str(da.kane(two_particles()).explain(level="teach"))
    assert "V = 1/2 k r² − k l r + 1/2 k l²" in page
    row = next(line for line in page.splitlines() if line.startswith("r       r     length"))
    assert "√((x − X)² + (y − Y)²)" in row
    assert row.endswith(" m")
    assert "r &= \\sqrt" in da.kane(two_particles()).equations.latex()


def test_it_is_an_expression_and_survives_pickling():
    s = two_particles(named=False)
    r = s.length("r", s.space.points[1], s.space.points[2])
    run = da.simulate(s, 0.2, start={"X": 2.0})
    away = ((run["x"] - run["X"]) ** 2 + (run["y"] - run["Y"]) ** 2) ** 0.5
    assert away == pytest.approx(run[r], rel=1e-15)
    copy = pickle.loads(pickle.dumps(s))
    assert str(da.kane(s).equations) == str(da.kane(copy).equations)


def test_texts_and_files_know_it(tmp_path):
    s = two_particles()
    run = da.simulate(s, 0.5, start={"X": 2.0}, events=[da.event("r - 3/2", stop=True)])
    assert 1.5 == pytest.approx(run["r"][-1], rel=1e-9)
    s.save(tmp_path / "two.toml")
    assert str(da.kane(s).equations) == str(da.kane(da.load(tmp_path / "two.toml")).equations)


def test_bad_lengths_are_refused():
    s = two_particles()
    P = s.space.points[1]
    with pytest.raises(da.BadDescription, match="'r' is declared already, as a length"):
        s.constant("r", 1)
    with pytest.raises(da.BadDescription, match=r"give two points, s.length\('d', P, Q\)"):
        s.length("d", P, P)
    with pytest.raises(da.BadDescription, match="keep their distance; declare it as a constant"):
        s.length("d", P, P.offset(s["l"] * s.N.x))
