"""Write the schema of saved calibrators again: ``make generated``."""

import json
from pathlib import Path

import calibcore.calibrators
from calibcore.calibrators.schema import json_schema

FILE = Path(calibcore.calibrators.__file__).with_name("fitted.schema.json")

if __name__ == "__main__":
    FILE.write_text(json.dumps(json_schema(), indent=2) + "\n", encoding="utf-8")
