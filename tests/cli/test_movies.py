"""Movies: properties reported by ffprobe, decoded pictures compared with those of `render`, and movies that end
early."""
import json
import re
import shutil
import signal
import subprocess
import unittest
from fractions import Fraction

import nibabel
import numpy as np

from png_files import read_png
from support import Finished, ProgramCase, start

WIDTH, HEIGHT, FRAMES = 96, 64, 4
SIZE = f"{WIDTH}x{HEIGHT}"
RATE = Fraction(30000, 1001)


def probed(path):
    """Returns ffprobe's description of the video stream with all its packets."""
    asked = ["ffprobe", "-v", "error", "-count_frames", "-show_streams", "-show_packets", "-of", "json", path]
    told = json.loads(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)
    stream = told["streams"][0]
    stream["times"] = sorted(float(packet["pts_time"]) for packet in told["packets"])
    return stream


def decoded(path, width=WIDTH, height=HEIGHT, pixels="rgb24"):
    """Returns all pictures as [frame][row][column][channel], decoded with the colour tags of the file."""
    asked = ["ffmpeg", "-v", "error", "-i", path, "-vf", "scale=flags=accurate_rnd+full_chroma_int+full_chroma_inp+bicubic",
             "-vsync", "passthrough", "-f", "rawvideo", "-pix_fmt", pixels, "-"]
    raw = subprocess.run(asked, capture_output=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, height, width, len(pixels) if pixels == "rgba" else 3)


def psnr_db(pictures, originals):
    """Returns the PSNR of the worst picture."""
    squares = (pictures[..., :3].astype(float) - originals[..., :3]) ** 2
    return 10 * np.log10(255**2 / squares.mean((1, 2, 3)).max())


@unittest.skipUnless(shutil.which("ffprobe") and shutil.which("ffmpeg"), "ffmpeg is not installed")
class MovieCase(ProgramCase):
    def setUp(self):
        super().setUp()
        noise = np.random.default_rng(1)
        z, y, x = np.mgrid[-12:12, -12:12, -12:12]
        ball = 200 - 14 * np.sqrt(x**2 + 2 * y**2 + 3 * z**2)
        speckle = (ball * noise.uniform(0.5, 1, ball.shape)).clip(0).astype(np.uint8)
        nibabel.save(nibabel.Nifti1Image(speckle, np.eye(4)), self.folder / "v.nii")

    def movie(self, name, *options, of="v.nii", size=SIZE, **how):
        self.succeed("render", of, "--movie", name, "--size", size, *options, **how)
        return self.folder / name

    def pictures(self, **how):
        """Returns the same turntable rendered as a series of PNG files."""
        self.movie("f/", "--frames", FRAMES, **how)
        return np.stack([read_png(self.folder / "f" / f"frame_{i:04d}.png") for i in range(FRAMES)])

    def check_tags(self, stream):
        self.assertEqual(stream["color_range"], "tv")
        for tag in ["color_space", "color_transfer", "color_primaries"]:
            self.assertEqual(stream[tag], "bt709", tag)


class Turntable(MovieCase):
    def test_mp4_is_exact_and_matches_render(self):
        path = self.movie("m.mp4", "--frames", FRAMES, "--fps", "30000/1001", "--time-stamp")
        stream = probed(path)
        self.assertEqual((stream["codec_name"], stream["pix_fmt"]), ("h264", "yuv420p"))
        self.assertEqual((stream["width"], stream["height"]), (WIDTH, HEIGHT))
        self.assertEqual(int(stream["nb_read_frames"]), FRAMES)
        self.assertEqual(Fraction(stream["r_frame_rate"]), RATE)
        self.assertEqual(Fraction(stream["avg_frame_rate"]), RATE)
        self.assertAlmostEqual(float(stream["duration"]), float(FRAMES / RATE), delta=1e-6)
        np.testing.assert_allclose(stream["times"], [float(i / RATE) for i in range(FRAMES)], atol=1e-6)
        self.check_tags(stream)
        content = path.read_bytes()
        self.assertLess(content.find(b"moov"), content.find(b"mdat"), "players have to read all of it first")
        shown = decoded(path)
        for frame in (0, FRAMES - 1):
            azimuth = 35 + 360 * frame / FRAMES
            self.succeed("render", "v.nii", "-o", "p.png", "--size", SIZE, "--azimuth", azimuth, "--time-stamp")
            original = read_png(self.folder / "p.png")
            self.assertGreater(original[..., :3].std(), 10, "the picture is empty")
            self.assertGreater(psnr_db(shown[frame : frame + 1], original[None]), 40)
        self.assertLess(psnr_db(shown[:1], shown[-1:]), 35, "the last picture is one step before the first")

    def test_odd_sizes_become_even(self):
        told = self.succeed("render", "v.nii", "--movie", "m.mp4", "--size", "63x47", "--frames", 2).out
        self.assertIn("64 x 48 instead of 63 x 47", told)
        stream = probed(self.folder / "m.mp4")
        self.assertEqual((stream["width"], stream["height"]), (64, 48))
        self.movie("m.gif", "--frames", 2, size="63x47")
        self.assertEqual(probed(self.folder / "m.gif")["width"], 63)


