"""A viewer made by hand, and what a hostile program could send instead."""

import base64
import os
import random
import re
import socket
import struct

NEARLY = [b'{"do":"play"}', b'{"do":"seek","frame":1e99}', b'{"do":"set","key":"a","value":{}}',
          b'{"do":"pour","at":[1,2],"velocity":[0,0,0]}', b'{"do":["play"]}', b"[[[[[[[[",
          b'{"do":"open","scene":"../../etc/passwd"}', b'{"do":"set","key":"resolution","value":-1}']


class Address:
    def __init__(self, url):
        self.host, self.port, self.token = re.fullmatch(
            r"http://([^:/]+):(\d+)/\?token=(\w+)", url).groups()
        self.port = int(self.port)

    def connect(self):
        return socket.create_connection((self.host, self.port), timeout=60)

    def request(self, path, host=None, origin=None, more=""):
        host = host or f"{self.host}:{self.port}"
        origin = f"Origin: {origin}\r\n" if origin else ""
        return f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{origin}{more}\r\n".encode()

    def answer(self, *arguments, **options):
        """All that comes back, as text."""
        with self.connect() as plug:
            plug.sendall(self.request(*arguments, **options))
            parts = []
            while part := plug.recv(65536):
                parts.append(part)
        return b"".join(parts).decode("latin-1")


UPGRADE = ("Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
           f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n")


class Viewer:
    """Says texts; what comes back is left lying."""

    def __init__(self, address):
        self.plug = address.connect()
        self.plug.sendall(address.request(f"/ws?token={address.token}", more=UPGRADE))
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.plug.recv(1)
        assert b" 101 " in head, head

    def say(self, body, opcode=1):
        size = bytes([0x80 | len(body)]) if len(body) < 126 else b"\xfe" + struct.pack(">H", len(body))
        self.plug.sendall(bytes([0x80 | opcode]) + size + bytes(4) + body)

    def close(self):
        self.plug.close()


def nonsense(dice, most=200):
    """Bytes at random, or a command with something wrong."""
    if dice.random() < 0.5:
        return dice.randbytes(dice.randrange(most))
    text = bytearray(dice.choice(NEARLY))
    if dice.random() < 0.5:
        text[dice.randrange(len(text))] ^= 1 << dice.randrange(7)
    return bytes(text)


def assault(address, count, seed):
    """`count` messages, requests and bytes that are neither. The server may hang up on any."""
    dice = random.Random(seed)
    sent = 0
    while sent < count:
        kind = dice.random()
        try:
            if kind < 0.1:  # no request
                with address.connect() as plug:
                    plug.sendall(dice.randbytes(dice.randrange(3000)) + b"\r\n\r\n")
                sent += 1
            elif kind < 0.2:  # a request for something that is not there
                path = "/" + base64.b16encode(dice.randbytes(20)).decode() + "?token=" + address.token
                address.answer(path)
                sent += 1
            else:
                viewer = Viewer(address)
                try:
                    for _ in range(60):
                        viewer.say(nonsense(dice), 1 if dice.random() < 0.98 else dice.randrange(16))
                        sent += 1
                finally:
                    viewer.close()
        except OSError:
            sent += 1
