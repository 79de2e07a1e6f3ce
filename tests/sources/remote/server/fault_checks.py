# SPDX-License-Identifier: Apache-2.0
"""Checks of faults, and of the choice of rules. Each gets a Server whose plan and log are empty."""

import gzip as gzip_format
import time

from client import request
from http_checks import content

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


@check
def status(server):
    headers = {"Retry-After": "1"}
    server.control({"do": "status", "code": 429, "headers": headers, "body": "<Code>SlowDown</Code>", "times": 1})
    connection = server.connection()
    answer = server.get(connection=connection)
    assert answer.facts("Retry-After") == (429, "1") and answer.body == b"<Code>SlowDown</Code>"
    assert server.get(connection=connection).status == 200
    connection.close()
    first, second = server.log()
    assert (first["status"], first["rules"], second["rules"]) == (429, [0], [])
    server.control({"do": "status"})
    assert server.get().status == 503


@check
def reset(server):
    for after in (0, 1, 100_000, 999_999):
        server.control({"do": "reset", "after": after})
        answer = server.get()
        assert answer.end == "reset" and answer.body == content(server)[:after], after
        assert answer.headers["Content-Length"] == "1000000" and server.log()[0]["bytes"] == after
    server.control({"do": "reset", "after": -1})
    assert server.raw(request()) == (b"", "reset")
    assert server.log()[0]["status"] is None and server.totals()["ranges"] == {}


@check
def close(server):
    for after in (0, 1, 100_000, 999_999):
        server.control({"do": "close", "after": after})
        answer = server.get()
        assert answer.end == "cut" and answer.body == content(server)[:after], after
        assert server.raw(request() + request())[1] == "end"
    server.control({"do": "close", "after": -1})
    assert server.raw(request()) == (b"", "end")


@check
def stall(server):
    server.control({"do": "stall", "after": 1000, "seconds": 0.2})
    answer = server.get()
    assert answer.body == content(server) and all(at >= 0.19 for at, count in answer.arrivals if count > 1000)


@check
def slow(server):
    server.control({"do": "slow", "first_byte": 0.1, "bytes_per_s": 5_000_000})
    answer = server.get()
    assert answer.body == content(server) and answer.arrivals[-1][0] >= 0.29
    assert all(count <= (at - 0.1) * 5e6 + 1000 for at, count in answer.arrivals if count)


@check
def rates_of_connections(server):
    server.control(latency=0.03, bytes_per_s_a_connection=5_000_000)
    connection = server.connection()
    start = time.monotonic()
    for first in range(0, 1_000_000, 250_000):
        answer = server.get(asked=f"{first}-{first + 249_999}", connection=connection)
        assert answer.body == content(server)[first:first + 250_000] and answer.arrivals[0][0] >= 0.029
    assert time.monotonic() - start >= 0.31
    connection.close()
    server.control({"do": "slow", "bytes_per_s": 500_000}, bytes_per_s_a_connection=5_000_000)
    assert server.get(asked="0-99999").arrivals[-1][0] >= 0.19


def check_range(server, do, status, content_range, body, **others):
    """What a fault makes of the range 1000-1999, and that it leaves requests without a range alone."""
    server.control({"do": do, **others})
    connection = server.connection()
    answer = server.get(asked="1000-1999", connection=connection)
    assert answer.facts("Content-Range", "Content-Length") == (status, content_range, str(len(body)))
    assert answer.body == body and answer.end == "whole"
    assert server.get(connection=connection).body == content(server)
    connection.close()
    assert [one["rules"] for one in server.log()] == [[0], []]
    return answer


@check
def ranges(server):
    whole = content(server)
    asked, right = whole[1000:2000], "bytes 1000-1999/1000000"
    check_range(server, "whole", 200, None, whole)
    assert server.totals()["ranges"]["/a.bin"] == {"0-999999": 2}
    check_range(server, "wrong_range", 206, "bytes 1001-2000/1000000", whole[1001:2001])
    check_range(server, "wrong_range", 206, "bytes 0-899/1000000", whole[:900], shift=-1100)
    assert server.totals()["ranges"]["/a.bin"] == {"0-899": 1, "0-999999": 1}
    check_range(server, "lying_range", 206, right, bytes(255 - byte for byte in asked))
    check_range(server, "no_content_range", 206, None, asked)
    check_range(server, "short", 206, right, asked[:-1])
    check_range(server, "short", 206, right, b"", by=5000)
    check_range(server, "long", 206, right, whole[1000:2001])
    assert server.totals()["ranges"]["/a.bin"] == {"0-999999": 1}
    server.control({"do": "long", "by": 3})
    assert server.get(asked="-2").body == whole[-2:] + bytes(3)


@check
def multipart(server):
    server.control({"do": "multipart"})
    answer = server.get(asked="1000-1999")
    kind, _, boundary = answer.headers["Content-Type"].partition("; boundary=")
    assert (answer.status, kind, answer.headers["Content-Range"]) == (206, "multipart/byteranges", None)
    head, _, rest = answer.body.partition(b"\r\n\r\n")
    assert head.startswith(f"--{boundary}\r\n".encode()) and head.endswith(b"Content-Range: bytes 1000-1999/1000000")
    assert rest == content(server)[1000:2000] + f"\r\n--{boundary}--\r\n".encode()


@check
def chunked(server):
    server.control({"do": "chunked"})
    connection = server.connection()
    for asked in (None, "1000-1999", None):
        answer = server.get(asked=asked, connection=connection)
        assert answer.facts("Transfer-Encoding", "Content-Length") == (206 if asked else 200, "chunked", None)
        assert answer.body == (content(server)[1000:2000] if asked else content(server))
    connection.close()
    assert [one["bytes"] for one in server.log()] == [1_000_000, 1000, 1_000_000]


