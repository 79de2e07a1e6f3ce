# SPDX-License-Identifier: Apache-2.0
"""Sends responses: at a rate, up to a byte, or until the connection breaks as a fault wants it."""

import array
import contextlib
import fcntl
import os
import select
import socket
import ssl
import struct
import termios
import time

from response import Framing, Slice, cut

MOST_AT_ONCE = 8 << 20       # of a plain file, by sendfile
MOST_BYTES_AT_ONCE = 262144  # of other bytes, and with a rate
MOST_LATE = 0.1              # seconds that a late connection may catch up on
INVERT = bytes(255 - value for value in range(256))


class Ended(Exception):
    """The connection is of no more use."""


class Pacer:
    """Gives the bytes of a connection a steady rate."""

    def __init__(self):
        self.due = 0.0

    def start(self):
        self.due = max(self.due, time.monotonic())

    def wait(self, count, bytes_per_s):
        """Returns when `count` more bytes should have been sent."""
        now = time.monotonic()
        self.due = max(self.due, now - MOST_LATE) + count / bytes_per_s
        if self.due > now:
            time.sleep(self.due - now)


class Delivery:
    """Sends the responses of one connection. One thread at a time."""

    def __init__(self, sock):
        self.sock = sock
        self.is_plain = not isinstance(sock, ssl.SSLSocket)
        self.pacer = Pacer()
        self.room = memoryview(bytearray(MOST_BYTES_AT_ONCE))

    def send(self, response, entry, bytes_per_s):
        """Sends a response. The log's entry counts its bytes. Raises Ended if the connection ends with it."""
        self.file, self.entry = response.file, entry
        rates = [rate for rate in (bytes_per_s, response.bytes_per_s) if rate]
        self.bytes_per_s = min(rates) if rates else None
        break_ = response.interruption
        before, after = response.body, []
        if response.delay:
            self.wait(response.delay)
        if break_ and break_.after < 0:
            self.interrupt(break_)
        elif break_:
            before, after = cut(response.body, break_.after)
        self.left = sum(map(len, before)) + sum(map(len, after))
        if not response.is_raw:
            entry.status = response.status
            self.send_head(response.head())
        self.pacer.start()
        self.send_pieces(before)
        if break_ and break_.after >= 0:
            self.interrupt(break_)
        self.send_pieces(after)
        entry.finish(response.range)

    def send_head(self, head):
        if not self.left:
            self.entry.is_ending = True
        self.sock.sendall(head)

    def send_pieces(self, pieces):
        for piece in pieces:
            offset = 0
            while offset < len(piece):
                count = min(self.step(piece), len(piece) - offset)
                if self.bytes_per_s:
                    self.pacer.wait(count, self.bytes_per_s)
                if count == self.left:
                    self.entry.is_ending = True
                sent = self.send_part(piece.part(offset, offset + count))
                offset += sent
                self.left -= sent
                if not isinstance(piece, Framing):
                    self.entry.bytes_sent += sent

    def step(self, piece):
        """How many bytes are sent by one call: fifty calls per second if there is a rate."""
        most = MOST_AT_ONCE if self.by_sendfile(piece) else MOST_BYTES_AT_ONCE
        return max(1, min(MOST_BYTES_AT_ONCE, int(self.bytes_per_s / 50))) if self.bytes_per_s else most

    def by_sendfile(self, piece):
        return self.is_plain and isinstance(piece, Slice) and not piece.inverted

    def send_part(self, part):
        """Sends some bytes of a part. Returns how many."""
        if self.by_sendfile(part):
            sent = os.sendfile(self.sock.fileno(), self.file.descriptor, part.offset, part.length)
            if sent == 0:
                raise Ended  # the file became shorter
            return sent
        if not isinstance(part, Slice):
            return self.sock.send(part)
        read = os.preadv(self.file.descriptor, [self.room[:part.length]], part.offset)
        if read == 0:
            raise Ended
        return self.sock.send(bytes(self.room[:read]).translate(INVERT) if part.inverted else self.room[:read])

    def wait(self, seconds):
        """Waits. Raises Ended as soon as the client closes the connection."""
        watch = select.poll()
        watch.register(self.sock, select.POLLRDHUP)
        if watch.poll(seconds * 1000):
            raise Ended

    def interrupt(self, interruption):
        if interruption.how == "stall":
            self.wait(interruption.seconds)
            return
        self.entry.finish(None)
        if interruption.how == "reset":
            reset(self.sock)
        raise Ended


def wait_for_acknowledgement(sock, seconds):
    """Waits until the client's side has all bytes that were sent."""
    end = time.monotonic() + seconds
    unacknowledged = array.array("i", [0])
    while time.monotonic() < end:
        fcntl.ioctl(sock, termios.TIOCOUTQ, unacknowledged)
        if unacknowledged[0] == 0:
            return
        time.sleep(0.001)


def reset(sock):
    """Closes with RST, but after the bytes that were sent: RST would discard what still waits to leave."""
    wait_for_acknowledgement(sock, 5)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def close(sock):
    """Closes in an orderly way. What the client still sends is read first, as close() would otherwise send RST."""
    with contextlib.suppress(OSError, ValueError):
        sock.settimeout(0)
        if isinstance(sock, ssl.SSLSocket):
            with contextlib.suppress(OSError, ValueError):
                sock.unwrap()  # sends close_notify; the client's isn't waited for
        sock.shutdown(socket.SHUT_WR)
        sock.settimeout(1)
        while sock.recv(65536):
            pass
    sock.close()
