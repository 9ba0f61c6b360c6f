"""Net benefit of calling by a score, by another library; run after `tests.peers.run`."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from dcurves import dca

from tests.peers.cases import CUTOFFS, NAMES, Case, case
from tests.peers.figures import Figure, as_record, read, write

_CONVENTION = "a row, of rows with a score of at least the cut-off, by the odds of the cut-off"


def figures(case: Case) -> Iterator[Figure]:
    """Give the net benefit of the score and of calling all rows, by cut-off."""
    for suffix, events in case.events.items():
        rows = pd.DataFrame({"hit": events.hits.astype(int), "score": events.scores})
        result = dca(rows, "hit", ["score"], thresholds=np.array(CUTOFFS)).set_index("threshold")
        values = {
            name: result.loc[result["model"] == model, "net_benefit"].loc[list(CUTOFFS)].tolist()
            for name, model in (("model", "score"), ("every", "all"))
        }
        yield Figure(f"net benefit{suffix}", "dcurves", _CONVENTION, values)


def main() -> None:
    """Write the figures of every sample beside what the other peers found."""
    results = [as_record(name, figure) for name in NAMES for figure in figures(case(name))]
    write([*(record for record in read() if record["peer"] != "dcurves"), *results])


if __name__ == "__main__":
    main()
