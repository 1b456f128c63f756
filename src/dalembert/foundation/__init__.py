"""Tools that know no mechanics: arrays, files, caching, suggestions, display."""
