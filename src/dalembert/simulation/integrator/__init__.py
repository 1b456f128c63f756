"""The native Runge–Kutta 8(5,3) loop and what it returns."""
