"""Shared by the cases of `echolux serve`: the running program, and messages and pictures as a page receives them."""
import json
import queue
import signal
import struct
import threading
import time

from browser import Socket
from support import start

HEADER = struct.Struct("<BBBBIIIIfffII")


class Served:
    """The program while it is serving."""

    def __init__(self, folder, *words, fresh=True, environment=None):
        self.process = start("serve", *words, "--port", 0, *(["--fresh"] if fresh else []), folder=folder, environment=environment)
        self.lines = queue.Queue()
        self.sockets = []
        threading.Thread(target=self.read, daemon=True).start()
        self.steer, self.watch = self.address("to steer:"), self.address("to watch:")

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)

    def address(self, begin, timeout_s=60):
        line = self.lines.get(timeout=timeout_s)
        assert line.startswith(begin), line
        return line.split()[-1]

    @property
    def token(self):
        return self.steer.split("token=")[1]

    @property
    def port(self):
        return int(self.steer.split(":")[2].split("/")[0])

    def socket(self, address=None, tls=None):
        opened = Socket((address or self.steer).replace("http", "ws", 1).replace("/?", "/ws?"), tls=tls)
        self.sockets.append(opened)
        return opened

    def end(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(60)
        for opened in self.sockets:
            opened.line.close()
        errors = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return code, errors


def told(socket, kind):
    """Returns the next message of this type."""
    while True:
        message = socket.receive()
        if isinstance(message, str) and json.loads(message).get("type") == kind:
            return json.loads(message)


def asked(socket, method, **params):
    """Returns the result of a method. Acknowledges pictures that arrive before it."""
    socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    while True:
        message = socket.receive()
        if isinstance(message, bytes):
            socket.send(json.dumps({"type": "shown", "picture": HEADER.unpack(message[:HEADER.size])[4]}))
        elif json.loads(message).get("id") == 1:
            return json.loads(message)["result"]


def coming(socket, seconds):
    """Returns the messages that arrive within this time."""
    messages, end = [], time.monotonic() + seconds
    while socket.is_coming(end - time.monotonic()):
        messages.append(socket.receive())
    return messages


def picture(socket, is_still=False):
    while True:
        message = socket.receive()
        if isinstance(message, str):
            continue
        head = HEADER.unpack(message[:HEADER.size])
        socket.send(json.dumps({"type": "shown", "picture": head[4]}))
        if not is_still or head[0] == 1:
            return head, message[HEADER.size:]


def size_of_png(data):
    return struct.unpack(">II", data[16:24])
