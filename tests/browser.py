# SPDX-License-Identifier: MIT
"""A page in headless Chromium, driven over a pipe; only Python's own library.

    with Browser() as b:
        b.open("file:///tmp/a.html", width=1280)
        b.evaluate("document.title")
        b.messages          # console messages, exceptions, failed loads
        b.screenshot("a.png")

browser.py PAGE PNG [WIDTH] takes a picture of the whole page.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile


def snap(path):
    """Ubuntu's, which sees a /tmp of its own, or the script that asks for it."""
    path = os.path.realpath(path)
    with open(path, "rb") as f:
        head = f.read(4096)
    return os.path.basename(path) == "snap" or head.startswith(b"#!") and b"/snap/" in head


def find():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path and not snap(path):
            return path
    return None


class Browser:
    def __enter__(self):
        self.home = tempfile.mkdtemp()
        with open(os.path.join(self.home, "Local State"), "w") as f:
            json.dump({"internal_only_uis_enabled": True}, f)  # chrome://tracing
        to_read, self.write = os.pipe()
        self.read, to_write = os.pipe()

        def fds():
            # the browser reads commands from 3 and answers on 4
            a, b = os.dup(to_read), os.dup(to_write)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            # without its sandbox, so that root and containers may run it
            [find(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--remote-debugging-pipe", "--user-data-dir=" + self.home,
             "--hide-scrollbars", "about:blank"],
            preexec_fn=fds, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.last, self.messages, self.events, self.session = b"", 0, [], [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.buffer:
            if not select.select([self.read], [], [], 120)[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.read, 1 << 20)
            if not more:
                raise EOFError("the browser is gone")
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(message)
        name, params = message.get("method"), message.get("params", {})
        if name == "Runtime.consoleAPICalled":
            self.messages.append(params["type"] + ": " + str(params["args"]))
        elif name == "Runtime.exceptionThrown":
            self.messages.append("exception: " + str(params["exceptionDetails"]))
        elif name == "Log.entryAdded":
            self.messages.append(params["entry"]["level"] + ": " + params["entry"]["text"])
        elif name == "Network.requestWillBeSent":
            self.events.append(("request", params["request"]["url"]))
        elif name == "Page.loadEventFired":
            self.events.append(("loaded", None))
        return message

    def call(self, method, **params):
        self.last += 1
        command = {"id": self.last, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.write, json.dumps(command).encode() + b"\0")
        while True:
            message = self.receive()
            if message.get("id") == self.last:
                if "error" in message:
                    raise RuntimeError(method + ": " + str(message["error"]))
                return message["result"]

    def open(self, url, width=1280, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.events = []
        self.call("Page.navigate", url=url)
        while ("loaded", None) not in self.events:
            self.receive()

    def requests(self):
        return [url for kind, url in self.events if kind == "request"]

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return result["result"].get("value")

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))


if __name__ == "__main__":
    with Browser() as browser:
        browser.open("file://" + os.path.abspath(sys.argv[1]), int(sys.argv[3]) if len(sys.argv) > 3 else 1280)
        browser.screenshot(sys.argv[2])
        print(*browser.messages, sep="\n")
