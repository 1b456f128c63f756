"""The page of an identification: values, intervals, curves, residuals, correlations."""

from __future__ import annotations

import json
import re

import numpy as np

import dalembert as da
from dalembert import gallery


def test_the_page_of_a_fit_shows_what_was_found(tmp_path):
    s = gallery.build("simple-pendulum")
    t = np.linspace(0, 4, 80)
    truth = da.simulate(s, 4, start={"phi": 1.0}, values={"l": 1.3}, at=t)
    noisy = truth["phi"] + 0.01 * np.random.default_rng(2).normal(size=len(t))
    fit = da.fit(s, {"t": t, "phi": noisy}, ["l", "phi"], bounds={"l": (0.5, 2.0)})
    text = fit.page(tmp_path / "fit.html").read_text(encoding="utf-8")
    low, high = (fit.values["l"] + k * 1.959964 * fit.standard_errors["l"] for k in (-1, 1))
    assert f"{low:.6g} … {high:.6g}" in text
    assert f"{fit.correlations[0, 1]:+.3f}" in text
    assert "autocorrelation" in text
    data = re.search(r'id="plots"[^>]*>(.*?)</script>', text, re.DOTALL)
    # measured and model, and the residuals
    assert 2 == len(json.loads(data[1])["plots"])
    # a bound that the data contradict is where the search ends
    held = da.fit(s, {"t": t, "phi": noisy}, ["l", "phi"], bounds={"l": (0.5, 1.2)})
    assert np.isclose(1.2, held.values["l"], rtol=1e-6)
