"""A studio in a process of its own, on a free port, and requests to it as its page makes them."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import time_ns
from urllib.parse import parse_qs, urlsplit

import dalembert

SOURCE = str(Path(dalembert.__file__).parents[1])


@dataclass
class Running:
    """A studio that runs, and requests to it as its page makes them."""

    process: subprocess.Popen
    address: str

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.address).query)["token"][0]

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    def request(self, method, path, body=b"", **headers):
        """Status, headers and body; a header that is None is left out."""
        given = {"X-Studio-Token": self.token, "Origin": f"http://{self.host}"}
        given |= {name.replace("_", "-"): text for name, text in headers.items()}
        connection = http.client.HTTPConnection(self.host, timeout=120)
        sent = {name: text for name, text in given.items() if text is not None}
        connection.request(method, path, body, sent)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), content

    def act(self, action, **given):
        """Status and answer of an action."""
        status, _, body = self.request("POST", f"/api/{action}", json.dumps(given).encode())
        return status, json.loads(body)

    def derive(self, text, file="model.toml", principle="kane", written=None):
        """The parts of a text by name; it was written now, or at another time."""
        time = str(time_ns() // 10**6 if written is None else written)
        job = {"text": text, "file": file, "principle": principle, "written": time}
        given = json.dumps(job).encode()
        _, _, body = self.request("POST", "/api/derive", given)
        parts = [json.loads(line) for line in body.splitlines()]
        return {part.pop("part"): part for part in parts}

    def end(self):
        """What it prints after its first line, when it is asked to end."""
        self.process.send_signal(signal.SIGTERM)
        rest, _ = self.process.communicate(timeout=60)
        return rest


def start(folder, *arguments):
    """A studio in a folder."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dalembert", "studio", *arguments, "--no-browser"],
        cwd=folder,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": SOURCE},
    )
    return Running(process, process.stdout.readline().strip())
