"""JavaScript in Chromium, or by node where there is no browser, against our own numbers."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest

from dalembert.exports.javascript import JavaScriptSource
from exports.cases import CLOSE, SYSTEMS, case, near_rows, off
from page.browsing import executable, flags

RUN = """
function flat(v) { return typeof v === "number" ? [v] : v.flat(3); }
export function run(m, job) {
  const p = m.parameters(job.p), found = {};
  for (const [name, x] of Object.entries(job.functions))
    found[name] = x.map((row, k) => {
      const v = m[name](job.t[k], row, job.w[k], p);
      return typeof v === "number" || Array.isArray(v) ? flat(v) : Object.values(v).flatMap(flat);
    });
  return found;
}
"""


def jobs():
    wanted = {}
    for name in SYSTEMS:
        one = case(name)
        source = JavaScriptSource(one.model)
        functions = {f.name: one.x.tolist() for f in one.model.public}
        if one.model.projects:
            functions["project"] = near_rows(one).tolist()
        p = {source.names[v.name]: one.p[v.name] for v in one.model.parameters}
        wanted[one.identifier] = {"t": one.t.tolist(), "w": one.w.tolist(), "p": p, "functions": functions}
    return wanted


def in_chromium():
    """Every module imported from its own text."""
    from playwright.sync_api import sync_playwright

    program = """async ([text, job]) => {
      const m = await import(URL.createObjectURL(new Blob([text], {type: "text/javascript"})));
      return m.run(m, job);
    }"""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=flags())
        page = browser.new_page()
        page.goto("about:blank")
        texts = {case(name).identifier: JavaScriptSource(case(name).model).text() + RUN for name in SYSTEMS}
        found = {name: page.evaluate(program, [texts[name], job]) for name, job in jobs().items()}
        browser.close()
    return found


def by_node(folder):
    for name in SYSTEMS:
        (folder / f"{case(name).identifier}.mjs").write_text(JavaScriptSource(case(name).model).text() + RUN)
    (folder / "jobs.json").write_text(json.dumps(jobs()))
    (folder / "main.mjs").write_text(
        "import {readFileSync} from 'fs'; const jobs = JSON.parse(readFileSync('jobs.json')), found = {};"
        "for (const [name, job] of Object.entries(jobs)) { const m = await import(`./${name}.mjs`); found[name] = m.run(m, job); }"
        "console.log(JSON.stringify(found));"
    )
    done = subprocess.run(["node", "main.mjs"], cwd=folder, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    if executable() is not None:
        return in_chromium()
    if shutil.which("node"):
        return by_node(tmp_path_factory.mktemp("javascript"))
    pytest.skip("neither Chromium nor node is installed")
    return None


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_function_gives_our_numbers(found, name):
    one = case(name)
    results = found[one.identifier]
    for f in one.model.public:
        assert off(np.array(results[f.name], dtype=float), one.expected(f.name)) < CLOSE, f.name
    assert off(np.array(results["rates"]), one.rates) < CLOSE
    if one.model.projects:
        assert off(np.array(results["project"]), one.projected(near_rows(one))) < CLOSE
