"""JavaScript and WebAssembly in Chromium, or by node where there is no browser, against our own
numbers.
"""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest

from dalembert.exchange.exports import webassembly
from dalembert.exchange.exports.javascript import JavaScriptSource
from exports.cases import CLOSE, SYSTEMS, back_on_rows, case, near_rows, off
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


def job(one):
    source = JavaScriptSource(one.model)
    functions = {f.name: one.x.tolist() for f in one.model.public_functions}
    if one.model.has_projection:
        functions["project"] = near_rows(one).tolist()
    p = {source.names[v.name]: one.p[v.name] for v in one.model.parameters}
    return {"t": one.t.tolist(), "w": one.w.tolist(), "p": p, "functions": functions}


def in_chromium(texts, modules):
    """Every module imported from its own text; those with WebAssembly load it first."""
    from playwright.sync_api import sync_playwright

    program = """async ([text, job, hex]) => {
      const m = await import(URL.createObjectURL(new Blob([text], {type: "text/javascript"})));
      const bytes = hex && Uint8Array.from(hex.match(/../g), b => parseInt(b, 16));
      return m.run(hex ? {...m, ...await m.load(bytes)} : m, job);
    }"""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=flags())
        page = browser.new_page()
        page.goto("about:blank")
        found = {
            name: page.evaluate(program, [text, job(case(name)), modules.get(name)])
            for name, text in texts.items()
        }
        browser.close()
    return found


def by_node(folder, texts, modules):
    for name, text in texts.items():
        (folder / f"{name}.mjs").write_text(text)
    given = {name: [job(case(name)), modules.get(name)] for name in texts}
    (folder / "jobs.json").write_text(json.dumps(given))
    (folder / "main.mjs").write_text(
        "import {readFileSync} from 'fs'; const jobs = JSON.parse(readFileSync('jobs.json')), "
        "found = {};"
        "for (const [name, [job, hex]] of Object.entries(jobs)) { const m = await "
        "import(`./${name}.mjs`);"
        "found[name] = m.run(hex ? {...m, ...await m.load(Buffer.from(hex, 'hex'))} : m, job); }"
        "console.log(JSON.stringify(found));"
    )
    done = subprocess.run(
        ["node", "main.mjs"], cwd=folder, check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def run(folder, texts, modules):
    """{system: {function: rows}}, by the browser or by node."""
    if executable() is not None:
        return in_chromium(texts, modules)
    if shutil.which("node"):
        return by_node(folder, texts, modules)
    pytest.skip("neither Chromium nor node is installed")
    return None


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return run(
        tmp_path_factory.mktemp("javascript"),
        {name: JavaScriptSource(case(name).model).text() + RUN for name in SYSTEMS},
        {},
    )


@pytest.fixture(
    scope="module",
    params=[
        ("double-pendulum", "rolling-disk", "four-bar"),
        pytest.param(SYSTEMS, marks=pytest.mark.slow),
    ],
)
def compiled(request, tmp_path_factory):
    written = {name: webassembly.files(case(name).model, "m") for name in request.param}
    texts = {name: made["m.mjs"] + RUN for name, made in written.items()}
    return run(
        tmp_path_factory.mktemp("webassembly"),
        texts,
        {name: made["m.wasm"].hex() for name, made in written.items()},
    )


def check(one, results):
    for f in one.model.public_functions:
        assert off(np.array(results[f.name], dtype=float), one.expected(f.name)) < CLOSE, f.name
    assert off(np.array(results["rates"]), one.rates) < CLOSE
    if one.model.has_projection:
        assert off(np.array(results["project"]), back_on_rows(one)) < CLOSE


@pytest.mark.each_time(8)
@pytest.mark.parametrize("name", SYSTEMS)
def test_every_function_gives_our_numbers(found, name):
    check(case(name), found[name])


def test_webassembly_gives_our_numbers(compiled):
    for name, results in compiled.items():
        check(case(name), results)
