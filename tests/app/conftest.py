"""Files are parsed without a process of their own, which would take most of the time."""

from tests.parsing import parsed_here  # noqa: F401 - for every test here
