"""Runs with every rate in the state and the rows beside the equations."""
