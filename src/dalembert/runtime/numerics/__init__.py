"""Native code: tape → LLVM text → machine code.

`compiled` is y = f(x, p), which the other chapters use. On the way down `lowering` orders and fuses
the operations, `emit` writes them, `kernels` has the elementary functions, `jit` makes machine code
of the text and `cache` keeps it on disk; `wasm` makes a module for a browser. On the way up
`call_text` and `rows` are the native side of a call, `python_call` that of Python. `jets` has the
rules for Taylor coefficients, `jet_form` makes them cheap, `jet_code` and `jet_sums` write them.
Loops are written with `llvm_writer`, in the kinds of `llvm_types`. `native` is u̇ = f(q, u, t),
checked against exact values.

Begin with `compiled`.
"""
