"""`echolux serve --tls`: pages, pictures and programs come encrypted, with a certificate that is made, kept or given; whoever
comes without, or with an old version of TLS, is refused."""
import hashlib
import http.client
import json
import re
import socket
import ssl
import stat
import warnings

from served import Served, picture, size_of_png, told
from support import ProgramCase, write_scan


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
        """As the server shows it; it is the one whose fingerprint was printed."""
        certificate = ssl.get_server_certificate(("127.0.0.1", served.port), timeout=30)
        line = served.lines.get(timeout=60)
        self.assertIn(fingerprint(certificate), line)
        return certificate

    def test_pages_pictures_and_programs_come_encrypted(self):
        served = self.serve("--tls", "--control", 0)
        self.assertTrue(served.steer.startswith("https://"))
        control = int(re.search(r"port (\d+)", served.lines.get(timeout=60))[1])
        trusting = ssl.create_default_context(cadata=self.certificate_of(served))  # this one alone, for the names in it

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

    def test_whoever_comes_without_or_with_an_old_version_is_refused(self):
        served = self.serve("--tls")
        plain = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
        plain.request("GET", f"/?token={served.token}")
        answer = plain.getresponse()
        self.assertEqual((answer.status, answer.getheader("Set-Cookie")), (400, None))
        self.assertIn("https", answer.read().decode())
        plain.close()
        with self.assertRaises(ConnectionRefusedError):  # a WebSocket without
            served.socket(served.steer.replace("https", "http"))

        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.set_ciphers("ALL:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        with socket.create_connection(("127.0.0.1", served.port), 30) as line, self.assertRaises((ssl.SSLError, OSError)) as refused:
            old.wrap_socket(line)
        self.assertIn("PROTOCOL_VERSION", str(refused.exception).upper())  # an alert of the server, not a refusal of ours

        old.maximum_version, old.minimum_version = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2
        with socket.create_connection(("127.0.0.1", served.port), 30) as line, old.wrap_socket(line) as encrypted:
            self.assertEqual(encrypted.version(), "TLSv1.2")  # and the service goes on

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
