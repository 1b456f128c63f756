"""The normal form: polynomials in symbols, sines and cosines, written as short as they go.

`expansion` multiplies an expression out in a `quotient_ring`, whose `ring_generators` stand for
symbols and functions; `trigsimp` finds the fewest terms; `rational_form` are the results as plain
values, and `antiderivative` integrates them. It is for printing, never for deciding equality.
"""
