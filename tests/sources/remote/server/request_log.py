# SPDX-License-Identifier: Apache-2.0
"""What was asked and sent since the last reset."""

import os
import socket
import threading
import time

ESTABLISHED = 1  # the first byte of TCP_INFO


class Entry:
    """One request. Its connection's thread writes it; any thread may read it."""

    def __init__(self, log, connection, request, started):
        self.log, self.connection, self.request = log, connection, request
        self.path = os.fsencode(request.path).decode(errors="replace")  # for JSON
        self.ranges = log.ranges  # a later reset gives the log others
        self.started, self.ended = started, None
        self.status = None       # none was sent
        self.bytes_sent = 0
        self.rules = []          # numbers of the rules that fired
        self.is_ending = False   # the client may have all bytes before finish() is called

    def finish(self, sent_range):
        """Ends the request. Only the first call counts.

        `sent_range` is the first and last byte of the file if the response had these bytes and was sent whole, or None.
        """
        if self.ended is None:
            self.log.finish(self, sent_range)

    def facts(self, number):
        return {
            "number": number, "connection": self.connection, "method": self.request.method, "path": self.path,
            "query": self.request.query, "range": self.request.headers.get("range"), "status": self.status,
            "bytes": self.bytes_sent, "headers": self.request.headers, "start": self.started, "end": self.ended,
            "rules": self.rules,
        }


def is_established(sock):
    try:
        return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == ESTABLISHED
    except OSError:  # it was closed
        return False


class RequestLog:
    """All requests, except those for /_log and /_control. Any thread."""

    def __init__(self):
        self.changed = threading.Condition()
        self.sockets = {}
        self.reset()

    def reset(self):
        with self.changed:
            self.entries, self.ranges = [], {}
            self.most_connections = self.open_connections()

    def add(self, connection, sock, request, started):
        """A new Entry. The first one of a connection makes it count as open."""
        entry = Entry(self, connection, request, started)
        with self.changed:
            self.entries.append(entry)
            if connection not in self.sockets:
                self.sockets[connection] = sock
                self.most_connections = max(self.most_connections, self.open_connections())
        return entry

    def remove_connection(self, connection):
        with self.changed:
            self.sockets.pop(connection, None)

    def open_connections(self):
        """Connections that neither side has closed, even if their thread has not noticed yet."""
        return sum(is_established(sock) for sock in self.sockets.values())

    def finish(self, entry, sent_range):
        with self.changed:
            entry.ended = time.monotonic()
            if sent_range:
                counts = entry.ranges.setdefault(entry.path, {})
                name = f"{sent_range[0]}-{sent_range[1]}"
                counts[name] = counts.get(name, 0) + 1
            self.changed.notify_all()

    def facts(self, totals_only):
        """The log for JSON. Waits for requests whose last bytes may already be with the client."""
        with self.changed:
            self.changed.wait_for(lambda: not any(one.is_ending and one.ended is None for one in self.entries), 0.2)
            totals = {
                "requests": len(self.entries), "bytes": sum(entry.bytes_sent for entry in self.entries),
                "most_connections": self.most_connections,
                "ranges": {path: dict(counts) for path, counts in self.ranges.items()},
            }
            if totals_only:
                return totals
            return {"requests": [entry.facts(number) for number, entry in enumerate(self.entries, 1)], "totals": totals}
