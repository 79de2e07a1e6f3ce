# SPDX-License-Identifier: Apache-2.0
"""What rules can do to a response.

Each fault is a function of the right Response and the Request, with the rule's other members as parameters. Their
annotations and defaults are what a plan is checked by. `do` is the function's name.
"""

import gzip as gzip_format
import os

from response import Content, Framing, Interruption, Response, Slice

FAULTS = {}
OF_RANGES = set()       # faults of rules that match only requests with the answer 206
COMBINE = ("slow", "headers")
CHUNK_BYTES = 65536
BOUNDARY = "a_boundary_of_parts"


def fault(function):
    FAULTS[function.__name__] = function
    return function


def fault_of_ranges(function):
    OF_RANGES.add(function.__name__)
    return fault(function)


def replace(response, other):
    """Makes another response of it that has no file. The delay and other effects of earlier rules stay."""
    response.status, response.headers, response.body = other.status, other.headers, other.body
    response.range, response.is_raw = None, other.is_raw


def body_bytes(response):
    """The whole body in memory."""
    return b"".join(os.pread(response.file.descriptor, len(piece), piece.offset) if isinstance(piece, Slice) else piece
                    for piece in response.body)


@fault
def status(response, request, *, code: int = 503, headers: dict = {}, body: str = ""):
    replace(response, Response(code, dict(headers), [Content(body.encode())]))


@fault
def reset(response, request, *, after: int = 0):
    response.interruption = Interruption(after, "reset")


@fault
def close(response, request, *, after: int = 0):
    response.interruption = Interruption(after, "close")


@fault
def stall(response, request, *, seconds: float, after: int = 0):
    response.interruption = Interruption(after, "stall", seconds)


@fault
def slow(response, request, *, first_byte: float = 0, bytes_per_s: float = 0):
    response.delay += first_byte
    if bytes_per_s:
        response.bytes_per_s = min(bytes_per_s, response.bytes_per_s or bytes_per_s)


@fault_of_ranges
def whole(response, request):
    response.status = 200
    del response.headers["Content-Range"]
    response.range = 0, response.file.size - 1
    response.body = [Slice(0, response.file.size)]


@fault_of_ranges
def wrong_range(response, request, *, shift: int = 1):
    end = response.file.size - 1
    first, last = (min(max(byte + shift, 0), end) for byte in response.range)
    response.headers["Content-Range"] = f"bytes {first}-{last}/{response.file.size}"
    response.range = first, last
    response.body = [Slice(first, last - first + 1)]


@fault_of_ranges
def lying_range(response, request):
    first, last = response.range
    response.range = None
    response.body = [Slice(first, last - first + 1, inverted=True)]


@fault_of_ranges
def no_content_range(response, request):
    del response.headers["Content-Range"]


@fault_of_ranges
def multipart(response, request):
    content_range = response.headers.pop("Content-Range")
    head = f"--{BOUNDARY}\r\nContent-Type: application/octet-stream\r\nContent-Range: {content_range}\r\n\r\n"
    response.headers["Content-Type"] = f"multipart/byteranges; boundary={BOUNDARY}"
    response.body = [Content(head.encode()), *response.body, Content(f"\r\n--{BOUNDARY}--\r\n".encode())]
    response.range = None


@fault_of_ranges
def short(response, request, *, by: int = 1):
    first, last = response.range
    response.body = [Slice(first, max(0, last - first + 1 - by))]
    response.range = None


@fault_of_ranges
def long(response, request, *, by: int = 1):
    """The bytes that follow in the file, then zeros."""
    first, last = response.range
    more = min(by, response.file.size - 1 - last)
    response.body = [Slice(first, last - first + 1 + more), Content(by - more)]
    response.range = None


@fault
def chunked(response, request):
    chunks = []
    for piece in response.body:
        for first in range(0, len(piece), CHUNK_BYTES):
            part = piece.part(first, min(first + CHUNK_BYTES, len(piece)))
            chunks += [Framing(f"{len(part):x}\r\n".encode()), part, Framing(b"\r\n")]
    response.headers["Transfer-Encoding"] = "chunked"
    response.body = [*chunks, Framing(b"0\r\n\r\n")]


@fault
def gzip(response, request):
    response.body = [Content(gzip_format.compress(body_bytes(response), 1))]
    response.headers["Content-Encoding"] = "gzip"
    response.range = None


@fault
def redirect(response, request, *, to: str, code: int = 302):
    replace(response, Response(code, {"Location": to}))


@fault
def redirect_loop(response, request, *, code: int = 302):
    replace(response, Response(code, {"Location": request.target}))


@fault
def etag(response, request, *, value: str):
    response.headers["ETag"] = value


@fault
def weak_etag(response, request):
    if "ETag" in response.headers:
        response.headers["ETag"] = "W/" + response.headers["ETag"]


@fault
def no_etag(response, request):
    response.headers.pop("ETag", None)


@fault
def headers(response, request, *, headers: dict):
    response.replaced_headers.update(headers)


@fault
def endless_headers(response, request, *, bytes: int = 1 << 20):
    lines = b"HTTP/1.1 200 OK\r\n"
    line = b"X-Endless: " + b"x" * 1000 + b"\r\n"
    lines += line * (max(0, bytes - len(lines)) // len(line) + 1)
    replace(response, Response(200, is_raw=True, body=[Framing(lines[:bytes])]))


@fault
def garbage(response, request, *, bytes: int = 64):
    """Bytes that begin no line of HTTP."""
    noise = (b"\x00\xff\x16\x03garbage\r\n\r\n" * (bytes // 15 + 1))[:bytes]
    replace(response, Response(200, is_raw=True, body=[Framing(noise)]))


@fault
def auth(response, request, *, token: str):
    """Rules with this fault match only requests that lack the token."""
    replace(response, Response(401, {"WWW-Authenticate": 'Bearer realm="test"'}, [Content(b"a token is needed\n")]))
