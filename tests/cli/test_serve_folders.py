"""`echolux serve --folder … --control …`: programs steer the served window, and reach files of the folders alone."""
import json
import signal
import socket

from support import ProgramCase, start, write_scan


class ServeFolders(ProgramCase):
    def serve(self, *words):
        """Its control as a stream of lines."""
        served = start("serve", "--port", 0, "--control", 0, "--size", "320x240", "--fresh", *words, folder=self.folder)
        self.addCleanup(lambda: (served.kill(), served.communicate()) if served.poll() is None else None)
        told = [served.stdout.readline() for _ in range(3)]
        self.assertTrue(told[2].startswith("control:"), told)
        line = socket.create_connection(("127.0.0.1", int(told[2].split(" port ")[1].split(",")[0])), 60)
        self.addCleanup(line.close)
        stream = line.makefile("rw")
        self.addCleanup(stream.close)
        self.ask(stream, {"token": told[0].split("token=")[1].strip()})
        return served, stream

    def ask(self, stream, message):
        stream.write(json.dumps(message) + "\n")
        stream.flush()
        return json.loads(stream.readline())

    def call(self, stream, method, **params):
        return self.ask(stream, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})

    def test_files_are_reached_in_their_folders_alone(self):
        write_scan(self.folder)
        self.succeed("reconstruct", "scan.toml", "-o", "outside.nrrd")
        (self.folder / "lent").mkdir()
        (self.folder / "outside.nrrd").rename(self.folder / "lent/inside.nrrd")
        self.succeed("reconstruct", "scan.toml", "-o", "outside.nrrd")
        (self.folder / "lent/link.nrrd").symlink_to(self.folder / "outside.nrrd")
        served, stream = self.serve("--folder", "lent")
        for name in ("outside.nrrd", "lent/../outside.nrrd", "lent/link.nrrd", "/etc/passwd"):
            answer = self.call(stream, "open", file=str(self.folder / name))
            self.assertIn(str(self.folder / "lent"), json.dumps(answer["error"]), name)
        self.assertTrue(self.call(stream, "open", file="inside.nrrd")["result"]["is_open"])
        answer = self.call(stream, "save", what="volume", file=str(self.folder / "copy.nrrd"))
        self.assertIn("error", answer)
        self.assertFalse((self.folder / "copy.nrrd").exists())
        served.send_signal(signal.SIGINT)
        served.communicate(timeout=60)
        self.assertEqual(served.returncode, 130)

    def test_a_folder_has_to_be_one(self):
        self.refuse("serve", "--fresh", "--port", 0, "--folder", "none", names=["none", "folder"])
