"""Controls a headless Chromium over its WebSocket (the DevTools protocol), using only Python's standard library."""
import base64
import json
import os
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import urllib.request

from waiting import wait_until

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Socket:
    """A WebSocket client: sends texts, receives messages."""

    def __init__(self, address, headers="", tls=None):
        """`tls`: trusted certificates for a wss:// address (ssl.SSLContext)."""
        host, _, path = address.removeprefix("ws://").removeprefix("wss://").partition("/")
        name, _, port = host.partition(":")
        self.line = socket.create_connection((name, int(port)), 30)
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            self.line = tls.wrap_socket(self.line, server_hostname=name)
        key = base64.b64encode(os.urandom(16)).decode()
        self.line.sendall(f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n{headers}\r\n".encode())
        self.rest = b""
        head = self.until(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            self.line.close()
            raise ConnectionRefusedError(head.decode())

    def until(self, end):
        while end not in self.rest:
            part = self.line.recv(65536)
            if not part:
                raise EOFError
            self.rest += part
        head, _, self.rest = self.rest.partition(end)
        return head

    def exactly(self, size):
        parts, left = [self.rest[:size]], size - len(self.rest[:size])
        self.rest = self.rest[size:]
        while left > 0:
            part = self.line.recv(left)
            if not part:
                raise EOFError
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        size = len(data)
        length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size) if size < 65536 else b"\xff" + struct.pack(">Q", size)
        self.line.sendall(b"\x81" + length + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)))

    def is_coming(self, patience_s):
        """Returns whether data has arrived or arrives within `patience_s`. The data is not read."""
        return len(self.rest) > 0 or bool(select.select([self.line], [], [], max(0, patience_s))[0])

    def receive(self):
        """Returns a message as str or bytes. Raises EOFError when the connection is closed."""
        message, is_text = b"", True
        while True:
            first, second = self.exactly(2)
            size = second & 0x7F
            if size >= 126:
                size = struct.unpack(">H" if size == 126 else ">Q", self.exactly(2 if size == 126 else 8))[0]
            part, kind = self.exactly(size), first & 0x0F
            if kind == 8:
                raise EOFError(part[2:].decode(errors="replace"))
            if kind == 9:
                self.line.sendall(b"\x8a\x80" + os.urandom(4))
            if kind in (1, 2):
                is_text = kind == 1
            if kind <= 2:
                message += part
                if first & 0x80:
                    return message.decode() if is_text else message


class Browser:
    def __init__(self, *words, width=1280, height=830):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.opened = []
        self.process = subprocess.Popen(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--remote-allow-origins=*",
             f"--user-data-dir={self.folder.name}", f"--window-size={width},{height}", *words, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.port = self.awaited_port()

    def awaited_port(self, timeout_s=60):
        def port():
            try:
                with open(f"{self.folder.name}/DevToolsActivePort", encoding="ascii") as file:
                    return int(file.readline())
            except (OSError, ValueError):
                return None

        return wait_until(port, "Chromium", timeout_s)

    def page(self, address):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(request) as answer:
            page = Page(json.load(answer)["webSocketDebuggerUrl"])
        self.opened.append(page)
        page.call("Page.enable")
        page.call("Page.navigate", url=address)
        return page

    def close(self):
        for page in self.opened:
            page.socket.line.close()
        self.process.terminate()
        self.process.wait(30)
        self.folder.cleanup()


class Page:
    def __init__(self, address):
        self.socket = Socket(address)
        self.number = 0

    def call(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.receive())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def value(self, expression):
        """Returns the value of a JavaScript expression; waits for promises."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, expression, timeout_s=60):
        def found():
            try:
                return self.value(expression)
            except RuntimeError:  # the page is still loading
                return None

        return wait_until(found, lambda: f"{expression}\n{self.value('document.body.innerText')}", timeout_s, every_s=0.02)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, start, end, steps=8):
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start, button="left", clickCount=1)
        for i in range(1, steps + 1):
            at = [a + (b - a) * i / steps for a, b in zip(start, end)]
            self.mouse("mouseMoved", *at, button="left", buttons=1)
        self.mouse("mouseReleased", *end, button="left", clickCount=1)

    def key(self, key, code, virtual, text="", modifiers=0):
        """Presses and then releases `key`. Modifiers: 1 Alt, 2 Ctrl, 4 Meta, 8 Shift."""
        held = [("Control", 17, 2), ("Shift", 16, 8)]
        for name, number, bit in held:
            if modifiers & bit:
                self.call("Input.dispatchKeyEvent", type="keyDown", key=name, code=f"{name}Left", windowsVirtualKeyCode=number, modifiers=bit)
        common = {"key": key, "code": code, "windowsVirtualKeyCode": virtual, "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)
        for name, number, bit in held:
            if modifiers & bit:
                self.call("Input.dispatchKeyEvent", type="keyUp", key=name, code=f"{name}Left", windowsVirtualKeyCode=number)

    def type(self, text):
        for sign in text:
            self.key(sign, f"Key{sign.upper()}" if sign.isalpha() else "Space", ord(sign.upper()), text=sign)

    def press(self, element):
        """Clicks the centre of an element of the page."""
        x, y = self.middle(element)
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def middle(self, element):
        box = self.value(f"(({{x, y, width, height}}) => [x, y, width, height])(document.getElementById('{element}').getBoundingClientRect())")
        assert box[2] > 0 and box[3] > 0, f"{element} is not shown"
        return box[0] + box[2] / 2, box[1] + box[3] / 2

    def touch(self, kind, *places):
        self.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(places)])

    def screenshot(self):
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])
