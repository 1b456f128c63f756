"""derive: frames of vectors and points of moments."""

from cli.running import run


def test_vectors_in_a_named_frame():
    result = run("derive", "vehicle", "--steps", "brief", "--frame", "N")
    assert 0 == result.exit_code
    assert "∂v/∂u₂ of C       = −h cos θ N.x − h sin θ N.y" in result.stdout


def test_a_frame_that_is_not_there():
    result = run("derive", "vehicle", "--frame", "Q")
    assert 2 == result.exit_code
    assert "dalembert: --frame 'Q': unknown (--frame takes N, B)\n" == result.stderr


def test_moments_about_any_point():
    # Bar00 after (50): the moment balance about A contains no force of the row at A
    args = ("derive", "vehicle", "--by", "newton-euler", "--steps", "brief")
    about_A, about_G = run(*args, "--about", "vehicle=A"), run(*args)
    assert 0 == about_A.exit_code == about_G.exit_code
    moments = [
        next(line for line in r.stdout.splitlines() if "moment on vehicle" in line)
        for r in (about_A, about_G)
    ]
    assert "λ" not in moments[0]
    assert "λ" in moments[1]
    end = about_G.stdout[about_G.stdout.index("Equations of motion") :]
    assert end in about_A.stdout


def test_points_that_are_not_there():
    for about, words in (
        ("vehicle=Z", "--about vehicle= 'Z': unknown"),
        ("car=A", "--about 'car': unknown"),
    ):
        result = run("derive", "vehicle", "--by", "newton-euler", "--about", about)
        assert 2 == result.exit_code
        assert words in result.stderr
    result = run("derive", "vehicle", "--about", "vehicle=A")
    assert 2 == result.exit_code
    assert "add --by newton-euler" in result.stderr
