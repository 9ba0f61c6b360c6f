"""Files are counted in a store that speaks S3, by a server on this machine: `make engines`."""

import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from pyarrow import fs

from dashboard.cli.main import main
from tests.engines.test_dask import rows

SERVER = Path(__file__).parents[2] / ".venv-store" / "bin" / "moto_server"
if not SERVER.exists():
    pytest.skip("is installed by make engines", allow_module_level=True)

COLUMNS = "--score", "p", "--outcome", "y"


@pytest.fixture(scope="module")
def options() -> Iterator[str]:
    """Serve a bucket with a folder a day; how an address says where."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [SERVER, "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(300):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.2)
        place = f"127.0.0.1:{port}"
        store = fs.S3FileSystem(
            access_key="KEY", secret_key="SECRET", endpoint_override=place,  # noqa: S106 - of none
            scheme="http", region="us-east-1", allow_bucket_creation=True,
        )  # fmt: skip
        store.create_dir("bucket")
        for k in range(4):
            part = pa.Table.from_pandas(rows().iloc[k::4][["p", "y"]], preserve_index=False)
            pq.write_table(part, f"bucket/logs/day={k}/part.parquet", filesystem=store)
        yield f"?endpoint_override={place}&scheme=http&region=us-east-1"
    finally:
        server.terminate()
        server.wait()


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [*map(str, words)], catch_exceptions=False)


def test_a_bucket_is_counted_and_audited_as_a_folder(options: str, tmp_path: Path) -> None:
    for k in range(4):
        (tmp_path / "logs" / f"day={k}").mkdir(parents=True)
        part = rows().iloc[k::4][["p", "y"]]
        part.to_parquet(tmp_path / "logs" / f"day={k}" / "part.parquet")
    out = tmp_path / "out.parquet"
    bucket = "s3://KEY:SECRET@bucket/logs"
    written = []
    for place in (tmp_path / "logs", bucket + options, f"{bucket}/**/*.parquet{options}"):
        done = run("summarise", place, *COLUMNS, "--by", "day", "-o", out)
        assert "4 groups of day" in done.stdout, done.stderr
        written.append(out.read_bytes())
    assert written == [written[0]] * 3
    printed = [
        run("audit", *given, "--resamples", "0").stdout.splitlines()[1:]
        for given in (
            (out,),
            (bucket + options, *COLUMNS, "--by", "day", "--engine", "here", "--processes", "2"),
        )
    ]
    assert printed[0] == printed[1]


@pytest.mark.parametrize("place", ["bucket/none", "other/logs", "bucket/logs/*.csv"])
def test_no_message_shows_credentials(place: str, options: str, tmp_path: Path) -> None:
    refused = run("summarise", f"s3://KEY:SECRET@{place}{options}", *COLUMNS,
                  "-o", tmp_path / "a.parquet")  # fmt: skip
    assert refused.exit_code == 2
    assert f"s3://{place}, where no file is" in refused.stderr
    assert "KEY" not in refused.stderr
    assert "SECRET" not in refused.stderr
