"""A member in admissible functions: its amplitudes are coordinates like any other."""
