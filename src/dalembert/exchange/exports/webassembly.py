"""WebAssembly: the functions of the C header as a module for browsers, and a JavaScript module
that calls them like its own.
"""

from __future__ import annotations

import json
from typing import Final

from dalembert.exchange.exports.c import CSource
from dalembert.exchange.exports.exported_model import ExportedModel
from dalembert.exchange.exports.javascript import JavaScriptSource
from dalembert.exchange.exports.llvm_object import LLVMSource
from dalembert.runtime.numerics import wasm

_PAGE: Final = 65536
# what the widest function keeps between its pieces, and some room
_STACK: Final = 8


def files(model: ExportedModel, name: str) -> dict[str, str | bytes]:
    """{name.mjs, name.wasm}"""
    c = CSource(model, name)
    source, written = LLVMSource(c), JavaScriptSource(model)
    module = wasm.wasm_module(source.text(), source.exported_names)
    shapes = {f.name: {r.name: r.shape for r in f.results} for f in model.public_functions}
    text = _LOADER.format(
        name=name,
        shapes=json.dumps(shapes),
        parameters=json.dumps([written.names[p.name] for p in model.parameters]),
        kept=len(model.parameters) + max(1, len(c.precomputed[1])),
        n_x=len(model.states),
        n_w=len(model.inputs),
        longest=max(sum(len(r.nodes) for r in f.results) for f in model.functions),
        stack=_STACK * _PAGE,
        project=_PROJECT.format(name=name) if model.has_projection else "",
    )
    return {f"{name}.mjs": "\n".join([*written.header(), "", text]), f"{name}.wasm": module}


_LOADER: Final = """\
const SHAPES = {shapes};
const PARAMETERS = {parameters};

/* {{rates, mass_matrix, ...}}, functions of (t, x, w, p) as in the JavaScript export;
   `module` is the bytes of {name}.wasm */
export async function load(
  module = fetch(new URL("{name}.wasm", import.meta.url)).then(r => r.arrayBuffer())
) {{
  const STACK = {stack}, P = STACK, X = P + 8*{kept}, W = X + 8*{n_x};
  const Y = W + 8*Math.max(1, {n_w}), END = Y + 8*{longest};
  const memory = new WebAssembly.Memory({{initial: Math.ceil(END/{page})}});
  const names = ["sin", "cos", "exp", "log", "sinh", "cosh", "tanh", "asin", "acos", "atan",
    "atan2"];
  const env = {{__linear_memory: memory,
    __stack_pointer: new WebAssembly.Global({{value: "i32", mutable: true}}, STACK),
    __indirect_function_table: new WebAssembly.Table({{initial: 8, element: "anyfunc"}}),
    ...Object.fromEntries(names.map(f => [f, Math[f]]))}};
  const native = (await WebAssembly.instantiate(await module, {{env}})).instance.exports;
  const numbers = new Float64Array(memory.buffer);
  const give = (x, w, p) => {{
    numbers.set(PARAMETERS.map(name => p[name]), P/8);
    native.{name}_prepare(P);
    numbers.set(x, X/8);
    numbers.set(w, W/8);
  }};
  const size = shape => shape.reduce((a, b) => a*b, 1);
  const model = {{}};
  for (const [f, results] of Object.entries(SHAPES))
    model[f] = (t, x, w = [], p = parameters()) => {{
      give(x, w, p);
      const places = [], values = {{}};
      let at = Y;
      for (const shape of Object.values(results)) {{
        places.push(at);
        at += 8*size(shape);
      }}
      native["{name}_" + f](t, X, W, P, ...places);
      Object.entries(results).forEach(([name, shape], k) => {{
        const start = places[k]/8;
        const all = () => Array.from(numbers.slice(start, start + size(shape)));
        values[name] = shape.length ? all() : numbers[start];
      }});
      return places.length > 1 ? values : Object.values(values)[0];
    }};
{project}  return model;
}}
""".replace("{page}", str(_PAGE))
_PROJECT: Final = """\
  model.project = (t, x, w = [], p = parameters()) => {{
    give(x, w, p);
    native.{name}_project(t, X, W, P);
    return Array.from(numbers.slice(X/8, X/8 + x.length));
  }};
"""
