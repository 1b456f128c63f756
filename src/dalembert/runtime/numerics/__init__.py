"""Native code: tape → LLVM text → machine code.

`compiled_function` is y = f(x, p), which the other chapters use. On the way down `lowering` orders
and fuses the operations, `emit` writes them, `math_kernels` has the elementary functions, `jit`
makes machine code of the text and `object_cache` keeps it on disk; `wasm` makes a module for a
browser. On the way up `python_binding_ir` and `batch_evaluation` are the native side of a call,
`python_binding` that of Python. `taylor_recurrence` has the rules for Taylor coefficients,
`taylor_simplify` makes them cheap, `taylor_code` and `taylor_convolution` write them. Loops are
written with `ir_builder`, in the kinds of `llvm_types`. `forward_dynamics` is u̇ = f(q, u, t),
checked against exact values.

Begin with `compiled_function`.
"""
