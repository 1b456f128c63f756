"""One text for several processors: here, in a page, elsewhere."""

import json
import shutil
import subprocess

import numpy as np
import pytest

from dalembert.runtime.numerics import wasm
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.numerics.jit import IMPORTS, WASM32, CannotCompile, Target, host
from dalembert.runtime.ode.step_size_control import loop_ir
from dalembert.symbolic.algebra.tape import Tape
from numerics.tapes import random_tape

NODE = shutil.which("node")
EVALUATE = """
const fs = require("fs"), given = JSON.parse(fs.readFileSync(0));
const memory = new WebAssembly.Memory({initial: 64});
const names = ["sin", "cos", "exp", "log", "sinh", "cosh", "asin", "acos", "atan", "atan2"];
const env = {__linear_memory: memory,
  __stack_pointer: new WebAssembly.Global({value: "i32", mutable: true}, 65536),
  __indirect_function_table: new WebAssembly.Table({initial: 8, element: "anyfunc"}),
    ...Object.fromEntries(names.map(f => [f, Math[f]]))};
const page = new WebAssembly.Instance(
  new WebAssembly.Module(Buffer.from(given.module, "hex")), {env});
const numbers = new Float64Array(memory.buffer), x = 131072, p = 262144, y = 393216, w = 524288;
numbers.set(given.x, x / 8); numbers.set(given.p, p / 8);
page.exports["f.prologue"](p, w); page.exports.f(x, p, y, w);
console.log(JSON.stringify(Array.from(numbers.slice(y / 8, y / 8 + given.n))));
"""


def module_of(f):
    return wasm.wasm_module(f.ir_for(WASM32)[0], ("f", "f.prologue"))


@pytest.mark.skipif(NODE is None, reason="no node here")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_page_computes_what_is_computed_here(seed):
    tape, outs, state, parameters = random_tape(seed)
    f = CompiledFunction(tape, outs, state, parameters)
    rng = np.random.default_rng(seed)
    x, p = rng.normal(size=len(state)), rng.normal(size=len(parameters))
    given = {"module": module_of(f).hex(), "x": x.tolist(), "p": p.tolist(), "n": f.n_out}
    done = subprocess.run(
        [NODE, "-e", EVALUATE], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    # JSON has no NaN and no infinity
    there, here = np.array(json.loads(done.stdout), dtype=float), f.call(x, p)
    finite = np.isfinite(here)
    assert finite.any()
    assert np.allclose(here[finite], there[finite], rtol=1e-9, atol=1e-12)


def test_a_page_imports_elementary_functions_and_nothing_else():
    tape, outs, state, parameters = random_tape(1)
    asked = wasm.imported_names(module_of(CompiledFunction(tape, outs, state, parameters)))
    assert {"sin", "cos"} <= asked
    assert asked <= IMPORTS | {"__linear_memory", "__stack_pointer", "__indirect_function_table"}


def test_the_loop_of_the_integrator_fits_in_a_page():
    assert wasm.imported_names(wasm.wasm_module(loop_ir(), ("start", "advance"))) <= IMPORTS | {
        "__linear_memory",
        "__stack_pointer",
        "__indirect_function_table",
    }


def test_what_no_page_provides_is_refused():
    text = (
        "declare void @system(ptr)\ndefine void @f(ptr %x) {\n  call void @system(ptr %x)\n  "
        "ret void\n}"
    )
    with pytest.raises(CannotCompile, match="it would call system, which no page provides"):
        wasm.wasm_module(text, ("f",))


def test_what_is_not_defined_cannot_be_exported():
    with pytest.raises(CannotCompile, match="does not define g"):
        wasm.wasm_module("define void @f() {\n  ret void\n}", ("g",))


def test_other_processors():
    t = Tape()
    x = t.symbol("x")
    f = CompiledFunction(t, [t.call("sin", x)], [x], [])
    arm = Target("aarch64-unknown-linux-gnu", cpu="generic")
    image = arm.object_code(f.ir_for(arm)[0])
    # an ELF file for the machine number 183
    assert b"\x7fELF" == image[:4]
    assert 183 == int.from_bytes(image[18:20], "little")
    with pytest.raises(CannotCompile, match="cannot write code for nonsense"):
        Target("nonsense").object_code("")


def test_lanes_are_part_of_the_target():
    assert 4 == host(4).lanes
    assert host(4).identity != host().identity
    assert host(4).triple == host().triple
