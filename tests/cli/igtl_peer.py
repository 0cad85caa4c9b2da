"""An OpenIGTLink program built on pyigtl, an independent implementation. It runs alongside the program under test:

    igtl_peer.py connect|listen PORT SECONDS FOLDER [REQUEST ...]

Sends the requests, "string:TEXT" or "command:NUMBER:NAME:TEXT", one by one, each after the answer to the previous one.
Prints one JSON object: `got` with the messages of one volume by device, all with the same time stamp, and `answers` in
order. Images are saved as FOLDER/DEVICE.npy. Stops after the given time, or as soon as it has images, pose, note and
all answers. Exit code 77: pyigtl is missing.
"""
import contextlib
import json
import struct
import sys

from waiting import wait_until

try:
    import numpy as np
    import pyigtl
    import pyigtl.messages as messages
except ImportError as error:
    print(error)
    sys.exit(77)

WANTED = {"Echolux", "Echolux_BScan", "Echolux_pose", "Echolux_note"}


class CommandMessage(messages.MessageBase):
    """COMMAND and its answer, which pyigtl does not support, in a frame of version 2 (openigtlink.org, command.md)."""

    def __init__(self, number=0, name="", text=""):
        super().__init__(device_name="commands")
        self._message_type, self.header_version, self._valid_message = "COMMAND", 2, True
        self.number, self.name, self.text = number, name, text

    def _pack_content(self):
        return struct.pack("> I 128s H I", self.number, self.name.encode(), 106, len(self.text.encode())) + self.text.encode()

    def _unpack_content(self, content):
        self.number, name, _, length = struct.unpack("> I 128s H I", content[:138])
        self.name, self.text = name.rstrip(b"\0").decode(), content[138:138 + length].decode()


class StatusMessage(messages.MessageBase):
    def _unpack_content(self, content):
        self.code, self.text = struct.unpack("> H", content[:2])[0], content[30:].rstrip(b"\0").decode()


messages.message_type_to_class_constructor["RTS_COMMAND"] = CommandMessage
messages.message_type_to_class_constructor["STATUS"] = StatusMessage


def message_of(request):
    kind, text = request.split(":", 1)
    if kind == "string":
        return pyigtl.StringMessage(text, device_name="strings")
    number, name, text = text.split(":", 2)
    return CommandMessage(int(number), name, text)


def told(message):
    about = {"type": message.message_type, "time": message.timestamp}
    if message.message_type == "IMAGE":
        about["image"] = message.image
        about["matrix"], about["coordinates"] = message.ijk_to_world_matrix.tolist(), message.world_coordinate_system
    elif message.message_type == "TRANSFORM":
        about["matrix"] = message.matrix.tolist()
    elif message.message_type == "STRING":
        about["text"] = message.string
    elif message.message_type == "STATUS":
        about["text"], about["code"] = message.text, message.code
    else:
        about["number"], about["name"], about["text"] = message.number, message.name, message.text
    return about


def main():
    how, port, seconds, folder, requests = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4], sys.argv[5:]
    line = pyigtl.OpenIGTLinkClient("127.0.0.1", port) if how == "connect" else pyigtl.OpenIGTLinkServer(port=port, local_server=True)
    of_times, got, answers, waits = {}, {}, [], False


    def has_all():
        nonlocal waits, got
        if not waits and len(answers) < len(requests) and line.is_connected():
            waits = True
            line.send_message(message_of(requests[len(answers)]), wait=False)
        for message in line.get_latest_messages():
            about = told(message)
            if message.device_name in ("strings", "commands"):
                answers.append(about)
                waits = False
            else:
                of_time = of_times.setdefault(message.timestamp, {})
                of_time[message.device_name] = about
                got = got or (of_time if WANTED <= of_time.keys() else {})
        return got and len(answers) == len(requests)

    with contextlib.suppress(TimeoutError):
        wait_until(has_all, "messages", seconds)
    for name, about in got.items():
        if "image" in about:
            np.save(f"{folder}/{name}.npy", about.pop("image"))
    print(json.dumps({"got": got, "answers": answers}))
    sys.stdout.flush()
    line.stop()


main()
