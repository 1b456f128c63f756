"""States of a system: values for its symbols, any expression at a state, positions assembled, a
consistent start.

`values` are numbers for constants and expressions for prescribed motions, `inputs` those that are
no expressions. `evaluator` reads what a user names and gives its numbers. `start` finds q and u
from what is known: `conditions` reads it, `initial_form` keeps what depends on names alone,
`assembly` and `velocities` solve and explain, `borrow_solver` and `assembly_ir` are the same search
as native code. `row_rank` determines how many rows are independent at a point and which rates they
can be solved for there; `sizes` says how large an expression could be, against which a residual is
small.

Statics, linearization and runs begin here; nothing in this chapter integrates.
"""
