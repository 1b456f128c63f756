"""Who is answered, what, and what is left when it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from running_studio import SOURCE

from dalembert.exchange.modelfile.templates import TEMPLATES

PENDULUM = TEMPLATES["pendulum"]
# a chain whose equations take minutes
ENDLESS = """\
gravity = 9.81
pin.q_1 = "O"
rod.link_1 = { at = "q_1", mass = 1, length = 1 }
[[repeat]]
n = 300
from = 2
pin."q_{i}" = "link_{i-1}.tip"
rod."link_{i}" = { at = "q_{i}", mass = 1, length = 1 }
"""


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"X_Studio_Token": None}, 403),
        ({"X_Studio_Token": ""}, 403),
        ({"X_Studio_Token": "x" * 43}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Host": "localhost"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Sec_Fetch_Site": "same-origin"}, 200),
    ],
)
def test_only_the_own_page_is_answered(shared, headers, status):
    found, _, body = shared.request("POST", "/api/state", b"{}", **headers)
    assert status == found
    assert ("error" in json.loads(body)) == (status != 200)


@pytest.mark.parametrize(
    "path", ["/", "/?token=", "/?token=wrong", "/index.html", "/api/state", "/../etc/passwd"]
)
def test_without_the_token_there_is_no_page(shared, path):
    status, _, body = shared.request("GET", path, X_Studio_Token=None)
    assert status in (403, 404)
    assert b"<html" not in body


def test_the_page_forbids_what_it_does_not_need(shared):
    status, headers, body = shared.request("GET", f"/?token={shared.token}")
    assert 200 == status
    assert b"vocabulary" in body
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'nonce-" in policy
    assert "frame-ancestors 'none'" in policy
    assert "DENY" == headers["X-Frame-Options"]
    assert shared.token.encode() not in body


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/nothing", b"{}", 404),
        ("/api/state", b"{", 400),
        ("/api/state", b"[1]", 400),
        ("/api/state", b'{"x": "1"}', 400),
        ("/api/open", b'{"path": 3}', 400),
        ("/api/open", b'{"path": "../x.toml"}', 422),
        ("/api/open", b'{"path": "/etc/passwd"}', 422),
        ("/api/save", b'{"path": "../x.toml", "text": "", "stamp": "*"}', 422),
        ("/api/new", b'{"kind": "../../x"}', 422),
        ("/api/export", b'{"text": "", "style": "--help"}', 422),
    ],
)
def test_bad_requests_get_a_sentence(shared, path, body, status):
    found, _, answer = shared.request("POST", path, body)
    assert status == found
    assert json.loads(answer)["error"]


def test_a_model_of_ten_megabytes_is_refused(shared):
    status, _, answer = shared.request("POST", "/api/derive", b"x", Content_Length=str(10 * 2**20))
    assert 413 == status
    assert "more than any model needs" in json.loads(answer)["error"]
    assert {"faults", "done"} == set(shared.derive("#" * 1_100_000))


def test_a_text_gets_all_its_parts(shared):
    parts = shared.derive(PENDULUM)
    order = ["faults", "equations", "motion", "verdict", "rates", "plots", "sliders", "done"]
    assert order == list(parts)
    assert [] == parts["faults"]["faults"]
    assert "<math" in parts["equations"]["html"]
    assert parts["equations"]["dof"].startswith("1 degree of freedom")
    assert parts["verdict"]["head"].endswith("agree exactly")
    assert 'id="scene"' in parts["motion"]["data"]
    assert 'id="module"' in parts["sliders"]["live"]


def test_every_principle_can_be_chosen(shared):
    texts = {
        name: shared.derive(PENDULUM, principle=name)["equations"]["html"]
        for name in ("kane", "lagrange", "hamilton")
    }
    assert 3 == len(set(texts.values()))


def test_a_fault_ends_the_answer(shared):
    parts = shared.derive(PENDULUM.replace('"O"', '"Q"'))
    assert {"faults", "done"} == set(parts)
    (fault,) = parts["faults"]["faults"]
    assert 6 == fault["line"]


def test_a_system_that_does_not_fit_together_is_placed(shared):
    parts = shared.derive(PENDULUM + "\n[coordinate.idle]\n")
    assert {"faults", "done"} == set(parts)
    assert "idle" in parts["faults"]["faults"][0]["sentence"]


def test_a_run_that_is_impossible_leaves_the_equations(shared):
    parts = shared.derive(PENDULUM.replace('m = "1 kg"', 'm = ""'))
    assert "<math" in parts["equations"]["html"]
    assert "m" in parts["motion"]["why"]


@pytest.mark.slow
def test_a_derivation_without_end_is_stopped_and_the_next_text_answered(studio):
    running = studio("--limit", "8")
    stopped = running.derive(ENDLESS)
    assert "stopped after 8 s" in stopped["failed"]["sentence"]
    assert "<math" in running.derive(PENDULUM)["equations"]["html"]


def test_files_are_opened_and_saved(studio, tmp_path):
    (tmp_path / "one.toml").write_text(PENDULUM, encoding="utf-8")
    running = studio("one.toml")
    _, begun = running.act("begin")
    assert PENDULUM == begun["text"]
    assert "one.toml" == begun["document"]["path"]
    changed = PENDULUM.replace("60 deg", "50 deg")
    status, saved = running.act(
        "save", path="one.toml", text=changed, stamp=begun["document"]["stamp"]
    )
    assert 200 == status
    assert changed == (tmp_path / "one.toml").read_text(encoding="utf-8")
    (tmp_path / "one.toml").write_text("# of somebody else", encoding="utf-8")
    assert running.act("state")[1]["changed"]
    assert (
        409 == running.act("save", path="one.toml", text="x", stamp=saved["document"]["stamp"])[0]
    )
    assert "# of somebody else" == (tmp_path / "one.toml").read_text(encoding="utf-8")
    (tmp_path / "one.toml").unlink()
    assert running.act("state")[1]["gone"]
    assert [] == running.act("names")[1]["names"]


def test_a_text_that_was_not_saved_is_kept(studio, tmp_path):
    (tmp_path / "one.toml").write_text(PENDULUM, encoding="utf-8")
    running = studio("one.toml")
    running.derive("name = 'not saved'", file="one.toml")
    assert "one.unsaved.toml" in running.end()
    assert "name = 'not saved'" == (tmp_path / "one.unsaved.toml").read_text(encoding="utf-8")
    assert PENDULUM == (tmp_path / "one.toml").read_text(encoding="utf-8")
    assert 0 == running.process.returncode


@pytest.mark.slow
def test_page_and_export_of_the_text(studio, tmp_path):
    running = studio()
    _, page = running.act("page", text=PENDULUM)
    assert "Pendulum" in Path(page["written"]).read_text(encoding="utf-8")
    _, export = running.act("export", text=PENDULUM, style="numpy")
    assert any(".py" == file.suffix for file in Path(export["written"]).iterdir())


PROGRAM = """\
import dalembert as da

