"""The normal form: polynomials in symbols, sines and cosines, written as short as they go.

`normal` multiplies an expression out in a `ring`, whose `generators` stand for symbols and
functions; `angles` finds the fewest terms; `forms` are the results as plain values, and
`antiderivative` integrates them. It is for printing, never for deciding equality.
"""
