"""`echolux bench` runs, and its JSON matches docs/performance.md. Speed is not tested."""
import json
import math
import signal

from support import NO_VULKAN, Finished, ProgramCase, start

TOP = ["echolux", "schema", "machine", "volume", "conditions", "quick", "interrupted", "ceilings", "figures", "sheets", "stages", "published", "targets"]
WHOLE = ["key", "meaning", "unit", "median", "low", "high", "repetitions", "ratios"]


class Bench(ProgramCase):
    def measured(self, *arguments, **how):
        self.succeed("bench", "--quick", "--json", "bench.json", *arguments, **how)
        report = json.loads((self.folder / "bench.json").read_text())
        self.assertEqual(list(report), TOP)
        self.assertEqual(list(report["machine"]), ["processor", "threads", "backend", "remark", "driver", "display"])
        self.assertEqual(list(report["volume"]), ["a_scans", "b_scans", "block_b_scans"])
        self.assertEqual((report["schema"], report["quick"], report["targets"]), (1, True, []))  # targets apply to larger sizes
        for figure in report["ceilings"] + report["figures"]:
            self.check_figure(figure)
        figures = {figure["key"]: figure for figure in report["figures"]}
        self.assertEqual(len(figures), len(report["figures"]))  # keys are unique
        return report, figures

    def check_figure(self, figure):
        self.assertTrue(figure["key"] and figure["meaning"], figure)
        if "skipped" in figure:
            self.assertEqual(list(figure), ["key", "meaning", "skipped"])
            self.assertTrue(figure["skipped"], figure)
            return
        self.assertEqual(list(figure), WHOLE)
        self.assertTrue(math.isfinite(figure["median"]), figure)
        self.assertLessEqual(figure["low"], figure["median"], figure)
        self.assertLessEqual(figure["median"], figure["high"], figure)
        self.assertGreaterEqual(figure["repetitions"], 1, figure)
        self.assertTrue(figure["unit"], figure)
        self.assertTrue(all(value > 0 for value in figure["ratios"].values()), figure)

    def assert_positive(self, figures, *keys):
        for key in keys or figures:
            self.assertGreater(figures[key]["median"], 0, key)

    def test_json_matches_documentation(self):
        report, figures = self.measured("--backend", "cpu", "--lengths", "512")
        self.assertIn("cpu", report["machine"]["backend"])
        self.assertEqual({figure["key"] for figure in report["ceilings"]}, {"memory.copy", "memory.read", "fft.512"})
        self.assert_positive(figures, "linear/512", "nudft/512", "texture/512", "doppler/512", "rendering/512", "latency/512",
                             "batch.compute/200")
        for key in ["pinned/512", "direct/512", "separate/512"]:  # there is no pinned memory without a GPU
            self.assertIn("GPU", figures[key]["skipped"])
        self.assertIn("texture/512", figures["rendering/512"]["ratios"])
        self.assertIn("fft.512", figures["linear/512"]["ratios"])

    def test_interrupt_keeps_finished_figures(self):
        process = start("bench", "--backend", "cpu", "--lengths", "2048", "--json", "bench.json", folder=self.folder)
        self.wait_until_it_works(process, 2)  # ceilings take 0.5 s, all of it more than 20 s
        process.send_signal(signal.SIGINT)
        finished = Finished(process)
        self.assertEqual(finished.code, 130, finished)
        report = json.loads((self.folder / "bench.json").read_text())
        self.assertTrue(report["interrupted"])
        self.assertGreater(report["ceilings"][0]["median"], 0)
        self.assertIn("memory.copy", finished.out)
        self.assertIn("interrupted: later figures are missing", finished.out)

    def test_slow_rendering_is_measured(self):
        report, figures = self.measured("--rendering")
        self.assertEqual([figure["key"] for figure in report["ceilings"]], ["texture.samples"])
        self.assert_positive(figures, "still/48/64x48", "changing/48/64x48", "mode.mip/48", "saved/48", "moving/48")
        self.assertIn("texture.samples", figures["rate.mip/48"]["ratios"])
        self.assertEqual([len(row["values"]) for row in report["sheets"][0]["rows"]], [2, 2])

    def test_slow_filters_and_surfaces_are_measured(self):
        report, figures = self.measured("--backend", "cpu", "--processing")
        keys = {"filter/nlm", "filter/nlm.patch5", "filter/nlm.default", "filter/bilateral", "filter/median3", "filter/median5",
                "segment/retina", "register/rows", "register/mean", "dewarp/fan", "dewarp/exact"}
        self.assertEqual(set(figures), keys | {key + ".rate" for key in keys} | {"angiography/aligned", "angiography/plain"})
        self.assert_positive(figures)
        self.assertAlmostEqual(figures["filter/nlm"]["median"] * figures["filter/nlm.rate"]["median"], 64 * 32 * 8, delta=1)
        published = {row["figure"]: row for row in report["published"]}
        self.assertEqual(set(published), {"register/rows.rate", "segment/retina.rate"})
        self.assertAlmostEqual(published["register/rows.rate"]["published"], 10.6)
        self.assertGreater(published["register/rows.rate"]["ours"], 0)

    def test_slow_every_method_is_measured(self):
        _, figures = self.measured("--backend", "cpu", "--methods")
        self.assertEqual(set(figures), {"plain/2048", "defr/2048", "nufft/2048", "compressive/2048", "mnudft/2048", "nufft/832", "nudft/2048",
                                        "ao-oct/832", "ao-oct.arriving/832"})
        self.assertIn("nothing has to arrive", figures.pop("ao-oct.arriving/832")["skipped"])
        self.assert_positive(figures)
        self.assertTrue(all("plain/2048" in figure["ratios"] for key, figure in figures.items() if key != "plain/2048"))

    def test_slow_without_vulkan_rest_is_measured(self):
        report, figures = self.measured("--backend", "cpu", "--lengths", "512", environment=NO_VULKAN)
        self.assert_positive(figures, "linear/512")
        self.assertIn("Vulkan", figures["texture/512"]["skipped"])
        self.assertEqual(report["machine"]["display"], "")

