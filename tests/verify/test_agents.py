"""The server for programs, driven by the client of the same package over standard input and
output.
"""

import asyncio
import os
import sys

import pytest

from dalembert import gallery
from dalembert.interface.agents.tools import Tools

mcp = pytest.importorskip("mcp")

MODEL = """
name = "Oscillator"
coordinates = ["x"]
[constants]
m = 1
k = 2
[point.P]
offset = "x*N.x"
[particle.mass]
mass = "m"
at = "P"
[potential.spring]
V = "k*x**2/2"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "oscillator.toml").write_text(MODEL, encoding="utf-8")
    (tmp_path.parent / "outside.toml").write_text(MODEL, encoding="utf-8")
    return tmp_path


async def _session(folder):
    """Every tool asked once, by a client that starts the server as a child process."""
    line = ["-m", "dalembert", "serve", "--mcp", "--folder", str(folder)]
    server = mcp.StdioServerParameters(command=sys.executable, args=line, env=dict(os.environ))
    async with mcp.Client(server, read_timeout_seconds=120) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        asked = {
            "verify": {"system": "oscillator.toml", "answer": "m x'' - k x = 0"},
            "derive": {"system": "simple-pendulum", "principle": "lagrange"},
            "agree": {"system": "simple-pendulum"},
            "check": {"system": MODEL},
            "simulate": {
                "system": "oscillator.toml",
                "duration": 1.0,
                "points": 3,
                "start": {"x": 1.0},
            },
        }
        results = {
            name: await client.call_tool(name, arguments) for name, arguments in asked.items()
        }
        outside = await client.call_tool("check", {"system": "../outside.toml"})
    return names, results, outside


def test_the_client_of_the_package_gets_structured_results(folder):
    names, results, outside = asyncio.run(_session(folder))
    assert {"derive", "verify", "agree", "check", "simulate"} == set(names)
    assert not any(result.is_error for result in results.values())
    data = {name: result.structured_content for name, result in results.items()}
    corrections = data["verify"]["rows"][0]["corrections"]
    assert {"−k x should be k x", "m ẍ should be −m ẍ"} == {
        option[0]["sentence"] for option in corrections
    }
    assert "Lagrange" in data["derive"]["principle"]
    assert data["agree"]["holds"] is True
    assert 1 == data["check"]["degrees_of_freedom"]
    assert 3 == len(data["simulate"]["coordinates"]["x"])
    assert "outside the folder" in outside.structured_content["refused"]


@pytest.mark.parametrize(
    "system",
    [
        "",
        "nosuch",
        "../outside.toml",
        "/etc/passwd.toml",
        "model.py:build",
        "x.toml",
        "name = 3\n[",
        "a" * 2_000_000 + "=",
    ],
)
def test_refusals_are_results(folder, system):
    refusal = Tools(folder, gallery).check(system)
    assert refusal["refused"]
    assert refusal["kind"]


def test_nothing_is_executed(folder):
    (folder / "model.py").write_text(f"open({str(folder / 'MARK')!r}, 'w')", encoding="utf-8")
    tools = Tools(folder, gallery)
    for system in ("model.py", "model.py:build", "./model.py:build"):
        assert "refused" in tools.derive(system)
    assert "refused" in tools.verify("simple-pendulum", "__import__('os').system('touch MARK')")
    assert not (folder / "MARK").exists()


def test_a_link_out_of_the_folder_is_not_followed(folder):
    (folder / "link.toml").symlink_to(folder.parent / "outside.toml")
    assert "outside the folder" in Tools(folder, gallery).check("link.toml")["refused"]


def test_limits_of_a_run(folder):
    assert "refused" in Tools(folder, gallery).simulate("simple-pendulum", duration=1e9)
    assert "refused" in Tools(folder, gallery).derive("simple-pendulum", "newton")
