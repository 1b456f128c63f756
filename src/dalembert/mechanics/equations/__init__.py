"""M u̇ = f: the common form, and how each principle's own form is brought to it.

`equations_of_motion` is what a derivation ends in, with rows that are not linear in the velocities,
and its solution for u̇, after a mass matrix that is singular in every state has been refused.
`saddle_point` is the augmented form with the constraint projection, `sparse_saddle_point` solves
for q̈ and λ together, with M factored by its zeros or, in `tree_factor`, along the spanning tree.
`articulated_body` gives u̇ of an open tree link by link, the route of native code.
`applicability` refuses what a method cannot treat. `principle_statements` says what each principle
says in general, `sympy_form` has the matrices for SymPy.
"""
