"""integrals: what it prints and how it ends."""

import pytest

from cli.running import run


def test_the_table_of_the_six_integrals():
    result = run("integrals", "hoist", columns=200)
    assert 0 == result.exit_code
    assert "K₀                = 1/2 (m_Q + m_B) ẋ²" in result.stdout
    for line in (
        "not constant; would be constant if ẍ = 0",
        "does not exist; would be constant if ẍ = 0",
        "There is no potential energy U",
    ):
        assert line in result.stdout


@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
def test_what_is_set_counts_and_a_plot_is_written(tmp_path):
    path = tmp_path / "energies.png"
    result = run(
        "integrals",
        "positioning-device",
        "--set",
        "b=0",
        "--input",
        "Omega=4",
        "--plot",
        str(path),
        columns=200,
    )
    assert 0 == result.exit_code
    assert "constant, because Ω̇ = 0 and b = 0" in result.stdout
    assert "E_Z = K₂ + 𝒰 + Z: largest change" in result.stdout
    assert path.stat().st_size > 1000
