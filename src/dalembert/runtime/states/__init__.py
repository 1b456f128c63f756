"""States of a system: values for its symbols, any expression at a state, positions assembled, a
consistent start.

`run_values` are numbers for constants and expressions for prescribed motions, `inputs` those that
are no expressions. `evaluator` reads what a user names and gives its numbers. `initial_conditions`
finds q and u from what is known: `initial_values` reads it, `initial_form` keeps what depends on
names alone, `initial_solver` and `assembly_ir` are the search, in native code, and
`initial_failures` explains what it refuses; `assembly` solves rows that are evaluated in Python.
`constraint_rank` determines how many rows are independent at a point and which rates they can be
solved for there; `magnitude_bounds` says how large an expression could be, against which a residual
is small.

Statics, linearization and runs begin here; nothing in this chapter integrates.
"""
