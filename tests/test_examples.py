"""Every example runs as it is written, and the two showpieces stay short."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SOURCES = EXAMPLES.parent / "src"
# the file, the most lines of code it may have, the picture it saves
SHOWPIECES = [
    ("double_pendulum.py", 6, "double-pendulum.svg"),
    ("rolling_disk.py", 8, "rolling-disk.svg"),
]
# from a blank file to a page, in thirty lines at most
MODELS = ["belt", "crane", "furuta-pendulum", "gyroscope", "quarter-car", "segway", "sliding-disk"]


def test_all_examples_are_listed():
    models = [f"{name.replace('-', '_')}.py" for name in MODELS]
    models.append("furuta_swing_up.py")
    assert sorted(p.name for p in EXAMPLES.glob("*.py")) == sorted(
        [*models, *(name for name, *_ in SHOWPIECES)]
    )


def test_control_from_optimum_to_filter_is_short_and_has_its_picture():
    text = (EXAMPLES / "furuta_swing_up.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 40
    picture = EXAMPLES.parent / "docs" / "pictures" / "furuta-swing-up.png"
    assert 0 < picture.stat().st_size <= 60_000


@pytest.mark.slow
def test_control_from_optimum_to_filter_ends_upright(tmp_path, monkeypatch):
    pytest.importorskip("pounce")
    monkeypatch.chdir(tmp_path)
    names = {}
    code = (EXAMPLES / "furuta_swing_up.py").read_text(encoding="utf-8")
    exec(compile(code, "furuta_swing_up.py", "exec"), names)
    assert names["best"].audit.passed
    assert abs(names["run"]["theta"][-1]) < 0.02
    assert (tmp_path / "furuta-swing-up.png").is_file()


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_short_and_has_its_picture(name):
    assert (
        len((EXAMPLES / f"{name.replace('-', '_')}.py").read_text(encoding="utf-8").splitlines())
        <= 30
    )
    assert 0 < (EXAMPLES.parent / "docs" / "pictures" / f"{name}.png").stat().st_size <= 60_000


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_model_runs_from_blank_file_to_page(name, tmp_path):
    pytest.importorskip("control")
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / f"{name.replace('-', '_')}.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=300,
    )
    assert 0 == done.returncode, done.stderr
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "<math" in (tmp_path / f"{name}.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "most", "picture"), SHOWPIECES)
def test_a_showpiece_is_short_and_saves_its_plot(name, most, picture, tmp_path):
    lines = [
        line
        for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()
        if line.strip() and not line.startswith("#")
    ]
    assert len(lines) <= most
    environment = {
        **os.environ,
        "PYTHONPATH": str(SOURCES),
        "DALEMBERT_CACHE": str(tmp_path / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=60,
    )
    assert 0 == done.returncode, done.stderr
    assert f"saved {picture}" == done.stdout.strip()
    assert (tmp_path / picture).read_text(encoding="utf-8").startswith("<svg ")
