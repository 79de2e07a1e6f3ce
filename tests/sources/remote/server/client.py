# SPDX-License-Identifier: Apache-2.0
"""What the self-test uses: a running server, and what its clients see."""

import dataclasses
import http.client
import json
import pathlib
import socket
import ssl
import subprocess
import time

SERVER = pathlib.Path(__file__).resolve().parent / "server"
LONGEST_WAIT = 10
CLOSED = 7  # the first byte of TCP_INFO after RST; it is another one after FIN


@dataclasses.dataclass
class Answer:
    """What a client got. `end`: whole, cut or reset."""
    status: int
    headers: object
    body: bytes
    end: str
    arrivals: list  # (seconds since the request, bytes of the body by then); the header first

    def facts(self, *names):
        return (self.status, *(self.headers[name] for name in names))


class Server:
    """A server process. Its standard error must stay empty."""

    def __init__(self, folder, *options):
        self.folder = pathlib.Path(folder)
        self.process = subprocess.Popen([SERVER, folder, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        ready = json.loads(self.process.stdout.readline() or "null")
        if ready is None:
            raise RuntimeError(f"the server does not start: {self.process.communicate()[1]}")
        self.port, self.certificate = ready["port"], ready["certificate"]
        self.context = ssl.create_default_context(cafile=self.certificate) if self.certificate else None
        if self.context:
            self.context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF

    def __enter__(self):
        return self

    def __exit__(self, *_):
        ended = self.stop()
        assert ended == (0, ""), ended

    def stop(self):
        """Closes standard input. Returns the exit status and what the server wrote to standard error."""
        _, errors = self.process.communicate(timeout=LONGEST_WAIT)
        return self.process.returncode, errors

    def connect(self):
        """A socket that is connected."""
        sock = socket.create_connection(("127.0.0.1", self.port), LONGEST_WAIT)
        if not self.context:
            return sock
        return self.context.wrap_socket(sock, server_hostname="127.0.0.1", suppress_ragged_eofs=False)

    def connection(self):
        if self.context:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=LONGEST_WAIT, context=self.context)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONGEST_WAIT)

    def get(self, path="/a.bin", asked=None, method="GET", headers=None, connection=None):
        """The Answer to a request, by a connection of its own if none is given. `asked`: the range, like 0-9."""
        own = connection or self.connection()
        start = time.monotonic()
        own.request(method, path, headers=(headers or {}) | ({"Range": f"bytes={asked}"} if asked else {}))
        answer = read_answer(own, start)
        if not connection:
            own.close()
        return answer

    def raw(self, request):
        """Sends bytes. Returns all that come until the connection ends, and whether it ends by a reset."""
        with self.connect() as sock:
            sock.sendall(request)
            return read_all(sock)

    def control(self, *rules, **plan):
        """Sets a plan of these rules. All counters and the log are reset."""
        status, text = self.post({"rules": rules, "reset": True} | plan)
        assert status == 200, text

    def post(self, plan):
        own = self.connection()
        own.request("POST", "/_control", json.dumps(plan))
        response = own.getresponse()
        text = response.read().decode()
        own.close()
        return response.status, text

    def log(self):
        return json.loads(self.get("/_log").body)["requests"]

    def totals(self):
        return json.loads(self.get("/_log?totals").body)


def read_answer(connection, start):
    sock = connection.sock
    response = connection.getresponse()
    body, end, arrivals = b"", "whole", [(time.monotonic() - start, 0)]
    left = response.length  # None: it is not known
    try:
        while more := response.read1(65536):
            body += more
            arrivals.append((time.monotonic() - start, len(body)))
        if left is not None and len(body) < left:
            end = "reset" if was_reset(sock) else "cut"
    except ConnectionResetError:
        end = "reset"
    except http.client.IncompleteRead:
        end = "cut"
    response.close()
    return Answer(response.status, response.headers, body, end, arrivals)


def was_reset(sock):
    """Asks the kernel, as ssl reports RST like an orderly end before Python 3.12.3."""
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == CLOSED


def read_all(sock):
    received = b""
    try:
        while more := sock.recv(65536):
            received += more
    except ConnectionResetError:
        return received, "reset"
    except ssl.SSLEOFError:
        return received, "reset" if was_reset(sock) else "end without close_notify"
    return received, "end"


def wait_until(condition):
    end = time.monotonic() + LONGEST_WAIT
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.005)


def request(path="/a.bin", *lines, method="GET"):
    """The bytes of a request."""
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: a", *lines, "", ""]).encode()