@check
def gzip(server):
    server.control({"do": "gzip"})
    answer = server.get(asked="1000-1999")
    assert answer.facts("Content-Encoding") == (206, "gzip")
    assert gzip_format.decompress(answer.body) == content(server)[1000:2000]
    assert gzip_format.decompress(server.get().body) == content(server)


@check
def redirects(server):
    server.control({"do": "redirect", "to": "/b", "code": 307, "path": "/a.bin"}, {"do": "redirect_loop"})
    assert server.get().facts("Location", "Content-Length") == (307, "/b", "0")
    assert server.get("/c%20?x=y").facts("Location") == (302, "/c%20?x=y")


@check
def etags(server):
    right = server.get().headers["ETag"]
    rules = {"do": "etag", "value": '"x"'}, {"do": "weak_etag"}, {"do": "no_etag"}
    server.control(*(rule | {"times": 1} for rule in rules))
    assert [server.get().headers["ETag"] for _ in range(4)] == ['"x"', "W/" + right, None, right]


@check
def headers(server):
    new = {"x-new": "1", "etag": "2", "Accept-Ranges": None, "X-Number": 3}
    server.control({"do": "headers", "headers": new}, {"do": "weak_etag"})
    answer = server.get()
    assert answer.facts("X-New", "Accept-Ranges", "X-Number") == (200, "1", None, "3")
    assert answer.headers.get_all("ETag") == ["2"]
    for wrong in ({"Content-Length": "999999"}, {"Content-Length": None}, {"Content-Length": "1000001"}):
        server.control({"do": "headers", "headers": wrong})
        received, end = server.raw(request() + request())
        assert received.count(b"HTTP/1.1 200") == 1 and received.endswith(content(server)) and end == "end", wrong


@check
def endless_headers(server):
    server.control({"do": "endless_headers", "bytes": 300_000})
    received, end = server.raw(request())
    assert len(received) == 300_000 and end == "end"
    assert received.startswith(b"HTTP/1.1 200 OK\r\nX-") and b"\r\n\r\n" not in received


@check
def garbage(server):
    server.control({"do": "garbage", "bytes": 1000})
    received, end = server.raw(request())
    assert len(received) == 1000 and b"HTTP" not in received and end == "end"


@check
def auth(server):
    server.control({"do": "auth", "token": "secret"}, {"do": "status", "code": 418})
    assert server.get().facts("WWW-Authenticate") == (401, 'Bearer realm="test"')
    assert server.get(headers={"Authorization": "Bearer wrong"}).status == 401
    assert server.get(headers={"Authorization": "Bearer secret"}).status == 418
    assert [one["rules"] for one in server.log()] == [[0], [0], [1]]


def statuses(server, count, **others):
    return [server.get(asked="0-0", **others).status for _ in range(count)]


@check
def chosen_requests(server):
    bad = {"do": "status", "code": 500}
    server.control(bad | {"skip": 2, "times": 2})
    assert statuses(server, 6) == [206, 206, 500, 500, 206, 206]
    server.control(bad | {"every": 3, "skip": 1})
    assert statuses(server, 8) == [206, 206, 206, 500, 206, 206, 500, 206]
    server.control(bad | {"path": "/sub/*"}, {"do": "status", "code": 501, "method": "HEAD"})
    kinds = {}, {"path": "/sub/d.txt"}, {"method": "HEAD"}
    assert [statuses(server, 1, **kind) for kind in kinds] == [[206], [500], [501]]
    server.control(bad | {"times": 2}, {"do": "status", "code": 501, "skip": 1, "times": 1})
    assert statuses(server, 4) == [500, 500, 501, 206]
    server.control({"do": "slow", "first_byte": 0.05}, {"do": "headers", "headers": {"X": "1"}}, bad | {"times": 1})
    answer = server.get()
    assert answer.facts("X") == (500, "1") and answer.arrivals[0][0] >= 0.049 and server.log()[0]["rules"] == [0, 1, 2]


@check
def chances(server):
    drawn = []
    for seed in (1, 1, 2):
        server.control({"do": "status", "code": 500, "chance": 0.3, "seed": seed})
        connection = server.connection()
        drawn.append(statuses(server, 100, connection=connection))
        connection.close()
    assert drawn[0] == drawn[1] != drawn[2] and all(15 <= one.count(500) <= 45 for one in drawn)


@check
def counters(server):
    """Another plan goes on counting for rules that it has, unless it resets."""
    bad = {"do": "status", "code": 500, "times": 2}
    server.control(bad)
    assert statuses(server, 1) == [500]
    assert server.post({"rules": [{"do": "no_etag", "times": 0}, bad]})[0] == 200
    assert statuses(server, 2) == [500, 206] and len(server.log()) == 3
    server.control(bad)
    assert statuses(server, 3) == [500, 500, 206]
    assert server.post([])[0] == 200


@check
def wrong_plans(server):
    server.control({"do": "status", "code": 500})
    for plan, words in (
            ([{"do": "nothing"}], "'do' must be one of status, reset"), ([{"do": "status", "cod": 1}], "has no 'cod'"),
            ([{"do": "stall"}], "needs 'seconds'"), ([{"do": "stall", "seconds": "1"}], "is '1', not float"),
            ([{"do": "reset", "every": 0}], "at least 1"), ([{"do": "reset", "times": True}], "not int"),
            ([1], "'do' must"), ({"rule": []}, "has no 'rule'"), (3, "a list of rules"),
            ({"latency": -1}, "at least 0")):
        status, text = server.post(plan)
        assert status == 400 and words in text, (plan, text)
    assert server.get("/_control").status == 405 and server.get("/_log", method="HEAD").status == 405
    assert statuses(server, 1) == [500]
