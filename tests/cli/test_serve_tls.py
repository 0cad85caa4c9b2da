"""`echolux serve --tls`: pages, pictures and programs use encrypted connections, with a certificate that is created,
kept or given. Unencrypted clients and old versions of TLS are refused."""
import hashlib
import http.client
import json
import os
import re
import socket
import ssl
import stat
import subprocess
import sys
import warnings
from pathlib import Path

from served import Served, picture, size_of_png, told
from scans import write_scan
from support import ProgramCase


EXAMPLE = Path(__file__).parents[2] / "examples/control/steer.py"


def fingerprint(certificate):
    digits = hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate)).hexdigest().upper()
    return ":".join(digits[i:i + 2] for i in range(0, len(digits), 2))


class ServeTls(ProgramCase):
    def setUp(self):
        super().setUp()
        write_scan(self.folder)
        self.succeed("reconstruct", "scan.toml", "-o", "v.nrrd")

    def serve(self, *words, **how):
        served = Served(self.folder, "v.nrrd", "--size", "320x240", *words, **how)
        self.addCleanup(lambda: served.process.poll() is None and served.end())
        return served

    def certificate_of(self, served):
        """Returns the certificate that the server presents, and checks it against the printed fingerprint."""
        certificate = ssl.get_server_certificate(("127.0.0.1", served.port), timeout=30)
        line = served.lines.get(timeout=60)
        self.assertIn(fingerprint(certificate), line)
        return certificate

    def test_slow_pages_pictures_and_programs_are_encrypted(self):
        served = self.serve("--tls", "--control", 0)
        self.assertTrue(served.steer.startswith("https://"))
        control = int(re.search(r"port (\d+)", served.lines.get(timeout=60))[1])
        # Trusts only this certificate, and checks its names.
        trusting = ssl.create_default_context(cadata=self.certificate_of(served))

        line = http.client.HTTPSConnection("127.0.0.1", served.port, context=trusting, timeout=30)
        line.request("GET", f"/?token={served.token}")
        answer = line.getresponse()
        self.assertEqual(answer.status, 303)
        self.assertIn("; Secure", answer.getheader("Set-Cookie"))
        line.close()

        page = served.socket(tls=trusting)
        page.send(json.dumps({"type": "hello", "codecs": ["jpeg"]}))
        self.assertTrue(told(page, "roles")["steers"])
        self.assertEqual(size_of_png(picture(page, is_still=True)[1]), (320, 240))

        program = trusting.wrap_socket(socket.create_connection(("127.0.0.1", control), 30), server_hostname="localhost")
        self.addCleanup(program.close)
        stream = program.makefile("rw")
        self.addCleanup(stream.close)
        for message, expected in (({"token": served.token}, "welcome"), ({"jsonrpc": "2.0", "id": 1, "method": "state"}, "result")):
            stream.write(json.dumps(message) + "\n")
            stream.flush()
            self.assertIn(expected, json.loads(stream.readline()))

    def test_slow_echolux_ctl_and_example_speak_tls(self):
        served = self.serve("--tls", "--control", 0)
        control = int(re.search(r"port (\d+)", served.lines.get(timeout=60))[1])
        certificate = self.certificate_of(served)
        (self.folder / "certificate.pem").write_text(certificate)
        (self.folder / "token").write_text(served.token + "\n")
        at = ["--at", f"127.0.0.1:{control}"]
        token = {"ECHOLUX_TOKEN_FILE": str(self.folder / "token")}
        for trust, more in ((["--fingerprint", fingerprint(certificate)], {}), (["--ca", "certificate.pem"], {}),
                            ([], {"ECHOLUX_FINGERPRINT": fingerprint(certificate)})):
            told = self.succeed("ctl", "get", "view.zoom", *at, *trust, environment={**token, **more})
            self.assertIn("view.zoom = 1.0", told.out)
        self.succeed("ctl", "snapshot", *at, "--ca", "certificate.pem", "--of", "window", "-o", "p.png", environment=token)
        self.assertEqual(size_of_png((self.folder / "p.png").read_bytes()), (320, 240))
        self.refuse("ctl", "state", *at, environment=token, names=["requires TLS"])
        self.refuse("ctl", "state", *at, "--tls", environment=token, names=["certificate is not accepted", "fingerprint"])
        self.refuse("ctl", "state", *at, "--fingerprint", "00", environment=token, names=[fingerprint(certificate)])
        done = subprocess.run([sys.executable, EXAMPLE, "--ca", "certificate.pem", f"127.0.0.1:{control}", "v.nrrd"], cwd=self.folder, text=True,
                              env={**os.environ, **token}, capture_output=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("opened v.nrrd", done.stdout)

    def test_rejects_plain_and_old_tls_clients(self):
        served = self.serve("--tls")
        plain = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
        plain.request("GET", f"/?token={served.token}")
        answer = plain.getresponse()
        self.assertEqual((answer.status, answer.getheader("Set-Cookie")), (400, None))
        self.assertIn("https", answer.read().decode())
        plain.close()
        with self.assertRaises(ConnectionRefusedError):  # a WebSocket without TLS
            served.socket(served.steer.replace("https", "http"))

        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.set_ciphers("ALL:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        with socket.create_connection(("127.0.0.1", served.port), 30) as line, self.assertRaises((ssl.SSLError, OSError)) as refused:
            old.wrap_socket(line)
        self.assertIn("PROTOCOL_VERSION", str(refused.exception).upper())  # the server's alert, not our own refusal

        old.maximum_version, old.minimum_version = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2
        with socket.create_connection(("127.0.0.1", served.port), 30) as line, old.wrap_socket(line) as encrypted:
            self.assertEqual(encrypted.version(), "TLSv1.2")  # the service continues

    def test_certificates_are_kept_or_given(self):
        state = {"XDG_STATE_HOME": str(self.folder / "state")}
        seen = []
        for _ in range(2):
            served = self.serve("--tls", fresh=False, environment=state)
            seen.append(self.certificate_of(served))
            self.assertEqual(served.end()[0], 130)
        self.assertEqual(seen[0], seen[1])
        (key,) = (self.folder / "state").rglob("key.pem")
        self.assertEqual(stat.S_IMODE(key.stat().st_mode), 0o600)

        served = self.serve("--certificate", key.with_name("certificate.pem"), "--key", key)
        self.assertTrue(served.steer.startswith("https://"))
        self.assertEqual(self.certificate_of(served), seen[0])
        code, errors = served.end()
        self.assertEqual(code, 130)
        self.assertNotIn("PRIVATE", errors)
        (self.folder / "not.pem").write_text("no key\n")
        self.refuse("serve", "v.nrrd", "--fresh", "--port", 0, "--certificate", key.with_name("certificate.pem"), "--key", "not.pem",
                    names=["not.pem", "key of the certificate"], lines=None)
