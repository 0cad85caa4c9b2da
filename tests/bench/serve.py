#!/usr/bin/env python3
"""Measures `echolux serve` together with a live session: pictures per second, latency beyond drawing, and the cost to
the session. Its own client replaces the browser, so no browser is needed.

usage: serve.py [--program FILE] [--size 1920x1080] [--seconds 20] [--codec h264] [--json FILE] [-- words of `echolux serve`]

The words after `--` choose what is served, by default --source sim. A simulated hand drags through the volume sixty
times per second; the number of each move travels with the picture that shows it. Latency is from that move to the
decoded picture. The times of drawing, waiting for the encoder and encoding come with the picture, and decoding is
measured here. The rest is transport in both directions. All times use the clock of one machine. Decoding needs PyAV
(`pip install av`); without it, latency ends with the last byte.
"""
import argparse
import json
import math
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / folder) for folder in ("cli", "support")]
from browser import Socket  # noqa: E402
from waiting import wait_until  # noqa: E402

try:
    import av
except ImportError:
    av = None

HEADER = struct.Struct("<BBBBIIIIfffII")
MOVES_PER_S = 60


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else math.nan


class Served:
    def __init__(self, program, size, words):
        self.process = subprocess.Popen([program, "serve", *words, "--size", size, "--port", "0", "--control", "0", "--fresh"],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.process.stdout.readline().split()[-1]
        self.process.stdout.readline()
        port = int(self.process.stdout.readline().split(" port ")[1].split(",")[0])
        self.token = self.address.split("token=")[1]
        self.control = socket.create_connection(("127.0.0.1", port), 60).makefile("rw")
        self.ask({"token": self.token})

    def ask(self, message):
        self.control.write(json.dumps(message) + "\n")
        self.control.flush()
        return json.loads(self.control.readline())

    def statistics(self):
        return self.ask({"jsonrpc": "2.0", "id": 1, "method": "statistics"})["result"]

    def await_volumes(self, timeout_s=180):
        wait_until(lambda: self.statistics().get("reconstructed", {}).get("volumes", 0) >= 2, "volumes", timeout_s, every_s=0.2)


class Session:
    """Counters of the live session over a period."""

    def __init__(self, served):
        self.served, self.begin, self.at = served, served.statistics(), time.monotonic()

    def end(self):
        now, seconds = self.served.statistics(), time.monotonic() - self.at
        since = lambda *keys: self.of(now, *keys) - self.of(self.begin, *keys)
        return {"a_scans_per_s": since("reconstructed", "a_scans") / seconds, "volumes_per_s": since("reconstructed", "volumes") / seconds,
                "lost_blocks": since("arrived", "lost_blocks"), "overtaken_blocks": since("queue", "overtaken_blocks")}

    @staticmethod
    def of(statistics, *keys):
        for key in keys:
            statistics = statistics[key]
        return statistics


class Viewer:
    """Acts as a page: receives, decodes and acknowledges pictures, and drags through the volume."""

    def __init__(self, served, codec, size):
        self.line = Socket(served.address.replace("http", "ws", 1).replace("/?", "/ws?"))
        self.line.send(json.dumps({"type": "hello", "codecs": [codec, "jpeg"]}))
        self.width, self.height = (int(part) for part in size.split("x"))
        self.sent, self.rows, self.pictures, self.bytes, self.encoder = {}, [], 0, 0, ""
        self.decoder, self.held_back = None, 0
        self.ends = threading.Event()
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self.take, self.drag)]

    def run(self, seconds):
        for thread in self.threads:
            thread.start()
        wait_until(lambda: self.pictures >= 30, "pictures: the first ones open the encoder and decoder")
        self.rows.clear()
        self.pictures, self.bytes, self.held_back, begin = 0, 0, 0, time.monotonic()
        self.ends.wait(seconds)
        self.seconds = time.monotonic() - begin
        self.ends.set()

    def drag(self):
        x, y, number, due = 0.5 * self.width, 0.25 * self.height, 1, time.monotonic()
        self.send(number, [["m", x, y], ["b", 0, 1]])
        while not self.ends.wait(max(0, due - time.monotonic())):
            number, due = number + 1, due + 1 / MOVES_PER_S
            self.send(number, [["m", x + 0.1 * self.width * math.sin(number / 30), y]])

    def send(self, number, events):
        self.sent[number] = time.monotonic()
        self.line.send(json.dumps({"type": "input", "number": number, "events": events}))

    def take(self):
        while not self.ends.is_set():
            message = self.line.receive()
            if isinstance(message, str):
                self.take_text(json.loads(message))
                continue
            came = time.monotonic()
            head, data = HEADER.unpack(message[:HEADER.size]), message[HEADER.size:]
            is_still, picture, shown_input = head[0] == 1, head[4], head[5]
            if self.decoder is not None and not is_still and not self.decoder.decode(av.Packet(data)):
                self.held_back += 1  # the delay until it is shown would not be counted
            shown = time.monotonic()
            self.line.send(json.dumps({"type": "shown", "picture": picture}))
            self.pictures += 1
            self.bytes += len(message)
            if shown_input in self.sent and not is_still and head[8] >= 0:
                total = 1e3 * (shown - self.sent.pop(shown_input))
                drawing, waiting, encoding, decoding = head[8], head[9], head[10], 1e3 * (shown - came)
                self.rows.append({"total": total, "drawing": drawing, "waiting": waiting, "encoding": encoding, "decoding": decoding,
                                  "transport": total - drawing - waiting - encoding - decoding, "beyond drawing": total - drawing})

    def take_text(self, message):
        if message["type"] != "stream":
            return
        self.encoder = f"{message['codec']} by {message['encoder']}"
        names = {"h264": "h264", "vp8": "vp8", "av1": "libdav1d", "jpeg": "mjpeg"}
        if av is None:
            return
        self.decoder = av.CodecContext.create(names[message["codec"]], "r")
        self.decoder.flags |= 1 << 19  # AV_CODEC_FLAG_LOW_DELAY: each packet returns its picture at once
        self.decoder.thread_type = "SLICE"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/dev/echolux")
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--codec", default="h264")
    parser.add_argument("--json")
    parser.add_argument("words", nargs="*", default=["--source", "sim"])
    options = parser.parse_args()
    served = Served(options.program, options.size, options.words)
    try:
        served.await_volumes()
        session = Session(served)
        time.sleep(options.seconds)
        alone = session.end()
        viewer, session = Viewer(served, options.codec, options.size), Session(served)
        viewer.run(options.seconds)
        beside = session.end()
    finally:
        served.process.terminate()
        served.process.wait(60)
    result = {"size": options.size, "encoder": viewer.encoder, "decoded_here": av is not None, "held_back": viewer.held_back,
              "pictures_per_s": viewer.pictures / viewer.seconds, "mbit_per_s": 8e-6 * viewer.bytes / viewer.seconds,
              "latency_ms": {part: {"p50": percentile([row[part] for row in viewer.rows], 0.5), "p95": percentile([row[part] for row in viewer.rows], 0.95)}
                             for part in ("total", "drawing", "waiting", "encoding", "transport", "decoding", "beyond drawing")},
              "session_alone": alone, "session_beside": beside,
              "session_rate_kept": beside["a_scans_per_s"] / max(alone["a_scans_per_s"], 1e-9)}
    print(f"{result['size']}, {result['encoder']}: {result['pictures_per_s']:.1f} pictures/s, {result['mbit_per_s']:.1f} Mbit/s")
    for part, of in result["latency_ms"].items():
        note = "" if part != "decoding" or av is not None else "  (PyAV is not installed: nothing was decoded)"
        print(f"  {part:14} p50 {of['p50']:7.1f} ms   p95 {of['p95']:7.1f} ms{note}")
    if viewer.held_back > 0:
        print(f"  {viewer.held_back} pictures were held back by the decoder: latency is longer than it says")
    for name, of in (("alone", alone), ("beside", beside)):
        print(f"session {name:7} {of['a_scans_per_s']:12.0f} A-scans/s, {of['volumes_per_s']:.2f} volumes/s, "
              f"{of['lost_blocks']} blocks lost, {of['overtaken_blocks']} overtaken")
    print(f"rate kept      {100 * result['session_rate_kept']:.1f} %")
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
