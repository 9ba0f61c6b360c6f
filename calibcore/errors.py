"""The one exception with which calibcore refuses an input."""


class CalibrationInputError(ValueError):
    """An input that cannot be used, said in one sentence.

    Parameters
    ----------
    field : str
        Name of the argument or of the part of a file that is at fault.
    actual : str
        What was found there.
    expected : str
        What is expected instead.

    Examples
    --------
    >>> print(CalibrationInputError("labels", "5 values", "one label a row of logits (4)"))
    labels: 5 values. Expected one label a row of logits (4).
    """

    def __init__(self, field: str, actual: str, expected: str) -> None:
        super().__init__(
            f"{field}: {actual}. Expected {expected}{'' if expected.endswith('?') else '.'}"
        )
        self.field = field
        self.actual = actual
        self.expected = expected

    def __reduce__(self) -> tuple[type["CalibrationInputError"], tuple[str, str, str]]:
        """Let the error cross process boundaries with its three parts."""
        return type(self), (self.field, self.actual, self.expected)