def pendulum():
    s = da.System("Mine", gravity=9.81)
    s.rod("bar", s.pin("theta", s.O), mass=1, length=2)
    return s
"""


@pytest.mark.slow
def test_a_program_is_run_by_itself(studio, tmp_path):
    (tmp_path / "mine.py").write_text(PROGRAM, encoding="utf-8")
    running = studio("mine.py:pendulum")
    parts = running.derive(PROGRAM)
    assert "Mine" == parts["faults"]["name"]
    # what is typed is not run before it is saved
    bad = PROGRAM.replace("return s", "return nothing")
    assert "Mine" == running.derive(bad)["faults"]["name"]
    stamp = running.act("begin")[1]["document"]["stamp"]
    assert 200 == running.act("save", path="mine.py", text=bad, stamp=stamp)[0]
    assert "nothing" in running.derive(bad)["faults"]["faults"][0]["sentence"]


def refused(tmp_path, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "dalembert", "studio", *arguments, "--no-browser"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": SOURCE},
    )
    return done.returncode, done.stderr


@pytest.mark.slow
def test_bad_arguments_get_a_sentence(shared, tmp_path):
    port = shared.host.rpartition(":")[2]
    for arguments in (
        ["--port", port],
        ["--port", "99999"],
        ["nothing"],
        ["x.txt"],
        ["--limit", "0"],
        ["x.py:f"],
    ):
        code, said = refused(tmp_path, *arguments)
        assert (2, 1) == (code, len(said.strip().splitlines()))
        assert "Traceback" not in said


def test_it_listens_on_the_loopback_alone(shared):
    assert shared.host.startswith("127.0.0.1:")


def test_a_browser_that_closes_in_the_middle_is_forgotten(shared):
    job = {"text": PENDULUM, "file": "model.toml", "principle": "kane", "written": "1"}
    given = json.dumps(job)
    with socket.create_connection(shared.host.split(":"), timeout=60) as line:
        line.sendall(
            f"POST /api/derive HTTP/1.1\r\nHost: {shared.host}\r\n"
            f"X-Studio-Token: {shared.token}\r\n"
            f"Content-Length: {len(given)}\r\n\r\n{given}".encode()
        )
        assert line.recv(12).endswith(b"200")
    assert "<math" in shared.derive(PENDULUM)["equations"]["html"]
    assert shared.process.poll() is None


def test_a_request_that_was_overtaken_is_dropped(shared):
    assert "equations" in shared.derive(PENDULUM)
    assert {"dropped"} == set(shared.derive("old", written=1000))
    assert PENDULUM == shared.act("begin")[1]["text"]


@pytest.mark.parametrize("mass", ["9**9**9**9", "(" * 3000 + "1" + ")" * 3000, "1/0", "2**-1e300"])
def test_numbers_without_end_get_a_sentence(shared, mass):
    parts = shared.derive(PENDULUM.replace('mass = "m"', f'mass = "{mass}"'))
    said = [f["sentence"] for f in parts["faults"]["faults"]]
    said += [parts[part][key] for part, key in (("failed", "sentence"),) if part in parts]
    assert said
    assert "error in dalembert" not in said[0]


def test_a_repetition_without_end_gets_a_sentence(shared):
    parts = shared.derive(ENDLESS.replace("n = 300", "n = 1000000000"))
    assert {"faults", "done"} == set(parts)
    assert parts["faults"]["faults"][0]["line"]


def test_without_a_browser_the_address_is_enough(tmp_path):
    found = subprocess.Popen(
        [sys.executable, "-m", "dalembert", "studio"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": SOURCE, "BROWSER": "/nothing/here", "PATH": "/nothing"},
    )
    lines = [found.stdout.readline(), found.stdout.readline()]
    found.send_signal(signal.SIGTERM)
    found.communicate(timeout=60)
    assert lines[0].startswith("http://127.0.0.1:")
    assert "No browser was found: open that address" in lines[1]
