"""`echolux serve`: its output and refusals, the messages of a page without a browser, and a real browser (Chromium)."""
import hashlib
import json
import os
import stat
import unittest

from browser import CHROMIUM, Browser
from png_files import read_png
from served import Served, asked, coming, picture, size_of_png, told
from scans import write_scan
from support import ProgramCase

class Serve(ProgramCase):
    def setUp(self):
        super().setUp()
        write_scan(self.folder)
        self.succeed("reconstruct", "scan.toml", "-o", "v.nrrd")

    def serve(self, *words):
        served = Served(self.folder, *words)
        self.addCleanup(lambda: served.process.poll() is None and served.end())
        return served

    def test_slow_without_browser(self):
        """A page's messages: the first picture, a still at rest, then nothing; steering and watching; the end."""
        served = self.serve("v.nrrd", "--size", "480x320", "--token-file", "kept/token")
        self.assertEqual(stat.S_IMODE(os.stat(self.folder / "kept/token").st_mode), 0o600)
        self.assertEqual((self.folder / "kept/token").read_text().split()[0], served.token)
        one, other = served.socket(), served.socket(served.watch)
        one.send(json.dumps({"type": "hello", "codecs": ["jpeg"]}))
        self.assertTrue(told(one, "roles")["steers"])
        head, jpeg = picture(one)
        if head[0] == 0:  # otherwise FFmpeg is not installed
            self.assertEqual(jpeg[:2], b"\xff\xd8")
        head, still = picture(one, is_still=True)
        self.assertEqual(size_of_png(still), (480, 320))
        other.send(json.dumps({"type": "hello", "codecs": ["jpeg"]}))
        self.assertFalse(told(other, "roles")["steers"])
        self.assertEqual(picture(other, is_still=True)[1], still)
        before = asked(one, "get", keys=["view"])
        other.send(json.dumps({"type": "input", "number": 1, "events": [["m", 240, 100], ["w", 0, 5]]}))
        asked(other, "state")  # waits until the server has handled the earlier messages
        self.assertEqual(asked(one, "get", keys=["view"]), before)  # a watcher cannot change anything
        # At rest, nothing is sent.
        self.assertEqual([message for message in coming(one, 1.5) if isinstance(message, bytes)], [])
        one.send(json.dumps({"type": "input", "number": 7, "events": [["m", 240, 100], ["w", 0, 2]]}))
        head, _ = picture(one)
        self.assertEqual(head[5], 7)  # the number of the last input that the picture shows
        self.assertNotEqual(asked(one, "get", keys=["view"]), before)
        code, errors = served.end()
        self.assertEqual(code, 130)
        self.assertNotIn(served.token, errors)

    def test_phone_keeps_size_of_window(self):
        """The size of a remote page does not change the size of the local window."""
        served = self.serve("v.nrrd")
        phone = served.socket()
        before = asked(phone, "get", keys=["window.width", "window.height"])
        phone.send(json.dumps({"type": "hello", "codecs": ["jpeg"]}))
        phone.send(json.dumps({"type": "size", "width": 390, "height": 844, "scale": 1}))
        while (size := size_of_png(picture(phone, is_still=True)[1])) != (390, 844):
            self.assertNotEqual(size, (0, 0))
        self.assertEqual(asked(phone, "get", keys=["window.width", "window.height"]), before)
        self.assertEqual(served.end()[0], 130)

    @unittest.skipIf(CHROMIUM is None, "there is no Chromium here")
    def test_slow_browser(self):
        """Opens the address, turns the volume and uploads another file. A second browser watches. The connection is cut
        and restored."""
        (self.folder / "up").mkdir()
        served = self.serve("v.nrrd", "--uploads", "up")
        browser = Browser()
        self.addCleanup(browser.close)
        page = browser.page(served.steer)
        still = "window.echolux && echolux.video.last && echolux.video.last.isStill && echolux.video.last.picture"
        page.until(still)
        self.assertNotIn("token", page.value("location.href"))
        self.assertEqual(page.value("document.getElementById('state').textContent"), "you have control")
        self.assertEqual(page.value("echolux.video.canvas.width"), 1280)

        # At rest, the page shows the same still that any other client receives, bit for bit.
        other = served.socket(served.watch)
        other.send(json.dumps({"type": "hello", "codecs": ["jpeg"]}))
        _, png = picture(other, is_still=True)
        before = page.until(f"({still}) && echolux.video.hash()")
        self.assertEqual(before, hashlib.sha256(read_png(png).tobytes()).hexdigest())

        page.drag((640, 250), (760, 300))
        page.until(f"({still}) && echolux.input.number > 0 && echolux.shown.answers.length > 0")
        after = page.until(f"({still}) && echolux.video.hash()")
        self.assertNotEqual(after, before)
        self.assertGreater(page.value("echolux.shown.stats().latency_p50"), 0)

        elsewhere = Browser()  # a browser stores one token per server
        self.addCleanup(elsewhere.close)
        watcher = elsewhere.page(served.watch)
        watcher.until("window.echolux && echolux.video.last && echolux.video.last.isStill")
        self.assertFalse(watcher.value("echolux.connection.steers"))
        self.assertEqual(watcher.until("echolux.video.hash()"), page.value("echolux.video.hash()"))

        page.value("""echolux.files.send([new File(["NRRD0004\\ntype: uint8\\ndimension: 3\\nsizes: 2 2 2\\nencoding: raw\\n\\n"
            + "abcdefgh"], "a cube.nrrd")])""")
        self.assertTrue((self.folder / "up" / "a cube.nrrd").is_file(), page.value("document.body.innerText"))
        page.until(f"({still}) && true")

        connections = page.value("echolux.connection.connections")
        page.value("echolux.connection.socket.close()")
        page.until(f"echolux.connection.connections > {connections} && echolux.connection.steers && ({still})")
        self.assertGreater(len(page.screenshot()), 10000)
