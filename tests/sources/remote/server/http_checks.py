# SPDX-License-Identifier: Apache-2.0
"""Checks of the right answers, and of the log. Each gets a Server whose plan and log are empty."""

import email.utils
import os
import socket
import threading

from client import request, wait_until

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def content(server, name="a.bin"):
    return (server.folder / name).read_bytes()


@check
def whole_files(server):
    answer = server.get()
    path = server.folder / "a.bin"
    assert answer.body == path.read_bytes()
    assert answer.facts("Content-Length", "Accept-Ranges") == (200, str(path.stat().st_size), "bytes")
    assert answer.headers["Last-Modified"] == email.utils.formatdate(path.stat().st_mtime, usegmt=True)
    assert answer.headers["ETag"][0] == answer.headers["ETag"][-1] == '"'
    empty = server.get("/empty")
    assert (empty.status, empty.body, empty.headers["Content-Length"]) == (200, b"", "0")
    assert list(server.totals()["ranges"]) == ["/a.bin"]


@check
def ranges(server):
    whole = content(server)
    size = len(whole)
    for asked, first, end in (
            ("0-0", 0, 1), ("10-99", 10, 100), ("999-", 999, size), ("-7", size - 7, size),
            (f"5-{size}", 5, size), (f"-{size + 1}", 0, size), (f"{size - 1}-{size - 1}", size - 1, size)):
        answer = server.get(asked=asked)
        assert answer.body == whole[first:end], asked
        right = 206, f"bytes {first}-{end - 1}/{size}", str(end - first)
        assert answer.facts("Content-Range", "Content-Length") == right, asked
    for asked in (f"{size}-", f"{size}-{size + 5}", "-0"):
        answer = server.get(asked=asked)
        assert answer.facts("Content-Range", "Content-Length") == (416, f"bytes */{size}", "0"), asked
    for asked in ("5-4", "1-2,4-5", "a-b", "-", "", "1" * 5000 + "-"):
        answer = server.get(headers={"Range": f"bytes={asked}"})
        assert answer.facts("Content-Range") == (200, None) and answer.body == whole, asked
    assert server.get(headers={"Range": "lines=1-2"}).status == 200
    assert [server.get("/empty", asked=asked).status for asked in ("0-", "-5", "-0")] == [416, 200, 416]


@check
def heads(server):
    connection = server.connection()
    by_get = server.get(connection=connection)
    by_head = server.get(method="HEAD", asked="0-9", connection=connection)
    assert by_head.body == b"" and server.get(asked="0-2", connection=connection).body == content(server)[:3]
    for name in ("Content-Length", "ETag", "Last-Modified", "Accept-Ranges", "Content-Range"):
        assert by_head.facts(name) == by_get.facts(name), name
    connection.close()


@check
def connections_stay_open(server):
    connection = server.connection()
    for path in ("/a.bin", "/missing", "/sub/d.txt", "/../x"):
        server.get(path, connection=connection)
    connection.close()
    server.get()
    numbers = [one["connection"] for one in server.log()]
    assert numbers[:4] == numbers[:1] * 4 and numbers[4] != numbers[0]
    received, end = server.raw(request("/sub/d.txt") + request("/sub/d.txt", "Connection: close"))
    assert received.count(b"HTTP/1.1 200 OK\r\n") == received.count(content(server, "sub/d.txt")) == 2 and end == "end"
    received, end = server.raw(b"GET /sub/d.txt HTTP/1.0\r\n\r\n")
    assert received.endswith(content(server, "sub/d.txt")) and b"\r\nConnection: close\r\n" in received and end == "end"


