# SPDX-License-Identifier: ISC
"""Requests for attacks on HTTP servers by raw sockets."""
import contextlib
import re
import resource
import socket
import time

from waiting import LAST_RESORT


def raw(address, request):
    """The answer to a client that writes only these bytes."""
    with socket.create_connection(address, timeout=LAST_RESORT) as client:
        answer = b''
        with contextlib.suppress(OSError):  # the server may close the connection before it has read all
            client.sendall(request)
            client.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            while piece := client.recv(65536):
                answer += piece
    return answer


PIECES = [b'\0', b'\r\n', b'\n', b'\r', b' ', b'\t', b':', b';', b'%', b'%00', b'%0d%0a', b'../', b'?', b'&', b'=', b'?token=', b'#',
          b'HTTP/1.0', b'HTTP/0.9', b'http://evil.example/', b'A' * 5000, b'/' * 20000, b'X: y\r\n' * 300, b'\xff\xfe', b'\xf0\x9f\x98\x80',
          b'Content-Length: 5\r\n', b'Content-Length: -1\r\n', b'Content-Length: 99999999999999999999\r\n',
          b'Transfer-Encoding: chunked\r\n', b'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n', b'Expect: 100-continue\r\n',
          b'Host: evil.example\r\n', b'Connection: keep-alive, Upgrade\r\nUpgrade: h2c\r\n', b'Range: bytes=0-\r\n', b'Cookie: weft-\r\n',
          b'Authorization: Bearer \r\n', b'Authorization: Basic Og==\r\n', b'If-Range: "\r\n', b' folded\r\n', b'POST', b'CONNECT', b'PRI * HTTP/2.0\r\n']


def mutate(dice, request):
    bytes_ = bytearray(request)
    for _ in range(dice.choice([1, 1, 2, 3, 8])):
        at = dice.randrange(len(bytes_) + 1)
        what = dice.randrange(6)
        if what == 0 and at < len(bytes_):
            bytes_[at] ^= 1 << dice.randrange(8)
        elif what == 1:
            del bytes_[at:at + dice.randrange(1, 12)]
        elif what == 2:
            bytes_[at:at] = dice.choice(PIECES)
        elif what == 3:  # between two lines
            ends = [end.end() for end in re.finditer(b'\r\n', bytes_)]
            at = dice.choice(ends) if ends else 0
            bytes_[at:at] = dice.choice(PIECES)
        elif what == 4:
            bytes_[at:at] = bytes_[:dice.randrange(1, len(bytes_) + 2)]
        else:
            del bytes_[at:]
    return bytes(bytes_)


def allow_many_sockets():
    """Raises the limit of descriptors, for tests that open more than a thousand sockets."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4096 if hard == resource.RLIM_INFINITY else min(4096, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def stay_silent(address, head, dice, count, ask):
    """Opens connections that send nothing, or a part of a head, and asks meanwhile. Returns the longest time that an answer took."""
    allow_many_sockets()
    slowest = 0.0
    with contextlib.ExitStack() as stack:
        for number in range(count):
            client = stack.enter_context(socket.create_connection(address, timeout=LAST_RESORT))
            with contextlib.suppress(OSError):  # cut off before it has sent anything
                client.sendall(b'' if number < 48 else head[:dice.randrange(1, len(head) - 4)])
            if number % 100 == 47 or number == count - 1:
                begun = time.monotonic()
                ask()
                slowest = max(slowest, time.monotonic() - begun)
    return slowest
