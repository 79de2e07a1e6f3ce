# SPDX-License-Identifier: Apache-2.0
"""Responses before they are sent, and the pieces of their bodies."""

import dataclasses
import email.utils
import http.client

from request import has_token

NO_BODY = (204, 304)


@dataclasses.dataclass(frozen=True)
class Slice:
    """Bytes of the response's file. `inverted`: each one is sent with all of its bits changed."""
    offset: int
    length: int
    inverted: bool = False

    def __len__(self):
        return self.length

    def part(self, first, end):
        return Slice(self.offset + first, end - first, self.inverted)


class Framing(bytes):
    """Bytes between those of the body, like the lengths of chunks. The log doesn't count them."""

    def part(self, first, end):
        return Framing(self[first:end])


class Content(bytes):
    """Bytes of a body that are in no file."""

    def part(self, first, end):
        return Content(self[first:end])


def cut(body, count):
    """Returns the first `count` bytes of a body and the others."""
    before, after = [], []
    for piece in body:
        here = min(max(count, 0), len(piece))
        count -= here
        if here:
            before.append(piece.part(0, here))
        if here < len(piece):
            after.append(piece.part(here, len(piece)))
    return before, after


@dataclasses.dataclass
class Interruption:
    """What happens after these bytes of the body; -1: before the header."""
    after: int
    how: str  # reset, close, stall
    seconds: float = 0


@dataclasses.dataclass
class Response:
    status: int
    headers: dict = dataclasses.field(default_factory=dict)
    body: list = dataclasses.field(default_factory=list)  # Slice, Content and Framing
    file: object = None        # the OpenFile of slices
    range: tuple = None        # first and last byte of the file, if the body has these bytes and no others
    delay: float = 0           # seconds before the header
    bytes_per_s: float = None  # the body's rate
    interruption: Interruption = None
    replaced_headers: dict = dataclasses.field(default_factory=dict)  # replace the others at the end; None removes one
    is_raw: bool = False       # the body is all that is sent
    keeps_alive: bool = True

    def finish(self, request):
        """Adds what depends on the body. Nothing but head() is asked after this."""
        size = sum(map(len, self.body))
        self.headers.setdefault("Date", email.utils.formatdate(usegmt=True))
        if self.status not in NO_BODY and "Transfer-Encoding" not in self.headers:
            self.headers.setdefault("Content-Length", str(size))
        for name, value in self.replaced_headers.items():
            for old in [old for old in self.headers if old.lower() == name.lower()]:
                del self.headers[old]
            if value is not None:
                self.headers[name] = str(value)
        values = {name.lower(): value for name, value in self.headers.items()}
        if request.method == "HEAD" or self.status in NO_BODY:
            has_end = True
            if not self.is_raw:
                self.body, self.range = [], None
        else:
            has_end = "transfer-encoding" in values or values.get("content-length") == str(size)
        ends = self.is_raw or not has_end or not request.keeps_alive or has_token(values.get("connection", ""), "close")
        self.keeps_alive = self.keeps_alive and not ends
        if not self.keeps_alive and "connection" not in (name.lower() for name in self.replaced_headers):
            self.headers["Connection"] = "close"

    def head(self):
        reason = http.client.responses.get(self.status, "Status")
        lines = [f"HTTP/1.1 {self.status} {reason}", *(f"{name}: {value}" for name, value in self.headers.items())]
        return Framing(("\r\n".join(lines) + "\r\n\r\n").encode())
