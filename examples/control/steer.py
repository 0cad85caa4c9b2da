#!/usr/bin/env python3
"""Controls a running Echolux: changes settings, fetches a picture and a B-scan, receives notifications.

Needs only Python.

usage: steer.py [--ca FILE] [HOST:]PORT [FILE]      opens FILE, which must be in a folder that Echolux may open

The token is the first line of the file named by the variable ECHOLUX_TOKEN_FILE, or the value of ECHOLUX_TOKEN. It is not
an argument because other users of the machine can read command lines. --ca FILE connects with TLS and trusts the
certificate in this PEM file.
"""
import argparse
import array
import json
import os
import socket
import ssl


class Refused(Exception):
    """A request was refused; `data` has code, what, where and remedy."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.data = error.get("data", {})


class Echolux:
    def __init__(self, host, port, token, ca=None):
        """`ca`: a PEM file; if given, the connection is encrypted."""
        self.socket = socket.create_connection((host, port))
        if ca is not None:
            self.socket = ssl.create_default_context(cafile=ca).wrap_socket(self.socket, server_hostname=host)
        self.reads = self.socket.makefile("rb")
        self.number = 0
        self.notifications = []  # received while waiting for an answer: (topic, content, bytes)
        self._write({"token": token})
        welcome = self._read()
        if "welcome" not in welcome:
            raise Refused({"message": welcome["error"]["what"]})

    def _write(self, message):
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def _read(self):
        line = self.reads.readline()
        if not line:
            raise ConnectionError("Echolux has closed the connection")
        return json.loads(line)

    def _bytes_of(self, content):
        """Reads the bytes that follow `content`, if it announces any: the line {"binary": SIZE}, then the bytes."""
        return self.reads.read(self._read()["binary"]) if isinstance(content, dict) and "bytes" in content else b""

    def ask(self, method, **params):
        """Returns the result of a method, and its bytes if it has any."""
        self.number += 1
        self._write({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            message = self._read()
            if "method" in message:
                self.notifications.append((message["method"], message["params"], self._bytes_of(message["params"])))
            elif "error" in message:
                raise Refused(message["error"])
            else:
                return message["result"], self._bytes_of(message["result"])

    def set(self, **values):
        """Changes settings: set(view__zoom=2). Two underscores in a name stand for the dot in a key."""
        return self.ask("set", values={key.replace("__", "."): value for key, value in values.items()})[0]["values"]


def token():
    if "ECHOLUX_TOKEN_FILE" in os.environ:
        with open(os.environ["ECHOLUX_TOKEN_FILE"], encoding="ascii") as file:
            return file.readline().strip()
    return os.environ["ECHOLUX_TOKEN"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", metavar="[HOST:]PORT")
    parser.add_argument("file", metavar="FILE", nargs="?")
    parser.add_argument("--ca", metavar="FILE")
    options = parser.parse_args()
    host, _, port = options.address.rpartition(":")
    echolux = Echolux(host or "127.0.0.1", int(port), token(), options.ca)
    echolux.ask("subscribe", topics=["settings"])
    print("set to", echolux.set(view__mode="mip", view__zoom=1.5))
    try:
        echolux.set(view__zoom=-1)
    except Refused as refused:
        print("refused:", refused)
    if options.file:
        print("opened", echolux.ask("open", file=options.file)[0]["name"])
        about, voxels = echolux.ask("b_scan")
        print("B-scan", about["b_scan"], "of", about["shape"], about["type"], about["unit"])
        if about["type"] == "f32":
            print("brightest", max(array.array("f", voxels)))
        _, picture = echolux.ask("snapshot", width=320, height=240)
        with open("picture.png", "wb") as file:
            file.write(picture)
        print("written picture.png")
    print("told of", [topic for topic, _, _ in echolux.notifications])


if __name__ == "__main__":
    main()
