"""Units and dimensions: "2 kg" as a number, and what dimension every expression of a system has.

`quantity.py` is the exponents of kg, m and s with their arithmetic, and reads units (with pint on
request); `inference.py` finds the dimensions of all symbols from the known ones, over the tape, and
names the sum that does not fit.
"""
