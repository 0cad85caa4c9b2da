"""Use of the served window in a real browser (Chromium): pointer input, panels, recordings, pictures, the clipboard,
handing over control, a phone, a slow connection. These tests take long; the first test of this kind is in
test_serve.py."""
import base64
import contextlib
import json
import socket
import threading
import time
import unittest

import numpy as np
from scipy.ndimage import gaussian_filter

from browser import CHROMIUM, Browser
from png_files import read_png
from served import Served, asked, picture, told
from scans import write_scan
from support import ProgramCase
from waiting import wait_until

STILL = "window.echolux && echolux.video.last && echolux.video.last.isStill && echolux.video.last.picture"
SOURCE = ["--source", "sim", "--set", "simulation.a_scans=32", "--set", "simulation.b_scans=16", "--set", "simulation.samples=512",
          "--set", "recipe.noise_floor_db=20", "--line-rate-hz", "10000"]


def ssim(one, other):
    """Mean structural similarity of two 8-bit gray pictures (Z. Wang et al., 2004; Gaussian window of 1.5 pixels)."""
    one, other = (np.asarray(picture, np.float64) for picture in (one, other))
    blurred = lambda values: gaussian_filter(values, 1.5, truncate=3.5)
    mean_1, mean_2 = blurred(one), blurred(other)
    variance_1, variance_2 = blurred(one * one) - mean_1**2, blurred(other * other) - mean_2**2
    covariance = blurred(one * other) - mean_1 * mean_2
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    return float(np.mean((2 * mean_1 * mean_2 + c1) * (2 * covariance + c2)
                         / ((mean_1**2 + mean_2**2 + c1) * (variance_1 + variance_2 + c2))))


def luma(rgb):
    return rgb @ np.array([0.2126, 0.7152, 0.0722])


class Told:
    """Reads a connection to the server until it ends. Collects changed settings, and lossless pictures by their
    number."""

    def __init__(self, line):
        self.line, self.settings, self.pictures = line, {}, {}
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            while True:
                message = self.line.receive()
                if isinstance(message, bytes):
                    number = int.from_bytes(message[4:8], "little")
                    self.pictures[number] = message[40:]
                    self.line.send(json.dumps({"type": "shown", "picture": number}))
                elif json.loads(message).get("method") == "settings":
                    self.settings.update(json.loads(message)["params"]["values"])
        except (OSError, EOFError):
            pass

    def await_setting(self, begin, timeout_s=20):
        wait_until(lambda: any(key.startswith(begin) for key in list(self.settings)),
                   lambda: f"a change of {begin}…, changed are {self.settings}", timeout_s)


