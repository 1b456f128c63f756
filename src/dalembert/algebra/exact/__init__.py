"""Exact evaluation: prime fields, degrees and balls."""
