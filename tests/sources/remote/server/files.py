# SPDX-License-Identifier: Apache-2.0
"""The right answers: files of a folder, whole or ranges of them."""

import base64
import email.utils
import hashlib
import os
import stat

import ranges
from response import Content, Response, Slice


class Refused(Exception):
    """The file is not served. The argument is the status that says so."""


class OpenFile:
    """A file as it was when it was opened. A file that takes its place has no effect on it."""

    def __init__(self, path):
        # O_NONBLOCK: a named pipe without a writer would block.
        self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        facts = os.fstat(self.descriptor)
        self.is_regular = stat.S_ISREG(facts.st_mode)
        self.size = facts.st_size
        digest = hashlib.blake2b(f"{facts.st_size} {facts.st_mtime_ns}".encode(), digest_size=12).hexdigest()
        self.etag = f'"{digest}"'
        self.modified = email.utils.formatdate(facts.st_mtime, usegmt=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        os.close(self.descriptor)


def open_below(folder, path):
    """Opens the file that a path of a URL names.

    Raises Refused for all except regular files below the folder, whose own path has no links.
    """
    if "\0" in path:
        raise Refused(404)
    real = os.path.realpath(os.path.join(folder, path.lstrip("/")))
    if not f"{real}/".startswith(f"{folder.rstrip('/')}/"):
        raise Refused(403)
    if path.endswith("/"):
        raise Refused(404)
    try:
        file = OpenFile(real)
    except PermissionError as error:
        raise Refused(403) from error
    except OSError as error:
        raise Refused(404) from error
    if not file.is_regular:
        file.close()
        raise Refused(404)
    return file


def text_response(status, text="", headers=None):
    """A response that has no file."""
    return Response(status, {"Content-Type": "text/plain"} | (headers or {}), [Content(text.encode())])


def is_known(request, users):
    """Whether the request has the name and password of a user, or there are no users (Basic authentication)."""
    if not users:
        return True
    method, _, words = request.headers.get("authorization", "").partition(" ")
    try:
        name, _, password = base64.b64decode(words.strip(), validate=True).decode().partition(":")
    except ValueError:
        return False
    return method.lower() == "basic" and users.get(name) == password


def answer(request, folder, users):
    """Returns the right Response. The caller closes its file."""
    if not is_known(request, users):
        return text_response(401, "a name and a password are needed\n", {"WWW-Authenticate": 'Basic realm="test"'})
    if request.method not in ("GET", "HEAD"):
        return text_response(405, "only GET and HEAD\n", {"Allow": "GET, HEAD"})
    try:
        return file_response(request, open_below(folder, request.path))
    except Refused as refused:
        return text_response(refused.args[0], "the file is not served\n")


def file_response(request, file):
    """The response to a GET or HEAD of a file. A HEAD has the body of a GET here, which is not sent."""
    facts = {"ETag": file.etag, "Last-Modified": file.modified, "Accept-Ranges": "bytes"}
    response = Response(200, facts, file=file)
    response.status = ranges.refusal(request.headers, file.etag) or 200
    if response.status != 200:
        return response
    response.headers["Content-Type"] = "application/octet-stream"
    first, last = 0, file.size - 1
    asked = request.headers.get("range")
    # RFC 9110 defines ranges for GET only.
    if asked and request.method == "GET" and ranges.range_holds(request.headers, file.etag, file.modified):
        try:
            found = ranges.asked_range(asked, file.size)
        except ranges.PastEnd:
            response.status = 416
            response.headers["Content-Range"] = f"bytes */{file.size}"
            return response
        if found:
            first, last = found
            response.status = 206
            response.headers["Content-Range"] = f"bytes {first}-{last}/{file.size}"
    if file.size:
        response.range = first, last
        response.body = [Slice(first, last - first + 1)]
    return response
