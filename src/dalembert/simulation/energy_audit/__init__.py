"""What rides along with a motion, and what it may cost in energy."""
