"""Where principles meet native code, runs and integrals: what a user calls on a whole system."""