@check
def conditions(server):
    etag, modified = server.get().facts("ETag", "Last-Modified")[1:]
    for name, value, status in (
            ("If-Match", etag, 206), ("If-Match", f'"x", {etag}', 206), ("If-Match", "*", 206),
            ("If-Match", '"x"', 412),
            ("If-Match", f"W/{etag}", 412), ("If-None-Match", etag, 304), ("If-None-Match", f'"x", W/{etag}', 304),
            ("If-None-Match", "*", 304), ("If-None-Match", '"x"', 206),
            ("If-Range", etag, 206), ("If-Range", modified, 206), ("If-Range", '"x"', 200),
            ("If-Range", f"W/{etag}", 200), ("If-Range", "Mon, 01 Jan 2001 00:00:00 GMT", 200)):
        answer = server.get(asked="1-3", headers={name: value})
        whole = content(server)
        body = {206: whole[1:4], 200: whole}.get(answer.status, b"")
        assert answer.facts("ETag") == (status, etag) and answer.body == body, (name, value, answer.status)


@check
def paths(server):
    assert server.get("/b%20c%25.bin").body == server.get("/%62%20c%25.bin?a=b").body == content(server, "b c%.bin")
    assert server.get("/sub/../sub/d.txt").body == content(server, "sub/d.txt")
    for path, status in (("/missing", 404), ("/sub", 404), ("/sub/d.txt/", 404), ("/a.bin/x", 404), ("/a%00.bin", 404),
                         ("/pipe", 404), ("/../outside", 403), ("/%2e%2e/outside", 403), ("/sub/..%2f../outside", 403),
                         ("/link", 403), ("/../folder_too/x", 403)):
        assert server.get(path).status == status, path
    for method in ("PUT", "DELETE", "POST"):
        assert server.get(method=method).facts("Allow") == (405, "GET, HEAD"), method
    assert [one["path"] for one in server.log()][:2] == ["/b c%.bin"] * 2 and server.log()[1]["query"] == "a=b"


@check
def bad_requests(server):
    for wrong, status in (
            (b"nonsense\r\n\r\n", 400), (b"GET /a.bin HTTP/2.0\r\n\r\n", 400), (b"GET /a.bin HTTP/1.1\r\n\r\n", 400),
            (request("a.bin"), 400), (request("/a.bin", "no colon"), 400),
            (request("/a.bin", "Content-Length: x"), 400), (request("/a.bin", f"Content-Length: {10**9}"), 413),
            (request("/a.bin", f"Content-Length: {'0' * 5000}"), 400), (request("/%ff"), 404),
            (request("/a.bin", "Transfer-Encoding: chunked"), 411), (request("/a.bin", "X: " + "x" * 70000), 431)):
        received, end = server.raw(wrong + bytes(200_000))  # which aren't read, and must not cause RST
        assert received.startswith(f"HTTP/1.1 {status} ".encode()) and end == "end", (status, received[:100])


@check
def awaited_bodies(server):
    with server.connect() as sock:
        sock.sendall(request("/_control", "Content-Length: 2", "Expect: 100-continue", method="POST"))
        assert sock.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        sock.sendall(b"[]")
        assert sock.recv(100).startswith(b"HTTP/1.1 200 OK\r\n")


@check
def changed_files(server):
    path, new = server.folder / "changes.bin", server.folder / "changes.new"
    old_bytes, new_bytes = b"old" * 1000, b"newer" * 1000
    path.write_bytes(old_bytes)
    before = server.get("/changes.bin")
    server.control({"do": "stall", "after": 100, "seconds": 0.1})
    connection = server.connection()
    connection.request("GET", "/changes.bin")
    response = connection.getresponse()
    body = response.read(100)
    new.write_bytes(new_bytes)
    new.rename(path)
    assert body + response.read() == old_bytes
    connection.close()
    server.control()
    after = server.get("/changes.bin")
    assert after.body == new_bytes and after.headers["ETag"] != before.headers["ETag"]
    assert server.get("/changes.bin", headers={"If-Match": before.headers["ETag"]}).status == 412
    time_ns = path.stat().st_mtime_ns
    os.utime(path, ns=(0, time_ns + 1))
    assert server.get("/changes.bin").headers["ETag"] != after.headers["ETag"]
    path.write_bytes(new_bytes + b"!")
    os.utime(path, ns=(0, time_ns))
    assert server.get("/changes.bin").headers["ETag"] != after.headers["ETag"]