class Formats(MovieCase):
    def test_default_size_is_small_on_software_vulkan(self):
        made = json.loads(self.succeed("render", "v.nii", "--movie", "m.gif", "--frames", 1, "--json").out)
        if "llvmpipe" not in made["device"]:
            self.skipTest("renders on a GPU")
        self.assertEqual((made["width"], made["height"]), (400, 400))
        self.assertEqual(sum("software Vulkan" in warning for warning in made["warnings"]), 1, made["warnings"])

    def test_slow_each_codec_resembles_pictures(self):
        originals = self.pictures()
        for name, codec, pixels, at_least_db in [("m.mkv", "h264", "yuv420p", 40), ("5.mp4", "hevc", "yuv420p", 40),
                                                 ("1.mp4", "av1", "yuv420p", 40), ("m.webm", "vp9", "yuv420p", 40),
                                                 ("m.gif", "gif", "bgra", 33), ("m.mov", "prores", None, 45)]:
            with self.subTest(name=name):
                how = {"5.mp4": ["--codec", "h265"], "1.mp4": ["--codec", "av1"]}.get(name, [])
                stream = probed(self.movie(name, "--frames", FRAMES, "--fps", 25, *how))
                self.assertEqual(stream["codec_name"], codec)
                self.assertIn(stream["pix_fmt"], [pixels] if pixels else ["yuv444p10le", "yuv444p12le"])
                self.assertEqual(int(stream["nb_read_frames"]), FRAMES)
                np.testing.assert_allclose(stream["times"], np.arange(FRAMES) / 25, atol=1e-6)
                if codec != "gif":
                    self.check_tags(stream)
                self.assertGreater(psnr_db(decoded(self.folder / name), originals), at_least_db)

    def test_slow_transparent_parts_stay_transparent(self):
        originals = self.pictures_with_alpha()
        self.assertEqual(originals[..., 3].min(), 0)
        stream = probed(self.movie("m.mov", "--frames", FRAMES, "--transparent"))
        self.assertIn("yuva444p", stream["pix_fmt"])
        alpha = decoded(self.folder / "m.mov", pixels="rgba")[..., 3].astype(int)
        self.assertLessEqual(np.abs(alpha - originals[..., 3]).max(), 2)
        gif = decoded(self.movie("m.gif", "--frames", FRAMES, "--transparent"), pixels="rgba")
        np.testing.assert_array_equal(gif[..., 3] == 0, originals[..., 3] < 128)
        self.refuse("render", "v.nii", "--movie", "m.mp4", "--transparent", names=["m.mp4", ".mov"])

    def pictures_with_alpha(self):
        self.movie("f/", "--frames", FRAMES, "--transparent")
        return np.stack([read_png(self.folder / "f" / f"frame_{i:04d}.png") for i in range(FRAMES)])

    def test_webp_is_animation(self):
        """ffmpeg cannot read animated WebP. The container is simple
        (developers.google.com/speed/webp/docs/riff_container)."""
        content = self.movie("m.webp", "--frames", 3, "--fps", 20).read_bytes()
        self.assertEqual((content[:4], content[8:16]), (b"RIFF", b"WEBPVP8X"))
        at, durations_ms = 12, []
        while at < len(content):
            size = int.from_bytes(content[at + 4 : at + 8], "little")
            if content[at : at + 4] == b"ANMF":
                durations_ms.append(int.from_bytes(content[at + 20 : at + 23], "little"))
            at += 8 + size + size % 2
        self.assertEqual(durations_ms, [50, 50, 50])


