"""A page in headless Chromium, with a script beside it that acts in it and sends back a value."""

import json
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = next(filter(None, map(shutil.which, NAMES)), "")
"""A Chromium of this machine; empty if there is none."""
OPTIONS = "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-dev-shm-usage"
WATCH = """<script>
console.error = console.warn = (...words) => parent.errors.push(words.join(" "));
addEventListener("error", ({ message }) =>
  message.startsWith("ResizeObserver loop") || parent.errors.push(message)); // no error: it waits
addEventListener("unhandledrejection", ({ reason }) => parent.errors.push(String(reason)));
</script>"""
BESIDE = """<link rel="icon" href="data:,"><iframe style="height: 900px"></iframe><script>
const frame = document.querySelector("iframe");
var errors = []; // of the window, so that the page finds it
const page = () => frame.contentDocument;
const id = (name) => page().getElementById(name);
async function until(holds, what) {
  for (let i = 0; i < 1200; ++i) {
    if (holds()) return;
    await new Promise((done) => setTimeout(done, 25));
  }
  throw Error("never came true: " + what);
}
async function open(hash = "", width = 1280) {
  frame.style.width = width + "px";
  frame.src = "about:blank";
  await until(() => page()?.URL === "about:blank", "leaving");
  frame.src = "/page" + hash;
  await until(() => page()?.documentElement?.dataset.readyMs, "ready");
}
(async () => { SCRIPT })().catch((error) => ({ failed: String(error) }))
  .then((value) => fetch("/", { method: "POST", body: JSON.stringify({ value, errors }) }));
</script>"""


def browse(page: Path, script: str, folder: Path) -> Any:
    """Run a script beside the page, and return what it returns. It fails if the page reports an
    error, or fetches anything."""
    answers: Queue[bytes] = Queue()
    beside = BESIDE.replace("SCRIPT", script)
    texts = {"/": beside, "/page": page.read_text(encoding="utf-8").replace("<head>", WATCH, 1)}

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            if self.path not in texts:
                answers.put(json.dumps({"failed": f"it fetches {self.path}"}).encode())
            self.wfile.write(texts.get(self.path, "").encode())

        def do_POST(self) -> None:
            answers.put(self.rfile.read(int(self.headers["Content-Length"])))

        def log_message(self, *_: Any) -> None:
            """Nothing is printed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        line = [PROGRAM, *OPTIONS.split(), f"--user-data-dir={folder / 'profile'}", address]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(line, **quiet) as browser:
            try:
                answer = json.loads(answers.get(timeout=120))
            finally:
                browser.kill()
        server.shutdown()
    value = answer.get("value")
    assert answer.get("errors") == [] and "failed" not in (value or ""), answer
    return value