@check
def a_log(server):
    whole = len(content(server))
    server.get(asked="0-9", headers={"X-Mine": "yes"})
    server.get(asked="0-9")
    server.get(method="HEAD")
    server.get()
    server.get("/missing?q=1")
    first, _, head, get, missing = server.log()
    assert [one["number"] for one in server.log()] == [1, 2, 3, 4, 5]
    names = "method", "path", "range", "status", "bytes"
    assert [first[name] for name in names] == ["GET", "/a.bin", "bytes=0-9", 206, 10]
    assert first["headers"]["x-mine"] == "yes" and first["headers"]["host"] == f"127.0.0.1:{server.port}"
    assert (head["method"], head["bytes"], get["bytes"], get["range"]) == ("HEAD", 0, whole, None)
    assert (missing["status"], missing["query"]) == (404, "q=1")
    assert 0 < first["start"] <= first["end"] <= head["start"]
    totals = server.totals()
    assert totals["ranges"] == {"/a.bin": {"0-9": 2, f"0-{whole - 1}": 1}} and totals["requests"] == 5
    assert totals["bytes"] == 20 + whole + missing["bytes"] and totals["most_connections"] == 1
    server.control()
    assert server.log() == [] and server.totals() == {"requests": 0, "bytes": 0, "most_connections": 0, "ranges": {}}


@check
def a_log_that_is_reset(server):
    """A request that began before the reset adds nothing to the log after it."""
    server.control({"do": "stall", "after": 10, "seconds": 0.1})
    connection = server.connection()
    connection.request("GET", "/a.bin")
    response = connection.getresponse()
    server.control()
    assert response.read() == content(server)
    server.get(asked="0-9", connection=connection)
    connection.close()
    assert server.totals() == {"requests": 1, "bytes": 10, "most_connections": 1, "ranges": {"/a.bin": {"0-9": 1}}}


@check
def many_connections(server):
    """64 at once, which all stay open."""
    server.control({"do": "slow", "first_byte": 0.1})
    sockets = [None] * 64

    def ask(number):
        sockets[number] = server.connect()
        sockets[number].sendall(request("/a.bin", f"Range: bytes={number}-{number + 99}"))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(64)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    whole = content(server)
    for number, sock in enumerate(sockets):
        received = b""
        while len(received.partition(b"\r\n\r\n")[2]) < 100:
            received += sock.recv(65536)
        assert received.startswith(b"HTTP/1.1 206") and received.endswith(whole[number:number + 100])
    totals = server.totals()
    assert totals["most_connections"] == 64 and totals["requests"] == 64 and len(totals["ranges"]["/a.bin"]) == 64
    for sock in sockets:
        sock.close()
    server.control()
    server.get()
    assert server.totals()["most_connections"] == 1


@check
def a_client_that_leaves(server):
    """The log has the end of a request whose client has left, and no range for it."""
    server.control({"do": "stall", "after": 10, "seconds": 60})
    sock = server.connect()
    sock.sendall(request())
    received = b""
    while len(received.partition(b"\r\n\r\n")[2]) < 10:
        received += sock.recv(65536)
    assert received.endswith(content(server)[:10]) and server.log()[0]["end"] is None
    sock.close()
    wait_until(lambda: server.log()[0]["end"])
    (entry,) = server.log()
    assert entry["bytes"] == 10 and entry["end"] - entry["start"] < 30 and server.totals()["ranges"] == {}


@check
def nothing_but_http(server):
    """A server of TLS outlives what is not TLS, and any server a client that connects and leaves."""
    with socket.create_connection(("127.0.0.1", server.port)) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
    server.connect().close()
    assert server.get().status == 200
