"""q(t), u(t): a described system in motion, and whatever is read from a run.

`run_options` declares what a run may be given, `run_setup` is everything before the first step,
`simulate` integrates: `model` compiles the rates, `context` and `context_ir` join them to the
integrator, `energy_audit` is integrated alongside. `taylor_and_rosenbrock` serves Taylor's and
Rosenbrock's methods, `external_integrators` those of other libraries; `discontinuity_times` and
`piecewise` let steps end where the equations bend, `callback_inputs` feeds inputs that programs
give. A `trajectory` is the result: `resampling` takes it at other times, `energy_and_residuals` are
what it is judged by, `summary` and `table_export` are its lines and columns. `events/` pauses a run
where something happens, `reactions/` finds what holds the system together, `forward_sensitivity/`
carries ∂(q, u)/∂p, `plotting/` draws. `diagnosis` speaks of failures in the system's own terms,
`impact_audit` compares every impact with its law.

Begin with `simulate`, then `trajectory`.
"""
