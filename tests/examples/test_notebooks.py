"""Every notebook runs from its first cell to its last."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
# run by `make test`; the others by `make test-all`
FAST = {"1-quickstart", "2-rolling"}
SECONDS = 120


@pytest.mark.each_time(1)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(p, id=p.stem, marks=() if p.stem in FAST else pytest.mark.slow)
        for p in NOTEBOOKS
    ],
)
def test_the_notebook_runs(path, tmp_path, monkeypatch):
    if path.stem == "3-robot-from-urdf":
        pytest.importorskip("mujoco")
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    )
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=SECONDS, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    assert any(
        "image" in kind
        for cell in code
        for output in cell.outputs
        for kind in output.get("data", {})
    )


def test_there_are_six_and_none_is_executed_in_the_repository():
    assert 6 == len(NOTEBOOKS)
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        assert [] == [cell.id for cell in cells if cell.cell_type == "code" and cell.outputs]
        assert cells[0].source.startswith("# ")


def test_a_cell_that_fails_is_noticed(tmp_path):
    from nbclient.exceptions import CellExecutionError

    broken = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1/0")])
    with pytest.raises(CellExecutionError):
        NotebookClient(
            broken, timeout=SECONDS, resources={"metadata": {"path": str(tmp_path)}}
        ).execute()
