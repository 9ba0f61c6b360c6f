"""The measures of how far scores are from perfect calibration, in the order of the tables."""

from calibcore.binning import BinTable, bin_tally
from calibcore.cumulative import ks_of, kuiper_of
from calibcore.metrics import binned, kernel
from calibcore.metrics.classwise import (
    classwise_ece,
    classwise_ks,
    max_classwise_ece,
    max_classwise_ks,
)
from calibcore.metrics.kernel import kde_classwise_ece
from calibcore.metrics.measure import ClassMeasure, EventMeasure
from calibcore.metrics.pairwise import event_skce_of, mmce_of, skce, true_skce_of
from calibcore.metrics.sweep import sweep_ece_of
from calibcore.tally import Tally


def _equal_width(counted: Tally, n_bins: int) -> BinTable:
    return bin_tally(counted, n_bins=n_bins)


def _equal_mass(counted: Tally, n_bins: int) -> BinTable:
    return bin_tally(counted, n_bins=n_bins, binning="equal_mass")


DISTANCES: tuple[EventMeasure | ClassMeasure, ...] = (
    EventMeasure(
        key="ks_error",
        name="KS error",
        group="cumulative",
        source="Gupta 2021, eq. 12",
        ideal=0.0,
        short=True,
        interval="inverted",
        compute=lambda c, _: ks_of(c),
    ),
    EventMeasure(
        key="kuiper",
        name="Kuiper",
        group="cumulative",
        source="Arrieta-Ibarra 2022",
        ideal=0.0,
        interval="inverted",
        compute=lambda c, _: kuiper_of(c),
    ),
    ClassMeasure(
        key="classwise_ks",
        name="Class-wise KS error",
        group="cumulative",
        source="Gupta 2021, eq. 12",
        ideal=0.0,
        compute=lambda p, y, _: classwise_ks(p, y),
    ),
    ClassMeasure(
        key="max_classwise_ks",
        name="Class-wise KS error, worst class",
        group="cumulative",
        source="Gupta 2021, eq. 12",
        ideal=0.0,
        compute=lambda p, y, _: max_classwise_ks(p, y),
    ),
    EventMeasure(
        key="ece",
        name="ECE, equal-width bins",
        group="binned",
        source="Guo 2017, eq. 3",
        ideal=0.0,
        short=True,
        interval="inverted",
        compute=lambda c, o: binned.ece_of(c.once(_equal_width, o.n_bins)),
    ),
    EventMeasure(
        key="ece_equal_mass",
        name="ECE, equal-mass bins",
        group="binned",
        source="Vasilev 2023, section 3.2",
        ideal=0.0,
        interval="inverted",
        compute=lambda c, o: binned.ece_of(c.once(_equal_mass, o.n_bins)),
    ),
    EventMeasure(
        key="ece_l2",
        name="ECE, squared gaps",
        group="binned",
        source="Kumar 2019",
        ideal=0.0,
        interval="inverted",
        compute=lambda c, o: binned.ece_of(c.once(_equal_mass, o.n_bins), norm=2),
    ),
    EventMeasure(
        key="debiased_ece",
        name="ECE, squared gaps, debiased",
        group="binned",
        source="Kumar 2019",
        ideal=0.0,
        interval="inverted",
        truth=lambda c, o: binned.ece_of(c.once(_equal_mass, o.n_bins), norm=2),
        compute=lambda c, o: binned.debiased_ece_of(c.once(_equal_mass, o.n_bins)),
    ),
    EventMeasure(
        key="sweep_ece",
        name="ECE, monotone sweep",
        group="binned",
        source="Roelofs 2022",
        ideal=0.0,
        interval="inverted",
        compute=lambda c, _: sweep_ece_of(c),
    ),
    EventMeasure(
        key="mce",
        name="MCE",
        group="binned",
        source="Guo 2017, eq. 5",
        ideal=0.0,
        interval="inverted",
        compute=lambda c, o: binned.mce_of(c.once(_equal_width, o.n_bins)),
    ),
    EventMeasure(
        key="mce_equal_mass",
        name="MCE, equal-mass bins",
        group="binned",
        source="Vasilev 2023, section 3.2",
        ideal=0.0,
        interval="inverted",
        compute=lambda c, o: binned.mce_of(c.once(_equal_mass, o.n_bins)),
    ),
    ClassMeasure(
        key="classwise_ece",
        name="Class-wise ECE",
        group="binned",
        source="Vasilev 2023, eq. 9",
        ideal=0.0,
        short=True,
        compute=lambda p, y, o: classwise_ece(p, y, n_bins=o.n_bins),
    ),
    ClassMeasure(
        key="max_classwise_ece",
        name="Class-wise ECE, worst class",
        group="binned",
        source="Vasilev 2023, eq. 9",
        ideal=0.0,
        compute=lambda p, y, o: max_classwise_ece(p, y, n_bins=o.n_bins),
    ),
    ClassMeasure(
        key="classwise_ece_equal_mass",
        name="Class-wise ECE, equal-mass bins",
        group="binned",
        source="Vasilev 2023, section 3.2",
        ideal=0.0,
        compute=lambda p, y, o: classwise_ece(p, y, n_bins=o.n_bins, binning="equal_mass"),
    ),
    EventMeasure(
        key="kde_ece",
        name="KDE-ECE",
        group="kernel",
        source="Zhang 2020, eq. 6",
        ideal=0.0,
        interval="inverted",
        compute=lambda c, o: kernel.kde_ece_of(c, rough=o.rough),
    ),
    EventMeasure(
        key="kde_ece_l2",
        name="KDE-ECE, squared gaps",
        group="kernel",
        source="Zhang 2020, eq. 6, d = 2",
        ideal=0.0,
        interval="inverted",
        compute=lambda c, o: kernel.kde_ece_of(c, norm=2, rough=o.rough),
    ),
    ClassMeasure(
        key="kde_classwise_ece",
        name="Class-wise KDE-ECE",
        group="kernel",
        source="Zhang 2020, section 4.1",
        ideal=0.0,
        is_tested_only=True,
        compute=lambda p, y, _: kde_classwise_ece(p, y),
    ),
    EventMeasure(
        key="smooth_ece",
        name="Smooth ECE",
        group="kernel",
        source="Blasiok 2024",
        ideal=0.0,
        interval="inverted",
        compute=lambda c, o: kernel.smooth_ece_of(c, rough=o.rough),
    ),
    EventMeasure(
        key="mmce",
        name="MMCE",
        group="kernel",
        source="Kumar, Sarawagi, Jain 2018",
        ideal=0.0,
        interval="inverted",
        compute=lambda c, _: mmce_of(c),
    ),
    EventMeasure(
        key="event_skce",
        name="SKCE of the event",
        group="kernel",
        source="Widmann 2019",
        unit="small",
        ideal=0.0,
        interval="inverted",
        truth=lambda c, _: true_skce_of(c),
        compute=lambda c, _: event_skce_of(c),
    ),
    ClassMeasure(
        key="skce",
        name="SKCE, all classes",
        group="kernel",
        source="Widmann 2019",
        unit="small",
        ideal=0.0,
        is_tested_only=True,
        compares_pairs=True,
        compute=lambda p, y, _: skce(p, y),
    ),
)
"""Those that are 0 where no row is miscalibrated and rows are without number."""
