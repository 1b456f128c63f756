"""∂y/∂x and ∇²(μᵀy): derivatives of expressions and of motions, as native code or by the tape
machine.

Begin with `sparse.py`, which differentiates expressions on the tape; `tape_function.py` evaluates
them.
"""
