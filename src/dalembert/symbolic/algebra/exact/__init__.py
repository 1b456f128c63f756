"""Is it zero? Expressions at random points of prime fields, with a bound on the error.

`field` decides and `verdict` says what may be claimed. A `point` evaluates a tape in the numbers of
`modular`, with `generators` for what has no relations; `degree` bounds how unlikely an accident is.
`branches` and `signs_and_roots` care for what has several branches, `real_states` shows "not zero"
in balls of real numbers. `matrices` and `power_series` are linear algebra and motions in the same
fields.
"""
