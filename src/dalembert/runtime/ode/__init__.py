"""y' = f(t, y): steps by Runge and Kutta, Taylor and Rosenbrock, their control and dense output,
the search for events.

Nothing here knows any mechanics: functions come as addresses, states as rows of numbers. `problem`
is what a run is asked, `loop` runs it, `solution` is y(t). The rest is native text: `run` is the
memory it shares, `step`, `taylor` and `rosenbrock` are the methods, `control` is the loop around
them; `event_search` and `fall_search` look into every step. `constrained/` solves for rates and
multipliers where rows stand beside the equations and leads back onto them, `lanes/` runs many
members side by side. `failures` and `diagnosis` say why a run cannot begin, stopped or does not get
on.

Begin with `problem`, then `loop`.
"""
