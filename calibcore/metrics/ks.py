"""The KS and Kuiper errors of `calibcore.cumulative`, as measures."""

from calibcore.cumulative import ks_of, kuiper_of
from calibcore.metrics.measure import EventMeasure

KS_ERROR = EventMeasure(
    key="ks_error",
    name="KS error",
    group="cumulative",
    source="Gupta 2021, eq. 12",
    explained="Largest gap between cumulative scores and cumulative outcomes, rows sorted by"
    " score. No bins. 0% is best. It is not the KS of credit scoring, which measures separation.",
    formula="max over scores t of |sum_i 1(s_i <= t) (s_i - h_i)| / N; s the score of a row, h its"
    " outcome, 1 or 0, N the number of rows. Rows of equal score are one block.",
    ideal=0.0,
    short=True,
    interval="inverted",
    compute=lambda c, _: ks_of(c),
)

KUIPER = EventMeasure(
    key="kuiper",
    name="Kuiper",
    group="cumulative",
    source="Arrieta-Ibarra 2022",
    explained="Largest miscalibration of any range of scores: highest minus lowest gap between"
    " cumulative scores and outcomes.",
    formula="max over t of D(t) minus min over t of D(t), D(t) = sum_i 1(s_i <= t) (s_i - h_i) /"
    " N, both with D = 0 at the start.",
    ideal=0.0,
    interval="inverted",
    compute=lambda c, _: kuiper_of(c),
)
