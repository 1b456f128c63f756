"""The parts of a page, each as HTML."""