@unittest.skipIf(CHROMIUM is None, "there is no Chromium here")
class SlowServeInABrowser(ProgramCase):
    def serve(self, *words):
        if "--source" not in words:
            write_scan(self.folder)
            self.succeed("reconstruct", "scan.toml", "-o", "v.nrrd")
        served = Served(self.folder, *(words if "--source" in words else ("v.nrrd", *words)))
        self.addCleanup(lambda: served.process.poll() is None and served.end())
        return served

    def open(self, address, *words, **size):
        browser = Browser(*words, **size)
        self.addCleanup(browser.close)
        page = browser.page(address)
        page.until("window.echolux && echolux.video.last")
        return page

    def told_of(self, served):
        line = served.socket()
        line.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "subscribe", "params": {"topics": ["settings"]}}))
        return Told(line)

    def test_streamed_pictures_resemble_window(self):
        served = self.serve("--size", "640x400")
        page = self.open(served.steer)
        page.until(STILL)
        if page.value("echolux.video.codec") != "h264":
            self.skipTest("no H.264 here: by the machine's FFmpeg, or by this browser")
        window = served.socket(served.watch)  # supports no codec, so every picture is lossless
        window.send(json.dumps({"type": "hello", "codecs": []}))
        lossless = Told(window).pictures
        page.value("""window.kept = {}; const before = echolux.video.onShown;
            echolux.video.onShown = (head) => { before(head); if (!head.isStill && Object.keys(kept).length < 12)
            kept[head.picture] = btoa(Array.from(echolux.video.pixels(), (code) => String.fromCharCode(code)).join("")); }""")

        def enough():
            page.drag((300, 150), (340, 170), steps=6)
            numbers = page.value("Object.keys(kept)")
            return len(numbers) >= 8 and sum(int(number) in lossless for number in numbers) >= 3

        with contextlib.suppress(TimeoutError):
            wait_until(enough, timeout_s=60, every_s=0.05)
        decoded = page.value("kept")
        both = [int(number) for number in decoded if int(number) in lossless]
        self.assertGreaterEqual(len(both), 3, f"{sorted(decoded)} {sorted(lossless)}")
        likeness = []
        for number in both:
            seen = np.frombuffer(base64.b64decode(decoded[str(number)]), np.uint8).reshape(400, 640, 3)
            likeness.append(ssim(luma(seen), luma(read_png(lossless[number]))))
        print("SSIM of moving pictures:", ", ".join(f"{value:.3f}" for value in likeness))
        self.assertGreaterEqual(min(likeness), 0.95)

    def test_recording_is_started_and_stopped(self):
        served = self.serve(*SOURCE)
        page = self.open(served.steer)
        page.until("!document.getElementById('record').hidden")
        page.press("record")
        page.until("document.getElementById('record').classList.contains('on')")
        self.await_volumes(served)
        page.press("record")
        page.until("!document.getElementById('record').classList.contains('on')")
        self.await_files("echolux-*.toml")
        self.assertEqual(served.end()[0], 130)
        (recording,) = self.folder.glob("echolux-*.toml")
        self.succeed("reconstruct", recording, "-o", "recorded.nrrd")

    def test_saves_picture(self):
        page = self.open(self.serve().steer)
        page.until(STILL)
        page.value("echolux.video.canvas.focus()")
        self.show(page, lambda: page.key("k", "KeyK", 75, modifiers=2))  # the palette
        page.type("keep a picture of the vie")
        self.show(page, lambda: page.type("w"))
        page.key("Enter", "Enter", 13, text="\r")
        self.await_files("echolux-*.png")
        (kept,) = self.folder.glob("echolux-*.png")
        self.assertGreater(read_png(kept).std(), 1)

    def show(self, page, act):
        """Acts, and waits for the picture at rest that shows it."""
        number = page.value("echolux.input.number")
        act()
        page.until(f"({STILL}) && echolux.video.last.input > {number}")

    def await_files(self, *patterns, timeout_s=60):
        """Waits for complete files."""
        wait_until(lambda: all(list(self.folder.glob(pattern)) for pattern in patterns)
                   and not list(self.folder.rglob("unfinished*")), lambda: f"{patterns}: {self.files()}", timeout_s)

    def await_volumes(self, served, count=2):
        """Waits until at least this number of volumes is recorded."""
        line = served.socket(served.watch)
        recorded = lambda: (asked(line, "statistics").get("recorder") or {}).get("bytes", 0)
        wait_until(lambda: recorded() >= (count + 1) * 16 * 32 * 512 * 2, "recorded volumes")

    def test_steering_is_requested_granted_kept_and_taken(self):
        served = self.serve()
        one, other = self.open(served.steer), self.open(served.steer)
        self.assertTrue(one.until("echolux.connection.steers"))
        self.assertFalse(other.value("echolux.connection.steers"))
        other.press("steer")
        one.until("!document.getElementById('asked').hidden")
        one.press("give")
        other.until("echolux.connection.steers")
        one.until("!echolux.connection.steers && document.getElementById('state').textContent.startsWith('view only')")
        one.press("steer")
        other.until("!document.getElementById('asked').hidden")
        other.press("keep")
        one.until("document.getElementById('message').textContent.includes('keeps control')")
        self.assertTrue(other.value("echolux.connection.steers"))
        begin = time.monotonic()
        one.press("steer")  # no answer
        one.until("echolux.connection.steers")
        self.assertGreater(time.monotonic() - begin, 8)
        one.drag((600, 250), (700, 280))
        one.until(f"({STILL}) && echolux.shown.answers.length > 0")
        other.value("echolux.connection.socket.close()")  # leaving does not take control away
        other.until("echolux.connection.connections > 1")
        self.assertTrue(one.value("echolux.connection.steers"))

    def test_page_steers_again_after_network_loss(self):
        served = self.serve()
        line = ThinLine(served.port, 1e9)
        self.addCleanup(line.close)
        page = self.open(f"http://127.0.0.1:{line.port}/?token={served.token}")
        page.until(f"echolux.connection.steers && ({STILL})")
        line.die()
        page.value("void echolux.connection.socket.onclose({ reason: '' })")  # as when the browser gives up
        page.until("echolux.connection.connections > 1 && echolux.connection.steers", 20)
        page.until(STILL)

    def test_form_asks_for_password(self):
        (self.folder / "password").write_text("open sesame\n")
        (self.folder / "password").chmod(0o600)
        served = self.serve("--password-file", "password")
        browser = Browser()
        self.addCleanup(browser.close)
        page = browser.page(served.steer.split("?")[0])
        page.until("document.forms.length === 1")
        page.value("document.forms[0].password.value = 'open sesame'; document.forms[0].submit()")
        page.until(f"({STILL}) && echolux.connection.steers")

    def test_clipboard_works_both_ways(self):
        served = self.serve()
        page = self.open(served.steer)
        page.until(STILL)
        page.value("window.copied = ''; echolux.connection.on('clipboard', (message) => (copied = message.text)); echolux.video.canvas.focus()")
        self.show(page, lambda: page.key("k", "KeyK", 75, modifiers=2))  # the palette, which has a text field
        text = "\\u00b5m \\u2192 \\u4f60\\u597d"
        self.show(page, lambda: page.value(f"""(() => {{ const data = new DataTransfer(); data.setData("text/plain", "{text}");
            document.body.dispatchEvent(new ClipboardEvent("paste", {{ clipboardData: data, bubbles: true, cancelable: true }}));
            echolux.input.send([["k", "Ctrl", 0, 0]]); }})()"""))
        page.key("a", "KeyA", 65, modifiers=2)
        page.key("c", "KeyC", 67, modifiers=2)
        self.assertEqual(page.until("copied"), json.loads(f'"{text}"'))

    def test_touch_controls_work_on_phone(self):
        """Views, turns, zooms, and starts and stops a recording on a screen of 390 x 844."""
        served = self.serve(*SOURCE)
        told = self.told_of(served)
        browser = Browser()
        self.addCleanup(browser.close)
        page = browser.page("about:blank")
        page.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=2, mobile=True)
        page.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=5)
        page.call("Page.navigate", url=served.steer)
        page.until("window.echolux && echolux.video.last && echolux.video.last.width === 780")
        for element in "record", "keyboard", "full":
            x, y = page.middle(element)
            self.assertTrue(0 < x < 390 and 0 < y < 844, f"{element} lies at {x}, {y}")
            self.assertGreaterEqual(page.value(f"document.getElementById('{element}').offsetHeight"), 34)
        self.assertLessEqual(page.value("document.documentElement.scrollWidth"), 390)
        inside = "(({left, right, top, bottom}) => left >= 0 && right <= 390 && top >= 0 && bottom <= 844)(document.getElementById('%s').getBoundingClientRect())"
        for element in "state", "stats", "run", "record", "keyboard", "full":
            self.assertTrue(page.value(inside % element), element)
            self.assertGreater(page.value(f"document.getElementById('{element}').offsetWidth"), 20, element)
            self.assertLess(page.value(f"document.getElementById('{element}').offsetHeight"), 50, f"{element} is broken into lines")
        for pair in ("run", "record"), ("keyboard", "full"):
            self.assertEqual(len({page.middle(element)[1] for element in pair}), 1, f"{pair} are not in one row")
        self.assertTrue(page.value("document.getElementById('state').scrollWidth <= document.getElementById('state').offsetWidth"), "cut off")
        place = (195, 300)  # inside the volume
        page.touch("touchStart", place)
        page.until("echolux.touch.state === 'drag'")
        for i in range(1, 12):
            page.touch("touchMove", (place[0] + 8 * i, place[1] + 2 * i))
        page.touch("touchEnd")
        told.await_setting("view.azimuth_deg")
        told.settings.clear()
        page.touch("touchStart", (place[0] - 30, place[1]))
        page.touch("touchStart", (place[0] - 30, place[1]), (place[0] + 30, place[1]))
        for i in range(1, 12):
            page.touch("touchMove", (place[0] - 30 - 3 * i, place[1]), (place[0] + 30 + 3 * i, place[1]))
        page.touch("touchEnd")
        told.await_setting("view.")
        page.until("document.getElementById('record').offsetHeight > 0")
        self.tap(page, "record")
        page.until("document.getElementById('record').classList.contains('on')")
        self.await_volumes(served)
        self.tap(page, "record")
        page.until("!document.getElementById('record').classList.contains('on')")
        self.await_files("echolux-*.toml")

    def test_controls_keep_places_when_state_changes(self):
        page = self.open(self.serve(*SOURCE).steer)
        places = """Object.fromEntries(["state", "stats", "steer", "run", "record", "full"].map((id) =>
            [id, JSON.stringify(document.getElementById(id).getBoundingClientRect())]))"""
        page.until("!document.getElementById('run').hidden")
        before = page.value(places)
        for act in ("echolux.connection.emit('running', {is_possible: false, is_on: true})",
                    "echolux.connection.emit('recording', {is_possible: true, is_on: true})",
                    "echolux.connection.emit('roles', {steers: false, is_steered: true, viewers: 12})",
                    "echolux.connection.emit('lost', '')"):
            page.value(act)
            self.assertEqual(page.value(places), before, act)

    def test_lost_connection_dims_picture(self):
        served = self.serve()
        page = self.open(served.steer)
        page.until(STILL)
        filtered = "getComputedStyle(document.getElementById('picture')).filter"
        self.assertEqual(page.value(filtered), "none")
        served.end()
        page.until(f"{filtered}.includes('brightness')")
        self.assertEqual(page.value("document.getElementById('state').textContent"), "not connected")

    def test_wrong_token_gets_page(self):
        served = self.serve()
        browser = Browser()
        self.addCleanup(browser.close)
        page = browser.page(served.steer[:-1] + ("A" if served.steer[-1] != "A" else "B"))
        self.assertIn("does not open", page.until("document.querySelector('h1') && document.querySelector('h1').textContent"))
        self.assertIn("echolux serve", page.value("document.body.innerText"))
        self.assertEqual(page.value("getComputedStyle(document.body).backgroundColor"), "rgb(14, 15, 18)")

    def test_source_is_stopped_and_started(self):
        page = self.open(self.serve(*SOURCE).steer)
        page.until("document.getElementById('run').textContent.includes('Stop')")
        page.press("run")
        page.until("document.getElementById('run').textContent.includes('Start')")
        page.press("run")
        page.until("document.getElementById('run').textContent.includes('Stop')")

    def tap(self, page, element):
        place = page.middle(element)
        page.touch("touchStart", place)
        page.touch("touchEnd")


class ThinLine:
    """A proxy that limits the bytes per second from the server to the browser. After die(), existing connections carry
    no more data, and neither end is notified."""

    def __init__(self, port, bytes_per_s):
        self.bytes_per_s, self.to = bytes_per_s, port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.sockets, self.dead = [self.listener], set()
        threading.Thread(target=self.accept, daemon=True).start()

    def die(self):
        self.dead.update(self.sockets)

    def accept(self):
        try:
            while True:
                near, _ = self.listener.accept()
                far = socket.socket()
                far.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
                far.connect(("127.0.0.1", self.to))
                near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.sockets += [near, far]
                threading.Thread(target=self.pass_on, args=(near, far, False), daemon=True).start()
                threading.Thread(target=self.pass_on, args=(far, near, True), daemon=True).start()
        except OSError:
            pass

    def pass_on(self, giver, taker, is_thin):
        try:
            while part := giver.recv(4096):
                if is_thin:
                    time.sleep(len(part) / self.bytes_per_s)
                if giver not in self.dead:
                    taker.sendall(part)
            if giver not in self.dead:
                taker.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        for one in self.sockets:
            one.close()
