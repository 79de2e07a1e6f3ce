# SPDX-License-Identifier: Apache-2.0
"""Requests, and how they are read from a socket."""

import dataclasses
import os
import re
import urllib.parse

MOST_HEAD_BYTES = 65536
MOST_BODY_BYTES = 4 << 20


class BadRequest(Exception):
    """The request can't be read. The argument is the status that says so, after which the connection ends."""


@dataclasses.dataclass
class Request:
    method: str
    path: str      # percent-decoded
    query: str     # as sent
    target: str    # path and query, as sent
    headers: dict  # lower-case names; values of equal names are joined by ", "
    body: bytes = b""
    keeps_alive: bool = True


class RequestReader:
    """Reads one request after another from a socket. Bytes of the next one are kept."""

    def __init__(self, sock):
        self.sock = sock
        self.bytes = b""

    def next(self):
        """Returns a Request, or None if the client has closed the connection."""
        head = self.head()
        if head is None:
            return None
        request = parse_head(head)
        if "transfer-encoding" in request.headers:
            raise BadRequest(411)
        digits = request.headers.get("content-length", "0")
        if not re.fullmatch("[0-9]{1,18}", digits):
            raise BadRequest(400)
        length = int(digits)
        if length > MOST_BODY_BYTES:
            raise BadRequest(413)
        if request.headers.get("expect", "").lower() == "100-continue" and len(self.bytes) < length:
            self.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        while len(self.bytes) < length:
            self.receive()
        request.body, self.bytes = self.bytes[:length], self.bytes[length:]
        return request

    def head(self):
        """Returns the lines of a request up to the empty one, or None at the end of the connection."""
        while True:
            self.bytes = self.bytes.lstrip(b"\r\n")
            head, end, rest = self.bytes.partition(b"\r\n\r\n")
            if len(head) > MOST_HEAD_BYTES:
                raise BadRequest(431)
            if end:
                self.bytes = rest
                return head
            try:
                self.receive()
            except ConnectionError:
                return None

    def receive(self):
        received = self.sock.recv(65536)
        if not received:
            raise ConnectionResetError
        self.bytes += received


def parse_head(head):
    """Returns the Request of these lines, without its body."""
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or words[2] not in ("HTTP/1.0", "HTTP/1.1"):
        raise BadRequest(400)
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise BadRequest(400)
        name, value = name.lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    target = words[1]
    if target.startswith(("http://", "https://")):
        target = "/" + target.partition("://")[2].partition("/")[2]
    if not target.startswith("/") or words[2] == "HTTP/1.1" and "host" not in headers:
        raise BadRequest(400)
    path, _, query = target.partition("?")
    path = os.fsdecode(urllib.parse.unquote_to_bytes(path.encode("latin-1")))
    keeps_alive = words[2] == "HTTP/1.1" and not has_token(headers.get("connection", ""), "close")
    return Request(words[0], path, query, target, headers, keeps_alive=keeps_alive)


def has_token(value, token):
    """Whether a header of words between commas has this one."""
    return token in (word.strip().lower() for word in value.split(","))
