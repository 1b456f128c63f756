"""Is it zero? Expressions at random points of prime fields, with a bound on the error.

`zero_test` decides and `verdict` says what may be claimed. A `sample_point` evaluates a tape in the
numbers of `finite_field`, with `random_values` for what has no relations; `degree_bound` bounds how
unlikely an accident is. `branches` and `signs_and_roots` care for what has several branches,
`nonzero_witness` shows "not zero" in balls of real numbers. `linear_algebra` and `power_series` are
linear algebra and motions in the same fields.
"""
