"""simulate --reactions, --guess and --from: what they print, write and refuse."""

import csv

from cli.running import run


def test_reactions_are_printed_and_written(tmp_path):
    path = tmp_path / "forces.csv"
    result = run("simulate", "hoist", "--for", "0.5", "--reactions", str(path))
    assert 0 == result.exit_code
    assert "load of x" in result.stdout
    assert f"written: {path}" in result.stdout
    with path.open(encoding="utf-8") as file:
        names, first, *_ = csv.reader(file)
    # (m_Q + m_B) ẍ with x = 3 cos t at t = 0 (Mit22 34.2)
    assert -9 == float(first[names.index("x: load")])


def test_reactions_that_cannot_be_written_are_kept_elsewhere(tmp_path):
    result = run(
        "simulate", "hoist", "--for", "0.1", "--reactions", str(tmp_path / "nowhere" / "forces.csv")
    )
    assert 1 == result.exit_code
    assert "the result is in" in result.stderr


def test_a_guess_chooses_the_branch_and_from_the_time():
    angles = []
    for guess in ("theta_3=1.5", "theta_3=-2.2"):
        result = run(
            "simulate",
            "four-bar",
            "--for",
            "0.1",
            "--from",
            "0.7",
            "--start",
            "theta_1=1",
            "--guess",
            guess,
        )
        assert 0 == result.exit_code
        assert "start at t = 0.7" in result.stdout
        line = next(
            line for line in result.stdout.splitlines() if line.strip().startswith("theta_3 ")
        )
        angles.append(float(line.split()[1]))
    assert angles[0] > 0 > angles[1]


def test_bad_guess():
    result = run("simulate", "four-bar", "--for", "0.1", "--guess", "omega=1")
    assert 2 == result.exit_code
    assert "omega is not a coordinate that the constraints determine" in result.stderr


def test_reactions_are_a_table_of_commas():
    assert "give one of .csv" in run("simulate", "hoist", "--reactions", "forces.parquet").stderr
