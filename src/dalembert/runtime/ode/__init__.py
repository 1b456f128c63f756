"""y' = f(t, y): steps by Runge and Kutta, Taylor and Rosenbrock, their control and dense output,
the search for events.

Nothing here knows any mechanics: functions come as addresses, states as rows of numbers. `problem`
is the initial value problem, `loop` runs it, `solution` is y(t). The rest is native text: `run` is
the memory it shares, `step`, `taylor` and `rosenbrock` are the methods, `control` is the loop
around them; `event_search` and `fall_search` look into every step. `constrained/` solves for rates
and multipliers in augmented form and projects onto the rows, `lanes/` runs many members vectorized.
`failures` and `diagnosis` say why a run cannot begin, stopped or stalled.

Begin with `problem`, then `loop`.
"""
