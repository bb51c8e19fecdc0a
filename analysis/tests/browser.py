"""Headless Chromium, driven over Chrome's DevTools protocol through a pipe.

``--remote-debugging-pipe`` takes messages on descriptor 3 and gives them on descriptor 4, each
ended by a zero byte.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = next(filter(None, map(shutil.which, NAMES)), "")
"""A Chromium of this machine; empty if there is none."""
OPTIONS = "--headless=new --remote-debugging-pipe --no-sandbox --disable-gpu --no-first-run"
OPTIONS += " --disable-dev-shm-usage --disable-background-networking"


class Browser:
    """One page of a browser of its own; ``seen`` has every event since the page was opened."""

    def __init__(self, profile: Path) -> None:
        to_browser, self._to = os.pipe()
        self._from, from_browser = os.pipe()
        # bash copies the browser's ends to 3 and 4: sh may take one digit alone, and Python would
        # need a hook after the fork.
        line = ["bash", "-c", f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}', PROGRAM]
        line += [*OPTIONS.split(), f"--user-data-dir={profile}", "about:blank"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(line, pass_fds=(to_browser, from_browser), **quiet)
        os.close(to_browser)
        os.close(from_browser)
        self._numbers, self._rest, self._session = itertools.count(1), b"", ""
        self.seen: list[dict[str, Any]] = []
        page = next(t for t in self.send("Target.getTargets")["targetInfos"] if t["type"] == "page")
        attached = self.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Sends a command and waits for its result."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        message |= {"sessionId": self._session} if self._session else {}
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != number:
            self.seen.append(answer)
        assert "error" not in answer, f"{method}: {answer}"
        return answer["result"]

    def open(self, page: Path, fragment: str = "", width: int = 1280) -> None:
        """Opens a file in a window and waits until it says that it is ready."""
        window = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **window)
        self.send("Page.navigate", url="about:blank")  # so that another fragment loads it anew
        self.seen.clear()
        self.send("Page.navigate", url=f"{page.as_uri()}{fragment}")
        self.until("document.documentElement?.dataset.readyMs !== undefined")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page."""
        how = {"returnByValue": True, "awaitPromise": True}
        answer = self.send("Runtime.evaluate", expression=expression, **how)
        assert "exceptionDetails" not in answer, f"{expression}: {answer}"
        return answer["result"].get("value")

    def until(self, expression: str, what: str = "") -> None:
        """Waits until an expression is true; AssertionError if it does not become so."""
        end = time.monotonic() + 60
        while not self.evaluate(expression):
            lack = f"never came true: {what or expression}; {self.troubles()}"
            assert time.monotonic() < end, lack
            time.sleep(0.02)

    def point(self, selector: str) -> None:
        """Moves the mouse to the middle of an element, wherever it must be scrolled to."""
        x, y = self.evaluate(f"""(() => {{
            const target = document.querySelector({json.dumps(selector)});
            target.scrollIntoView({{ block: "center" }});
            const box = target.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        self.mouse("mouseMoved", x, y, "none")

    def mouse(self, what: str, x: float, y: float, button: str = "left") -> None:
        place = {"x": x, "y": y, "button": button, "clickCount": int(what != "mouseMoved")}
        self.send("Input.dispatchMouseEvent", type=what, **place)

    def troubles(self) -> list[str]:
        """Every error that the console or the page's own code reported, and every file fetched
        beside the page itself."""
        troubles = []
        for event in self.seen:
            what, method = event.get("params", {}), event.get("method")
            if method == "Runtime.consoleAPICalled":
                troubles += [what] * (what["type"] in ("error", "warning", "assert"))
            elif method == "Network.requestWillBeSent":
                own = what["request"]["url"].startswith(("data:", "blob:"))
                troubles += [what] * (not own and what.get("type") != "Document")
            elif method == "Runtime.exceptionThrown" or method == "Log.entryAdded":
                troubles.append(what)
        return list(map(str, troubles))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._from], [], [], 60)[0], "the browser says nothing"
            read = os.read(self._from, 1 << 20)
            assert read, "the browser ended"
            self._rest += read
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)
