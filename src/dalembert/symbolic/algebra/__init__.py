"""Scalars as nodes of a tape, and everything that is a fold over it.

`tape` interns operations, so that a common subexpression exists once; `scalar` is what a user
holds, an index into a tape. `expression_graph` lists what nodes contain, evaluates, differentiates,
rewrites and reads coefficients, each node once; `arithmetic` and `dual_numbers` are what it
evaluates in. `sparse_matrix` are columns and sparse matrices of nodes with operators, `elimination`
solves linear equations of them, `formula` the trees in which books write formulas. `exact/`
evaluates in prime fields and decides what is zero;
`normal_form/` brings expressions to the form a book prints; `printing/` writes them as text, LaTeX
and MathML. `parser` reads expressions without executing anything, `sympy_conversion` goes to SymPy
and back.

Nothing here knows mechanics. Begin with `tape`, then `expression_graph`.
"""