class ThroughTime(MovieCase):
    def write_series(self, steps=6):
        levels = np.linspace(60, 250, steps).astype(np.uint8)
        image = nibabel.Nifti1Image(np.ones((12, 12, 12, 1), np.uint8) * levels, np.eye(4))
        image.header.set_xyzt_units("mm", "sec")
        image.header.set_zooms((1, 1, 1, 0.08))
        nibabel.save(image, self.folder / "t.nii")

    def test_shows_every_step_once_in_order_with_time(self):
        self.write_series()
        options = ["--path", "time", "--fps", 5, "--mode", "mip", "--low", 0, "--high", 255, "--time-stamp",
                   "--text-size", 0.15]
        told = self.succeed("render", "t.nii", "--movie", "m.mp4", "--size", SIZE, *options).out
        self.assertIn("6 pictures", told)
        self.assertIn("time at 0.4x", told)
        shown = decoded(self.folder / "m.mp4")
        middle = shown[:, HEIGHT // 2, WIDTH // 2].mean(-1)
        self.assertEqual(len(middle), 6)
        self.assertTrue((np.diff(middle) > 5).all(), middle)
        stamp = shown[:, :20, :].astype(int)
        self.assertGreater(np.abs(stamp[1] - stamp[0]).max(), 60, "the time stamp stands still")

    def test_unreadable_step_is_reported_and_skipped(self):
        (self.folder / "s").mkdir()
        for step in range(4):
            voxels = np.full((8, 8, 8), 60 * (step + 1), np.uint8)
            nibabel.save(nibabel.Nifti1Image(voxels, np.eye(4)), self.folder / "s" / f"{step}.nii")
        (self.folder / "s" / "2.nii").write_bytes((self.folder / "s" / "2.nii").read_bytes()[:500])
        finished = self.succeed("render", "s", "--movie", "m.mp4", "--size", SIZE, "--path", "time", "--mode", "mip",
                                "--low", 0, "--high", 255)
        self.assertIn("2.nii", finished.err)
        middle = decoded(self.folder / "m.mp4")[:, HEIGHT // 2, WIDTH // 2].mean(-1)
        self.assertEqual(len(middle), 4)
        self.assertAlmostEqual(middle[1], middle[2], delta=3)
        self.assertGreater(middle[3] - middle[2], 20)


class EndedEarly(MovieCase):
    def check_what_is_left(self, told, of):
        made = int(re.search(rf"(\d+) of {of} pictures are in m.mp4", told)[1])
        self.assertGreater(made, 0)
        self.assertGreaterEqual(len(decoded(self.folder / "m.mp4")), made - 1)  # a full disk truncates the last one
        self.assertEqual(self.files(), ["m.mp4", "v.nii"])
        return made

    def test_cancelled_movie_keeps_finished_pictures(self):
        frames = 1000
        process = start("render", "v.nii", "--movie", "m.mp4", "--size", SIZE, "--frames", frames, folder=self.folder)
        self.wait_for(process, "pictures", lambda: any(path.stat().st_size > 150_000 for path in self.folder.glob("unfinished-*")))
        process.send_signal(signal.SIGINT)
        finished = Finished(process)
        self.assertEqual(finished.code, 130, finished)
        made = self.check_what_is_left(finished.err, frames)
        self.assertEqual(int(probed(self.folder / "m.mp4")["nb_read_frames"]), made)

    def test_full_disk_keeps_finished_part(self):
        frames = 60
        finished = self.run_program("render", "v.nii", "--movie", "m.mp4", "--size", SIZE, "--frames", frames,
                                    most_file_bytes=60000)
        self.assertEqual(finished.code, 1, finished)
        self.assertIn("m.mp4: cannot be written", finished.error_lines[-1])
        self.check_what_is_left(finished.err, frames)

    def test_picture_series_need_no_ffmpeg(self):
        none = {"ECHOLUX_FFMPEG": "/nowhere"}
        self.refuse("render", "v.nii", "--movie", "m.mp4", names=["libavcodec", "frame_%04d.png"], environment=none)
        self.movie("p%02d.png", "--frames", 2, environment=none)
        self.assertEqual(self.files(), ["p00.png", "p01.png", "v.nii"])
