"""Web pages of volumes: their sections are read with Python's own libraries, and a browser shows them without a network."""
import base64
import json
import re
import unittest

import numpy as np

from browser import CHROMIUM, Browser
from png_files import read_png
from scans import write_nrrd
from support import ProgramCase
from waiting import wait_until

SHAPE = 12, 30, 50  # B-scans, A-scans, rows
STEP = 0.01, 0.004  # of A-scans and B-scans, of rows, in mm


def ramp():
    b, a, z = np.indices(SHAPE)
    return 3.0 * b + 1.5 * a + 1.0 * z + 20 * ((a > 20) & (z < 10))


class WebPage(ProgramCase):
    def make(self, *more):
        write_nrrd(self.folder / "v.nrrd", ramp(), (STEP[0], STEP[1], STEP[0]), unit="mm\necholux_provenance_note:=<b>&\"quoted\"</b>",
                   quantity="height")
        done = self.succeed("page", "v.nrrd", "-o", "v.html", *more)
        return (self.folder / "v.html").read_text(encoding="utf-8"), done

    @staticmethod
    def constant(page, name):
        return json.loads(re.search(rf"^const {name} = (.*);$", page, re.M)[1])

    def voxels(self, sections):
        """[y][x][z] of the picture of all sections."""
        pixels = read_png(base64.b64decode(sections["image"].removeprefix("data:image/png;base64,")))[..., 0]
        nx, ny, nz = sections["size"]
        tiles = [pixels[y // sections["across"] * nz:, y % sections["across"] * nx:][:nz, :nx].T for y in range(ny)]
        return np.array(tiles)

    def test_sections_hold_volume(self):
        page, _ = self.make("--frames", 0)
        sections = self.constant(page, "sections")
        self.assertEqual(sections["size"], [30, 12, 50])
        np.testing.assert_allclose(sections["mm"], [0.01, 0.01, 0.004])
        shown = self.voxels(sections).astype(float)
        low, high = np.percentile(ramp(), [0.3, 99.7])
        np.testing.assert_allclose(shown, 255 * np.clip((ramp() - low) / (high - low), 0, 1), atol=6)
        self.assertEqual(self.constant(page, "frames"), [])

    def test_long_sides_are_averaged(self):
        page, _ = self.make("--frames", 0, "--section-size", 10)
        sections = self.constant(page, "sections")
        self.assertEqual(sections["size"], [10, 10, 10])
        np.testing.assert_allclose(sections["mm"], [0.03, 0.012, 0.02])
        np.testing.assert_allclose(sections["first"], [0.01, 0.001, 0.008], atol=1e-9)
        shown = self.voxels(sections).astype(float)
        low, high = np.percentile(ramp(), [0.3, 99.7])
        full = np.clip((ramp() - low) / (high - low), 0, 1)
        expected = 255 * full.reshape(12, 10, 3, 10, 5).mean((2, 4))[[0, 2, 3, 4, 5, 6, 8, 9, 10, 11]]
        # B-scans 0 and 1 share a box, as do 6 and 7.
        self.assertLess(np.abs(shown - expected)[[1, 2, 3, 4, 6, 7, 8, 9]].max(), 8)

    def test_names_nothing_outside_and_escapes_texts(self):
        page, _ = self.make("--frames", 0, "--title", "</title><script>alert(1)</script>{{facts}}")
        self.assertNotRegex(page, r"https?://|//[a-z]+\.[a-z]|@import|<link|<iframe")
        self.assertEqual(page.count("<script>"), 1)
        self.assertIn("&lt;script&gt;", page)
        self.assertIn("&lt;b&gt;&amp;", page)
        self.assertIn("default-src 'none'", page)
        self.assertNotIn(str(self.folder), page)

    def test_too_large_page_is_refused(self):
        write_nrrd(self.folder / "v.nrrd", np.random.default_rng(1).normal(0, 1, (20, 60, 60)))
        self.refuse("page", "v.nrrd", "-o", "v.html", "--frames", 0, "--limit", 0.05, names=["the page would have", "--frames"], lines=None)

    @unittest.skipIf(CHROMIUM is None, "Chromium is not installed")
    def test_slow_browser_shows_it_without_network(self):
        page, _ = self.make("--frames", 12, "--frame-size", 120)
        browser = Browser()
        self.addCleanup(browser.close)
        tab = browser.page("about:blank")
        messages, receive = [], tab.socket.receive

        def recorded():
            messages.append(receive())
            return messages[-1]

        tab.socket.receive = recorded
        tab.call("Network.enable")
        tab.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        tab.call("Page.navigate", url=(self.folder / "v.html").as_uri())
        tab.until("document.body.dataset.ready")
        requests = [json.loads(one)["params"]["request"]["url"] for one in messages if '"Network.requestWillBeSent"' in one]
        self.assertIn((self.folder / "v.html").as_uri(), requests)
        self.assertEqual({url.split(":")[0] for url in requests}, {"file", "data"})
        self.assertEqual(sum(url.startswith("file:") for url in requests), 1)

        sections = self.constant(page, "sections")
        expected = self.voxels(sections)
        places = [[0, 0, 0], [29, 11, 49], [25, 3, 4], [7, 10, 30]]
        shown = tab.value(f"load(sections.image).then(image => {{ const voxel = voxelsOf(image); return {places}.map(at => voxel(...at)); }})")
        self.assertEqual(shown, [int(expected[y, x, z]) for x, y, z in places])

        pixels = ("(id => { const canvas = byId(id); return Array.from(canvas.getContext('2d')"
                  ".getImageData(0, 0, canvas.width, canvas.height).data).reduce((sum, one) => sum + one, 0); })")
        for name in ("turn", "section_a", "section_b", "section_z"):
            self.assertGreater(tab.value(f"{pixels}('{name}')"), 0)
        before = tab.value(f"{pixels}('turn')"), tab.value("byId('angle').value")
        x, y = tab.middle("turn")
        tab.drag((x, y), (x - 100, y))
        wait_until(lambda: tab.value("byId('angle').value") != before[1], "the turntable turns")
        self.assertNotEqual(tab.value(f"{pixels}('turn')"), before[0])
        before = tab.value(f"{pixels}('section_z')")
        tab.value("byId('at_z').value = 2; byId('at_z').oninput()")
        self.assertNotEqual(tab.value(f"{pixels}('section_z')"), before)
        self.assertEqual(tab.value("byId('at_z').nextElementSibling.value"), "0.008 mm")


if __name__ == "__main__":
    unittest.main()
