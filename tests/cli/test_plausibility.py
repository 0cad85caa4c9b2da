"""Calibration in another unit, decimal commas and wrong layouts: refused, or warned of, in words that name the cause."""
import json

import numpy as np

from support import ProgramCase, fringes, write_scan

SAMPLES = 256
POSITIONS = np.linspace(0, 1, SAMPLES) ** 1.05


class Plausibility(ProgramCase):
    def scan(self, key=None, numbers=None, spectra=None, **scan):
        if numbers is not None:
            text = numbers if isinstance(numbers, str) else "".join(f"{x:.8g}\n" for x in numbers)
            (self.folder / f"{key}.csv").write_text(text)
        return write_scan(self.folder, spectra=spectra, scan=scan, calibration={key: f"{key}.csv"} if key else {},
                          recipe={"resample": "linear"})

    def warnings(self, *arguments):
        told = json.loads(self.succeed("reconstruct", "scan.toml", "-o", "v.nrrd", "--overwrite", "--json", *arguments).out)
        return "\n".join(w for w in told.get("warnings", []) if "background" not in w)

    def test_k_maps_in_other_units_are_rejected(self):
        nm = np.linspace(800, 880, SAMPLES)
        for name, numbers, hint in [("normalised", POSITIONS, "positions normalised to 0..1"),
                                    ("rad/nm", 2 * np.pi / nm[::-1], "wavenumbers in rad/nm"),
                                    ("1/um", 1000 / nm[::-1], "wavenumbers in 1/um"),
                                    ("rad/um", 2000 * np.pi / nm[::-1], "wavenumbers in rad/um")]:
            with self.subTest(name):
                self.scan("k_map", numbers)
                self.refuse("reconstruct", "scan.toml", "-o", "v.nrrd", names=["k_map.csv", "calibration.k_map", hint])
        self.scan("k_map", (SAMPLES - 1) * POSITIONS)
        self.assertEqual(self.warnings(), "")

    def test_wavelengths_in_other_units_are_converted(self):
        nm = np.linspace(800, 880, SAMPLES)
        for unit, factor in [("um", 1e-3), ("Angstrom", 10)]:
            with self.subTest(unit):
                self.scan("wavelengths", nm * factor)
                self.assertIn(f"wavelengths are taken as {unit}, 800.0 to 880.0 nm", self.warnings())
        self.scan("wavelengths", nm)
        self.assertEqual(self.warnings(), "")
        self.scan("wavelengths", nm * 1000)
        self.refuse("reconstruct", "scan.toml", "-o", "v.nrrd", names=["is not a wavelength of OCT"])

    def test_decimal_commas_are_refused(self):
        positions = (SAMPLES - 1) * POSITIONS
        self.scan("k_map", "".join(f"{x:.3f}\n".replace(".", ",") for x in positions))
        self.refuse("reconstruct", "scan.toml", "-o", "v.nrrd",
                    names=["k_map.csv line 1", '"0,000" has a decimal comma', "write decimal points"])

    def test_warns_of_unlikely_layouts(self):
        spectra = fringes(b_scans=4, a_scans=64)
        self.scan(spectra=spectra)
        self.assertEqual(self.warnings(), "")
        self.assertIn("scan.byte_order: neighbouring samples are smooth as little-endian", self.warnings("--set", "scan.byte_order=big"))
        self.assertIn("lines of 256 samples look alike", self.warnings("--set", "scan.samples=512", "--set", "scan.a_scans=32"))
        self.assertIn("lines of 256 samples look alike", self.warnings("--set", "scan.samples=128", "--set", "scan.a_scans=128"))
        warned = self.succeed("reconstruct", "scan.toml", "-o", "w.nrrd", "--set", "scan.byte_order=big").err
        self.assertIn("echolux: warning: scan.byte_order", warned)

    def test_warns_of_numbers_in_other_units(self):
        self.scan(line_rate_hz=76, spacing_a_um=0.012)
        warned = self.warnings()
        self.assertIn("scan.line_rate_hz: 76 Hz is unlikely", warned)
        self.assertIn("scan.spacing_a_um: 0.012 um is unlikely", warned)
        told = self.succeed("info", "scan.toml").out
        self.assertIn("is it in kHz?", told)
