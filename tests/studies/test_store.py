"""A study in a file: what is done is never lost, and an interrupted study leaves the file of one
that was not.
"""

from __future__ import annotations

import hashlib
import random
import shutil
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

import dalembert as da
from dalembert import gallery
from dalembert.analysis.studies.zarr_store import ZarrStore

OVER = {"alpha": stats.uniform(-3, 6), "m_1": [1.0, -1.0]}
ASKED = {
    "over": OVER,
    "n": 20,
    "keep": ["alpha", "max(beta/2)", "beta"],
    "at": [0.5, 1.0],
    "chunk": 8,
    "audit": False,
}


def contents(path):
    return {
        str(f.relative_to(path)): hashlib.sha256(f.read_bytes()).hexdigest()
        for f in sorted(path.rglob("*"))
        if f.is_file()
    }


@pytest.fixture(scope="module")
def pendulum():
    return gallery.build("double-pendulum")


@pytest.fixture(scope="module")
def whole(pendulum, tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "study.zarr"
    da.ensemble(pendulum, 1, save=path, **ASKED)
    return path


def test_a_file_holds_what_a_study_in_memory_does(pendulum, whole):
    saved, here = da.open_study(whole), da.ensemble(pendulum, 1, **ASKED).data
    assert set(saved.variables) == set(here.variables)
    for name in here.variables:
        a, b = saved[name].values, here[name].values
        assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), name
    assert "a mass must be positive" in saved["reason"].sel(m_1=-1.0).values[0]


def test_an_interrupted_study_goes_on_to_the_same_file(pendulum, whole, tmp_path, monkeypatch):
    path, write = tmp_path / "study.zarr", ZarrStore.write
    written = []

    def interrupted(self, first, chunk):
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(first)
        write(self, first, chunk)

    monkeypatch.setattr(ZarrStore, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        da.ensemble(pendulum, 1, save=path, **ASKED)
    half = da.open_study(path)
    assert 24 == int((half["outcome"] == 4).sum())
    monkeypatch.setattr(ZarrStore, "write", write)
    again = da.ensemble(pendulum, 1, save=path, **ASKED)
    assert [0, 8] == written
    assert {"finished": 20, "refused": 20} == again.outcomes
    assert contents(whole) == contents(path)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"rtol": 1e-8}, "rtol is 1e-09 there, 1e-08 here"),
        ({"keep": "alpha"}, r"keep is alpha, max\(beta/2\), beta there, alpha here"),
        ({"seed": 1}, "members is 2 × 20, "),
        ({"start": {"beta": 0.1}}, "start is nothing there, beta = 0.1 here"),
        ({"values": {"g": 1.62}}, "values is nothing there, g = 1.62 here"),
    ],
)
def test_a_file_of_another_study_is_refused_and_left_alone(pendulum, whole, changed, told):
    before = contents(whole)
    with pytest.raises(da.BadStudy, match=told):
        da.ensemble(pendulum, 1, save=whole, **{**ASKED, **changed})
    assert before == contents(whole)


def test_another_system_is_told_by_its_equations(whole):
    with pytest.raises(da.BadStudy, match="equations is"):
        da.ensemble(gallery.build("double-pendulum", m_1=2), 1, save=whole, **ASKED)


def test_what_is_no_study_is_refused(pendulum, tmp_path):
    (tmp_path / "notes.zarr").write_text("mine", encoding="utf-8")
    with pytest.raises(da.BadStudy, match="not a file of a study"):
        da.ensemble(pendulum, 1, save=tmp_path / "notes.zarr", **ASKED)
    assert "mine" == (tmp_path / "notes.zarr").read_text(encoding="utf-8")
    with pytest.raises(da.BadStudy, match=r"ends in \.zarr"):
        da.ensemble(pendulum, 1, save=tmp_path / "study.csv", **ASKED)
    with pytest.raises(da.BadStudy, match="cannot be read"):
        da.open_study(tmp_path / "nothing.zarr")


# ends at once before it opens or renames the n-th file of the study, as if it were killed there; 0
# lets it live and counts them
PROGRAM = """
import os, sys
from scipy import stats
import dalembert as da
from dalembert import gallery
path, last, seen = sys.argv[1], int(sys.argv[2]), 0
def watch(event, given):
    global seen
    if event in ("open", "os.rename", "os.mkdir") and path in str(given[0]):
        seen += 1
        if seen == last:
            os._exit(9)
sys.addaudithook(watch)
over = {"alpha": stats.uniform(-3, 6), "m_1": [1.0, -1.0]}
options = dict(n=3000, keep=["alpha", "max(beta)"], chunk=250, threads=1, save=path)
da.ensemble(gallery.build("double-pendulum"), 10, over=over, **options)
print(seen)
"""


def run_until(path, last):
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path), str(last)],
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_a_study_killed_at_five_random_places_leaves_the_same_file(tmp_path):
    whole, path = tmp_path / "whole.zarr", tmp_path / "study.zarr"
    count = int(run_until(whole, 0).stdout)
    chance, killed, partly = random.Random(5), 0, 0
    while killed < 5:
        ended = run_until(path, chance.randrange(1, count // 3))
        if ended.returncode == 0:
            shutil.rmtree(path)
            continue
        assert 9 == ended.returncode, ended.stderr
        killed += 1
        partly += 0 < done(path) < 24
    assert partly
    assert 0 == run_until(path, 0).returncode
    assert contents(whole) == contents(path)


def done(path):
    """Chunks that are marked as done: a chunk of zeros has no file."""
    return len(list((path / "done" / "c").iterdir())) if (path / "done" / "c").is_dir() else 0
