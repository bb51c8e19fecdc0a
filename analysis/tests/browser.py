"""Headless Chromium, driven over its own protocol through a pipe: what a test needs, with no
package beside pytest.

The protocol is Chrome's DevTools protocol; ``--remote-debugging-pipe`` takes messages on descriptor
3 and gives them on descriptor 4, each ended by a zero byte.
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
KEYS = {"ArrowUp": 38, "ArrowDown": 40}


def found() -> str:
    """A Chromium of this machine; empty if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), "")


class Browser:
    """One page of a browser of its own; ``seen`` has every event since the page was opened."""

    def __init__(self, program: str, profile: Path, width: int = 1280, height: int = 900) -> None:
        to_browser, self._to = os.pipe()
        self._from, from_browser = os.pipe()
        # bash copies the browser's ends to 3 and 4: sh may take one digit alone, and Python would
        # need a hook after the fork.
        redirected = ["bash", "-c", f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}', program]
        options = "--headless=new --remote-debugging-pipe --no-sandbox --disable-gpu --no-first-run"
        options += " --disable-dev-shm-usage --disable-background-networking"
        own = [f"--user-data-dir={profile}", f"--window-size={width},{height}", "about:blank"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        ends = (to_browser, from_browser)
        line = [*redirected, *options.split(), *own]
        self._process = subprocess.Popen(line, pass_fds=ends, **quiet)
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
        """Sends a command and waits for its result; RuntimeError with the browser's words if it
        refuses."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        message |= {"sessionId": self._session} if self._session else {}
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next(60.0)
            if answer.get("id") != number:
                self.seen.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def open(self, page: Path, fragment: str = "") -> None:
        """Opens a file and waits until it says that it is ready."""
        self.send("Page.navigate", url="about:blank")  # so that another fragment loads it anew
        self.seen.clear()
        self.send("Page.navigate", url=f"{page.as_uri()}{fragment}")
        self.until("document.documentElement?.dataset.readyMs !== undefined")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page."""
        how = {"returnByValue": True, "awaitPromise": True}
        answer = self.send("Runtime.evaluate", expression=expression, **how)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, expression: str, seconds: float = 300.0, what: str = "") -> None:
        """Waits until an expression is true; AssertionError if it does not become so."""
        end = time.monotonic() + seconds
        while not self.evaluate(expression):
            lack = f"never came true: {what or expression}; {self.troubles()}"
            assert time.monotonic() < end, lack
            time.sleep(0.02)

    def click(self, selector: str) -> None:
        """Clicks the middle of an element, wherever it must be scrolled to."""
        x, y = self.hover(selector)
        for what in ("mousePressed", "mouseReleased"):
            self.mouse(what, x, y)

    def hover(self, selector: str) -> tuple[float, float]:
        """Moves the mouse to the middle of an element, and returns where that is."""
        x, y = self.evaluate(f"""(() => {{
            const found = document.querySelector({json.dumps(selector)});
            found.scrollIntoView({{ block: "center" }});
            const box = found.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        self.mouse("mouseMoved", x, y)
        return x, y

    def mouse(self, what: str, x: float, y: float, held: bool = False) -> None:
        button = "none" if what == "mouseMoved" and not held else "left"
        place = {"x": x, "y": y, "button": button, "clickCount": int(what != "mouseMoved")}
        self.send("Input.dispatchMouseEvent", type=what, **place)

    def press(self, key: str) -> None:
        for what in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=what, key=key, windowsVirtualKeyCode=KEYS[key])

    def troubles(self) -> list[str]:
        """Every error that the console or the page's own code reported."""
        troubles = []
        for event in self.seen:
            what, method = event.get("params", {}), event.get("method")
            if method == "Runtime.exceptionThrown":
                troubles.append(what["exceptionDetails"])
            elif method == "Runtime.consoleAPICalled":
                troubles += [what["args"]] * (what["type"] in ("error", "warning", "assert"))
            elif method == "Log.entryAdded":
                troubles += [what["entry"]["text"]] * (what["entry"]["level"] == "error")
        return list(map(str, troubles))

    def requests(self) -> list[str]:
        """Everything that was asked for since the page was opened."""
        return [
            event["params"]["request"]["url"]
            for event in self.seen
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **size)

    def _next(self, seconds: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._from], [], [], seconds)[0], "the browser says nothing"
            read = os.read(self._from, 1 << 20)
            assert read, "the browser ended"
            self._rest += read
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)
