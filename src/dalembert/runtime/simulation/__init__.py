"""q(t), u(t): a described system in motion, and whatever is read from a run.

`simulate` executes the parsed run options: `model` compiles the rates, `context` and `run_text`
join them to the integrator, `energy_audit` is integrated alongside. `own_methods` serves Taylor's
and Rosenbrock's methods, `integrators` those of other people; `discontinuity_times` and `branches`
let steps end where the equations bend, `live_run` feeds inputs that programs give. A `trajectory`
is the result: `sampling` takes it at other times, `quantities` are what it is judged by, `summary`
and `tables` are its lines and columns. `events/` pauses a run where something happens, `reactions/`
finds what holds the system together, `variations/` carries ∂(q, u)/∂p, `plotting/` draws.
`diagnosis` speaks of failures in the system's own terms.

Begin with `simulate`, then `trajectory`.
"""
