"""`echolux serve`: what it prints and refuses, the messages of a page without a browser, and a real browser (Chromium)."""
import hashlib
import json
import os
import queue
import re
import signal
import stat
import struct
import threading
import time
import unittest
import urllib.error
import urllib.request
import zlib

import numpy as np

from browser import CHROMIUM, Browser, Socket
from support import ProgramCase, start, write_scan

HEADER = struct.Struct("<BBBBIIIIfffII")


class Served:
    """The program while it serves."""

    def __init__(self, folder, *words):
        self.process = start("serve", *words, "--port", 0, "--fresh", folder=folder)
        self.lines = queue.Queue()
        self.sockets = []
        threading.Thread(target=self.read, daemon=True).start()
        self.steer, self.watch = self.address("to steer:"), self.address("to watch:")

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)

    def address(self, begin, timeout_s=60):
        line = self.lines.get(timeout=timeout_s)
        assert line.startswith(begin), line
        return line.split()[-1]

    @property
    def token(self):
        return self.steer.split("token=")[1]

    def socket(self, address=None):
        opened = Socket((address or self.steer).replace("http://", "ws://").replace("/?", "/ws?"))
        self.sockets.append(opened)
        return opened

    def end(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(60)
        for opened in self.sockets:
            opened.line.close()
        errors = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return code, errors


def told(socket, kind):
    """The next message of this type."""
    while True:
        message = socket.receive()
        if isinstance(message, str) and json.loads(message)["type"] == kind:
            return json.loads(message)


def picture(socket, is_still=False):
    while True:
        message = socket.receive()
        if isinstance(message, str):
            continue
        head = HEADER.unpack(message[:HEADER.size])
        socket.send(json.dumps({"type": "shown", "picture": head[4]}))
        if not is_still or head[0] == 1:
            return head, message[HEADER.size:]


def size_of_png(data):
    return struct.unpack(">II", data[16:24])


class Serve(ProgramCase):
    def setUp(self):
        super().setUp()
        write_scan(self.folder)
        self.succeed("reconstruct", "scan.toml", "-o", "v.nrrd")

    def serve(self, *words):
        served = Served(self.folder, *words)
        self.addCleanup(lambda: served.process.poll() is None and served.end())
        return served

    def test_without_a_browser(self):
        """A page's messages: the first picture, a still at rest, nothing more; who steers and who watches; how it ends."""
        served = self.serve("v.nrrd", "--size", "480x320", "--token-file", "kept/token")
        self.assertEqual(stat.S_IMODE(os.stat(self.folder / "kept/token").st_mode), 0o600)
        self.assertEqual((self.folder / "kept/token").read_text().split()[0], served.token)
        one, other = served.socket(), served.socket(served.watch)
        one.send(json.dumps({"type": "hello", "codecs": ["jpeg"]}))
        self.assertTrue(told(one, "roles")["steers"])
        head, jpeg = picture(one)
        if head[0] == 0:  # else there is no FFmpeg here
            self.assertEqual(jpeg[:2], b"\xff\xd8")
        head, still = picture(one, is_still=True)
        self.assertEqual(size_of_png(still), (480, 320))
        other.send(json.dumps({"type": "hello", "codecs": ["jpeg"]}))
        self.assertFalse(told(other, "roles")["steers"])
        self.assertEqual(picture(other, is_still=True)[1], still)
        other.send(json.dumps({"type": "input", "number": 1, "events": [["w", 0, 5]]}))  # hands of a watcher do nothing
        one.line.settimeout(1.5)
        with self.assertRaises(TimeoutError):
            picture(one)  # at rest nothing is sent
        one.line.settimeout(30)
        one.send(json.dumps({"type": "input", "number": 7, "events": [["m", 240, 100], ["w", 0, 2]]}))
        head, _ = picture(one)
        self.assertEqual(head[5], 7)  # the picture that shows it says so
        code, errors = served.end()
        self.assertEqual(code, 130)
        self.assertNotIn(served.token, errors)

    def test_what_is_refused(self):
        served = self.serve("v.nrrd", "--size", "480x320")
        with self.assertRaises(ConnectionRefusedError):
            served.socket(served.steer[:-1] + ("A" if served.steer[-1] != "A" else "B"))
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(served.steer.split("?")[0])
        refused.exception.close()
        self.assertEqual(refused.exception.code, 403)
        again = self.run_program("serve", "v.nrrd", "--fresh", "--port", re.search(r":(\d+)/", served.steer)[1])
        self.assertEqual(again.code, 1)
        self.assertIn("choose another port", again.error_lines[-1])
        for words, problem in ((["--key", "k.pem"], "given together"), (["--uploads", "none"], "not a folder"),
                               (["--password-file", "none"], "none")):
            finished = self.run_program("serve", "v.nrrd", "--fresh", "--port", 0, *words)
            self.assertEqual(finished.code, 1, finished)
            self.assertIn(problem, finished.error_lines[-1])
        self.assertEqual(served.end()[0], 130)

    @unittest.skipIf(CHROMIUM is None, "there is no Chromium here")
    def test_a_browser(self):
        """Opens the address, turns the volume, drops a file; a second one watches; the line is cut and comes back."""
        (self.folder / "up").mkdir()
        served = self.serve("v.nrrd", "--uploads", "up")
        browser = Browser()
        self.addCleanup(browser.close)
        page = browser.page(served.steer)
        still = "window.echolux && echolux.video.last && echolux.video.last.isStill && echolux.video.last.picture"
        page.until(still)
        self.assertNotIn("token", page.value("location.href"))
        self.assertEqual(page.value("document.getElementById('state').textContent"), "you steer")
        width, height = page.value("[echolux.video.canvas.width, echolux.video.canvas.height]")
        self.assertEqual(width, 1280)

        # What the page shows at rest is the still that any other client gets, bit for bit.
        other = served.socket(served.watch)
        other.send(json.dumps({"type": "hello", "codecs": ["jpeg"]}))
        _, png = picture(other, is_still=True)
        before = page.until(f"({still}) && echolux.video.hash()")
        self.assertEqual(before, hash_of_png(png, width, height))

        page.drag((640, 250), (760, 300))
        page.until(f"({still}) && echolux.hands.number > 0 && echolux.shown.answers.length > 0")
        after = page.until(f"({still}) && echolux.video.hash()")
        self.assertNotEqual(after, before)
        self.assertGreater(page.value("echolux.shown.figures().latency_p50"), 0)

        elsewhere = Browser()  # a browser keeps one token for a server
        self.addCleanup(elsewhere.close)
        watcher = elsewhere.page(served.watch)
        watcher.until("window.echolux && echolux.video.last && echolux.video.last.isStill")
        self.assertFalse(watcher.value("echolux.line.steers"))
        self.assertEqual(watcher.until("echolux.video.hash()"), page.value("echolux.video.hash()"))

        page.value("""echolux.files.send([new File(["NRRD0004\\ntype: uint8\\ndimension: 3\\nsizes: 2 2 2\\nencoding: raw\\n\\n"
            + "abcdefgh"], "a cube.nrrd")])""")
        self.assertTrue((self.folder / "up" / "a cube.nrrd").is_file(), page.value("document.body.innerText"))
        page.until(f"({still}) && true")

        connections = page.value("echolux.line.connections")
        page.value("echolux.line.socket.close()")
        page.until(f"echolux.line.connections > {connections} && echolux.line.steers && ({still})")
        self.assertGreater(len(page.screenshot()), 10000)


def hash_of_png(png, width, height):
    """SHA-256 of the RGB pixels, by a reader that shares nothing with the program: one chunk, filter "up" on every row."""
    at, body = 8, b""
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IDAT":
            body += png[at + 8:at + 8 + size]
        at += size + 12
    rows = np.frombuffer(zlib.decompress(body), np.uint8).reshape(height, 3 * width + 1)
    assert (rows[:, 0] == 2).all()
    pixels = np.add.accumulate(rows[:, 1:], axis=0, dtype=np.uint8)
    return hashlib.sha256(pixels.tobytes()).hexdigest()


if __name__ == "__main__":
    unittest.main()
