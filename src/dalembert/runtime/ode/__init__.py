"""y' = f(t, y): steps by Runge and Kutta, Taylor and Rosenbrock, their control and dense output,
the search for events.

Nothing here knows any mechanics: functions come as addresses, states as arrays.
`initial_value_problem` is what is solved, `integration` runs it, `solution` is y(t). The rest is
native text: `integrator_state` is the memory it shares, `runge_kutta_step`, `taylor` and
`rosenbrock` are the methods, `step_size_control` is the loop around them; `event_detection` and
`guard_search` look into every step. `constrained/` solves for rates and multipliers in augmented
form and projects onto the rows, `vectorized/` runs many members vectorized. `failures` and
`failure_diagnosis` say why a run cannot begin, stopped or stalled.

Begin with `initial_value_problem`, then `integration`.
"""
