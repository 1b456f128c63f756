"""Models in and out: robots, model files, exports."""
