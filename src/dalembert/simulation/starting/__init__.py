"""Start values from whatever is known."""
