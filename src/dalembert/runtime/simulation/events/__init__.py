"""Events: what happens when a quantity crosses zero."""
