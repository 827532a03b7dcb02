"""A container of the image, from `docker run` to the first question that a model is asked, on the bundled dataset.

Target: under 3 s on two cores that do nothing else. The engine's host must be this machine: the model listens on its loopback.

ext4 passes one by one over every inode that was freed within the last five minutes, so that a container which follows another
may pay 0.7 ms for each file that it makes, where a cold one pays 0.03. `--pause 330` waits that long before each run;
`chattr +T` on the folder with the engine's layers spreads them over the disk, which has the same effect at once.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DATASET = "/opt/nl2sql-gate/datasets/thistledown"
ANSWER = b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": "SELECT 1"}, "finish_reason": "stop"}]}'


class Model(ThreadingHTTPServer):
    """Answers all questions alike, and notes when each came."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[float] = []


class Handler(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        self.server.asked.append(time.monotonic())
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


def first_question(image: str, dialects: list[str]) -> tuple[float, float]:
    """Seconds to the first question, and to the end of the run."""
    with Model() as model:
        thread = threading.Thread(target=model.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        command = [
            "docker",
            "run",
            "--rm",
            "--network",
            "host",
            image,
            "run",
            "--model",
            "m",
            "--api-key",
            "k",
            "--out",
            "out",
        ]
        command += ["--dataset", f"{DATASET}/items.json", "--setup-directory", f"{DATASET}/setup"]
        command += ["--base-url", f"http://127.0.0.1:{model.server_address[1]}/v1"]
        command += [word for dialect in dialects for word in ("--dialect", dialect)]
        started = time.monotonic()
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        ended = time.monotonic()
        model.shutdown()
        thread.join()
    if not model.asked:
        raise SystemExit(f"no question was asked: {ran.stdout}{ran.stderr}")
    return model.asked[0] - started, ended - started


def main() -> None:
    """Print a line for each set of dialects."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("image")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--pause", type=float, default=0, metavar="SECONDS", help="before each run")
    given = parser.parse_args()
    for dialects in (["sqlite"], ["duckdb"], ["postgres"], ["mariadb"], ["sqlite", "postgres"]):
        runs = []
        for _ in range(given.times):
            time.sleep(given.pause)
            runs.append(first_question(given.image, dialects))
        asked, whole = (statistics.median(times) for times in zip(*runs, strict=True))
        print(f"{', '.join(dialects):<26}  first question {asked:5.2f} s   whole run {whole:5.2f} s")


if __name__ == "__main__":
    main()
