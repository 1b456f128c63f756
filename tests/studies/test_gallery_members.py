"""Every system of the gallery as a study: side by side or one by one, a member has the bits of a
run alone.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery


@pytest.mark.slow
@pytest.mark.parametrize("name", gallery.names())
def test_members_have_the_bits_of_runs_alone(name):
    entry = gallery.entry(name)
    s = entry.build()
    constant = next((x for x in s.symbols.values() if x.kind == "constant" and x.value), None)
    if constant is None:
        pytest.skip("no constant varies")
    value, duration = float(constant.value), min(entry.duration, 0.5)
    asked = {
        "over": {constant.name: [value, 1.01 * value, 0.97 * value]},
        "start": entry.start,
        "inputs": entry.inputs,
    }
    asked["at"] = [duration / 3, duration]
    with warnings.catch_warnings():
        # what a run alone is warned of is not the matter here
        warnings.simplefilter("ignore", da.DalembertWarning)
        one, *others = [
            da.ensemble(s, duration, lanes=lanes, threads=threads, **asked)
            for lanes, threads in ((1, 1), (4, 3), (8, 2))
        ]
        for other in others:
            for variable in one.data.variables:
                a, b = one.data[variable].values, other.data[variable].values
                assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), variable
        assert "finished" in one.outcomes
        for member in range(3):
            if member in one.failures:
                with pytest.raises(da.DalembertError):
                    one.run(member)
                continue
            run = one.run(member)
            for kept in one.plan.outputs:
                assert one[kept.name].values[member].tolist() == run[kept.name].tolist(), kept.name
            if "drift" in one.data and run.energy_audit is not None:
                # over all steps, not at the wanted times alone
                o = one.plan.run_options(member)
                whole = da.simulate(s, duration, start=o.start, inputs=o.inputs, values=o.values)
                assert one["drift"].values[member] == pytest.approx(
                    whole.integrals.relative_drift, rel=1e-3, abs=1e-13
                )
