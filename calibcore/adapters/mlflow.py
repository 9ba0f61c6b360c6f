"""Audits and calibrators in MLflow; needs the extra ``mlflow``."""

import math
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from calibcore.auditing import AuditResult
from calibcore.errors import CalibrationInputError
from calibcore.export.calibrator_file import CalibratorFile
from calibcore.validation import Floats


def log_audit(
    result: AuditResult,
    name: str = "calibration",
    *,
    figures: Mapping[str, object] | None = None,
    report: bool = False,
    step: int | None = None,
) -> None:
    """Log an audit to the active run: each measure, what was audited, and files.

    ``name`` is what metrics, parameters and files begin with, such as
    ``calibration/before/ks_error``; a measure without a finite value is left out. ``figures``: by
    names of files that end in ".html", such as those of `dashboard.figures`. ``report``: whether
    the dashboard's report is a file too, which takes some seconds. ``step``: of the metrics.
    """
    import mlflow  # noqa: PLC0415 - of an extra

    sides = ("before",) if result.fitted is None else ("before", "after")
    values = {
        f"{name}/{side}/{one.measure.key}": getattr(one, side)
        for one in result.test.comparisons
        for side in sides
    }
    finite = {key: one for key, one in values.items() if one is not None and math.isfinite(one)}
    mlflow.log_metrics(finite, step=step)
    facts: dict[str, object] = {"n_samples": result.test.n_samples}
    if result.request is not None:
        facts |= {"event": result.request.event, "calibrator": result.request.calibrator}
    mlflow.log_params({f"{name}/{key}": repr(value) for key, value in facts.items()})
    mlflow.set_tag(f"{name}/direction", result.verdict.before.direction)
    mlflow.log_text(result.to_json(), f"{name}/audit.json")
    for file, figure in (figures or {}).items():
        mlflow.log_figure(figure, f"{name}/{file}")
    if report:
        with TemporaryDirectory() as folder:
            result.report(Path(folder, "report.html"))
            mlflow.log_artifact(str(Path(folder, "report.html")), name)


def log_calibrator(calibrator: CalibratorFile, name: str = "calibrator", **options: Any) -> Any:
    """Log a calibrator as a model, which ``mlflow.pyfunc.load_model`` loads: JSON, and no pickle.

    Its ``predict`` is `CalibratorFile.apply`, its ``get_raw_model()`` the calibrator. One by group
    is refused, as a model is given scores alone. ``**options``: of ``mlflow.pyfunc.log_model``,
    whose answer is returned; ``pip_requirements`` are by default this version of Fractile.
    """
    import mlflow  # noqa: PLC0415 - of an extra

    if calibrator.needs_groups:
        raise CalibrationInputError("calibrator", "one by group", "one that takes no groups")
    options = {"pip_requirements": [f"fractile=={version('fractile')}"], **options}
    with TemporaryDirectory() as folder:
        path = Path(folder, "calibrator.json")
        path.write_text(calibrator.to_json(), encoding="utf-8")
        loader = {"loader_module": __name__, "data_path": str(path)}
        return mlflow.pyfunc.log_model(name=name, **loader, **options)


class _Model:
    def __init__(self, calibrator: CalibratorFile) -> None:
        self._calibrator = calibrator

    def predict(self, model_input: Any) -> Floats:
        return self._calibrator.apply(model_input)

    def get_raw_model(self) -> CalibratorFile:
        return self._calibrator


def _load_pyfunc(path: str) -> _Model:
    return _Model(CalibratorFile.from_json(Path(path).read_text(encoding="utf-8")))
