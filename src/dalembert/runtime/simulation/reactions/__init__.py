"""What holds a system together along a run."""
