"""Chunks on other processes and on a cluster: the same bits, and nothing lost with a worker."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

import dalembert as da
from dalembert import gallery
from dalembert.analysis.studies import execution

ASKED = {
    "over": {"alpha": stats.uniform(-3, 6), "m_1": [1.0, -1.0]},
    "n": 600,
    "keep": ["alpha", "max(beta)"],
    "chunk": 60,
}


def same(one, other):
    for name in one.data.variables:
        a, b = one.data[name].values, other.data[name].values
        assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), name


@pytest.fixture(scope="module")
def pendulum():
    return gallery.build("double-pendulum")


def test_an_engine_that_is_none_is_refused(pendulum):
    with pytest.raises(da.BadStudy, match=r"give a dask\.distributed\.Client"):
        da.ensemble(pendulum, 1, engine=7, **ASKED)


def test_a_silent_scheduler_is_told_in_one_sentence(pendulum, monkeypatch):
    monkeypatch.setattr(execution, "_CONNECT_TIMEOUT", 0.5)
    with pytest.raises(
        da.StudyFailed,
        match=r"no scheduler answers at tcp://127\.0\.0\.1:9: start one with `dask scheduler`",
    ):
        da.ensemble(pendulum, 1, engine="tcp://127.0.0.1:9", **ASKED)


class OtherVersion:
    """A client whose worker has another version."""

    class scheduler:  # noqa: N801 - as the client calls it
        address = "tcp://here:1"

    def scheduler_info(self):
        return {}

    def wait_for_workers(self, n_workers, timeout):
        pass

    def run(self, function):
        return {"tcp://there:2": "0.0.9"}


def test_a_worker_with_another_version_is_named(pendulum):
    with pytest.raises(
        da.StudyFailed,
        match=r"worker tcp://there:2 has dalembert 0\.0\.9, and here is .*: install the same "
        r"version there",
    ):
        da.ensemble(pendulum, 1, engine=OtherVersion(), **ASKED)


@pytest.mark.slow
def test_processes_compute_the_same_bits(pendulum):
    here = da.ensemble(pendulum, 5, **ASKED)
    with concurrent.futures.ProcessPoolExecutor(
        2, mp_context=multiprocessing.get_context("spawn")
    ) as engine:
        same(here, da.ensemble(pendulum, 5, engine=engine, **ASKED))


@pytest.fixture
def dask_cluster(tmp_path):
    """A scheduler and two workers as processes of their own; (client, the workers by address)."""
    distributed = pytest.importorskip("distributed")
    environment = {
        **os.environ,
        "PYTHONWARNINGS": "ignore",
        "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "30s",
    }
    place = tmp_path / "scheduler.json"
    common = ["--scheduler-file", str(place)]
    command = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        *common,
        "--port",
        "0",
        "--no-dashboard",
        "--host",
        "127.0.0.1",
    ]
    processes = [
        subprocess.Popen(command, env=environment, cwd=tmp_path, stderr=subprocess.DEVNULL)
    ]
    try:
        # workers and client wait for the file of the scheduler by themselves
        worker = [
            sys.executable,
            "-m",
            "distributed.cli.dask_worker",
            *common,
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
        ]
        processes += [
            subprocess.Popen(worker, env=environment, cwd=tmp_path, stderr=subprocess.DEVNULL)
            for _ in range(2)
        ]
        with distributed.Client(
            scheduler_file=str(place), timeout=30, set_as_default=False
        ) as client:
            client.wait_for_workers(2, timeout=60)
            yield client, processes[1:]
    finally:
        for process in processes[::-1]:
            process.kill()
            process.wait()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_computes_the_same_bits_though_a_worker_is_killed(
    pendulum, dask_cluster, tmp_path
):
    client, workers = dask_cluster
    here = da.ensemble(pendulum, 20, **ASKED)
    same(here, da.ensemble(pendulum, 20, engine=client, **ASKED))
    path = tmp_path / "study.zarr"
    sent = []

    class Killing:
        """The client, which loses a worker on the way."""

        def __getattr__(self, name):
            return getattr(client, name)

        def submit(self, *arguments, **options):
            sent.append(arguments)
            if len(sent) == 8:
                os.kill(workers[0].pid, signal.SIGKILL)
            return client.submit(*arguments, **options)

    same(here, da.ensemble(pendulum, 20, engine=Killing(), save=path, **ASKED))
    assert len(sent) == 20
    assert workers[0].wait() == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_address_of_a_scheduler_will_do(pendulum, dask_cluster):
    client, _ = dask_cluster
    asked = {**ASKED, "n": 50}
    same(
        da.ensemble(pendulum, 1, **asked),
        da.ensemble(pendulum, 1, engine=client.scheduler.address, **asked),
    )
