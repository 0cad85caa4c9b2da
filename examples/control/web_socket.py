#!/usr/bin/env python3
"""Controls `echolux serve` through the WebSocket of its page. Requests and answers are text messages; voxels and pictures
are binary messages. Needs Python 3 and the package websockets.

usage: web_socket.py ADDRESS      the control address printed by `echolux serve`
"""
import asyncio
import json
import sys

import websockets


async def ask(line, method, **params):
    """Returns the result of a method, and its bytes if it has any."""
    await line.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    answer = json.loads(await line.recv())
    if "error" in answer:
        raise RuntimeError(answer["error"]["message"])
    result = answer["result"]
    return result, await line.recv() if "bytes" in result else b""


async def main():
    address = sys.argv[1].replace("http", "ws", 1).replace("/?", "/ws?")
    async with websockets.connect(address, max_size=None) as line:
        print("set", (await ask(line, "set", values={"view.mode": "mip"}))[0]["values"])
        state, _ = await ask(line, "state")
        print("shown", state["name"] if state["is_open"] else "nothing")
        _, picture = await ask(line, "snapshot", width=320, height=240)
        with open("picture.png", "wb") as file:
            file.write(picture)
        print("written picture.png")


asyncio.run(main())
