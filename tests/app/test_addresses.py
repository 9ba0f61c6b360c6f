"""What the controls of all pages write into the address."""

import ast
from collections import Counter
from pathlib import Path

DASHBOARD = Path(__file__).parents[2] / "dashboard"


def bound_keys(code: str) -> list[str]:
    """List the keys of the controls that are bound to the address."""
    keys: list[str] = []
    for call in ast.walk(ast.parse(code)):
        if isinstance(call, ast.Call):
            named = {word.arg: word.value for word in call.keywords}
            if "bind" in named:
                inside = ast.walk(named["key"])
                constants = [part.value for part in inside if isinstance(part, ast.Constant)]
                keys += [value for value in constants if isinstance(value, str)]
    return keys


def test_no_two_controls_share_a_word_of_the_address() -> None:
    files = sorted(DASHBOARD.rglob("*.py"))
    counted = Counter(key for file in files for key in bound_keys(file.read_text("utf-8")))
    assert counted["event"] == 1
    assert [key for key, times in counted.items() if times > 1] == []
