"""Random examples are the same on every run; `--hypothesis-profile=search` looks for new ones."""

import signal
import zlib
from collections import defaultdict

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile("same")

# what a shell starts in the background ignores Ctrl-C, which some tests press
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of a test with the mark `each_time(n)` n cases, evenly spread, stay; the rest become slow.

    The first one is chosen by the name of the test, so that different tests try different cases.
    """
    cases = defaultdict(list)
    for item in items:
        if mark := item.get_closest_marker("each_time"):
            cases[item.nodeid.partition("[")[0], *mark.args].append(item)
    for (name, count), own in cases.items():
        first = zlib.crc32(name.encode()) % len(own)
        kept = {(first + k * len(own) // count) % len(own) for k in range(min(count, len(own)))}
        for number, item in enumerate(own):
            if number not in kept:
                item.add_marker(pytest.mark.slow)
