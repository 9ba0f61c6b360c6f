"""Two sets that belong together: the same classes in both, in one order."""

from dataclasses import replace

from dashboard.readers.contents import SET_NAMES, RawEvent, RawSet
from dashboard.readers.meaning.labels import only_numbers
from dashboard.readers.refusal import FileError, plain, quoted


def same_classes(
    calibration: RawSet | RawEvent, test: RawSet | RawEvent
) -> tuple[RawSet | RawEvent, tuple[str, ...], tuple[str, ...]]:
    """Bring the class columns of the test set into the order of those of the calibration set.

    Returns
    -------
    RawSet or RawEvent
        The test set.
    tuple of str, tuple of str
        What was mended, and what may be doubted.
    """
    if isinstance(calibration, RawEvent) or isinstance(test, RawEvent):
        return test, (), ()
    names, others = calibration.class_names or (), test.class_names or ()
    if names == others or test.table is None:
        return test, (), ()
    if test.table.ndim != 2:
        return test, (), _scores_named(calibration, test)
    if not names or not others:
        return test, (), _named_once(names, others)
    if set(names) != set(others) or len(names) != len(others):
        odd = next((name for name in others if name not in names), others[0])
        said = (
            f"The two sets name their classes differently ({quoted(names[0], 30)} in one,"
            f" {quoted(odd, 30)} in the other), and are taken to have them in the same order."
        )
        return test, (), (said,)
    if test.label_texts is None and not only_numbers(names):
        raise FileError(
            "classes",
            f"columns in another order in the test set ({plain(', '.join(others[:3]), 60)}), and"
            " labels that are numbers",
            "the same order in both sets, or labels that name classes",
        )
    order = [others.index(name) for name in names]
    hot = test.labels is not None and test.labels.ndim == 2 and test.labels.shape[1] == len(order)
    mended = replace(
        test,
        table=test.table[:, order],
        labels=test.labels[:, order] if hot and test.labels is not None else test.labels,
        class_names=names,
        headings=calibration.headings,
    )
    said = "Class columns of the test set were put in the order of those of the calibration set."
    return mended, (said,), ()


def _scores_named(calibration: RawSet, test: RawSet) -> tuple[str, ...]:
    """Doubt two scores of other names, unless the labels tell of which class each is."""
    texts = {*(calibration.label_texts or ()), *(test.label_texts or ())}
    names = [part.class_names[0] for part in (calibration, test) if part.class_names]
    if len(names) < 2 or texts.issuperset(names):
        return ()
    headings = [(part.headings or names)[0] for part in (calibration, test)]
    said = (
        f"The score is called {quoted(headings[0], 30)} in the calibration set and"
        f" {quoted(headings[1], 30)} in the test set, and is taken to be of the same class."
    )
    return (said,)


def _named_once(names: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    """Doubt the order of classes that only one set names."""
    named = names or others
    if named in (tuple(map(str, range(len(named)))), tuple(map(str, range(1, len(named) + 1)))):
        return ()
    where = SET_NAMES["calibration" if names else "test"]
    said = (
        f"Only the {where} names its classes ({plain(', '.join(named[:3]), 60)}"
        f"{', ...' if len(named) > 3 else ''}): the other is taken to have them in the same order."
    )
    return (said,)
