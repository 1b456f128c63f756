"""The normal form: polynomials in symbols, sines and cosines, written as short as they go."""
