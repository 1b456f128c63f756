"""Tools without mechanics: arrays, files, caching, suggestions, display."""
