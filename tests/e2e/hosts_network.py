# SPDX-License-Identifier: ISC
"""Two network namespaces with a link between them that this process carries: each packet is late, or lost, as the test says.
Run as a program, it is one of the two hosts: it makes its end of the link, then becomes the command."""
import contextlib
import fcntl
import heapq
import os
import random
import select
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time

from harness import skip

ADDRESSES = {'alpha': '10.77.0.1', 'beta': '10.77.0.2'}
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454ca, 1, 0x1000


def become_host(own, other, parent, command):
    """The other end of the link gets the packets by the descriptor."""
    link = os.open('/dev/net/tun', os.O_RDWR)
    fcntl.ioctl(link, TUNSETIFF, struct.pack('16sH22x', b'weft0', IFF_TUN | IFF_NO_PI))
    for words in (['link', 'set', 'dev', 'lo', 'up'], ['addr', 'add', own, 'peer', other, 'dev', 'weft0'],
                  ['link', 'set', 'dev', 'weft0', 'mtu', '1400', 'up']):
        subprocess.run(['ip', *words], check=True)
    with socket.socket(fileno=parent) as to:
        socket.send_fds(to, [b'x'], [link])
        to.recv(1)  # until both hosts are there
    os.close(link)
    os.execvp(command[0], command)


class Link:
    """Carries packets; `ways` has the least delay, the mean of what is added to it, in s, and the share of lost packets."""

    def __init__(self, ends, ways, seed):
        self.ends, self.ways, self.random = ends, ways, random.Random(seed)
        self.stop, self.stopper = os.pipe()
        self.thread = threading.Thread(target=self.carry)
        self.thread.start()

    def carry(self):
        late = []
        number = 0
        while True:
            timeout = max(0, late[0][0] - time.monotonic()) if late else None
            ready, _, _ = select.select([*self.ends, self.stop], [], [], timeout)
            if self.stop in ready:
                return
            for end in ready:
                way = self.ends.index(end)
                packet = os.read(end, 65536)
                least, jitter, loss = self.ways[way]
                if self.random.random() >= loss:
                    number += 1
                    due = time.monotonic() + least + (self.random.expovariate(1 / jitter) if jitter else 0)
                    heapq.heappush(late, (due, number, 1 - way, packet))
            while late and late[0][0] <= time.monotonic():
                _, _, to, packet = heapq.heappop(late)
                with contextlib.suppress(OSError):  # the host has gone
                    os.write(self.ends[to], packet)

    def close(self):
        os.write(self.stopper, b'x')
        self.thread.join()
        for fd in (*self.ends, self.stop, self.stopper):
            os.close(fd)


def start_host(name, other, command, **options):
    own, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            ['unshare', '-rn', sys.executable, os.path.abspath(__file__), ADDRESSES[name], ADDRESSES[other],
             str(theirs.fileno()), *command], pass_fds=[theirs.fileno()], stderr=subprocess.PIPE, text=True, **options)
    _, fds, _, _ = socket.recv_fds(own, 1, 1)
    if not fds:
        with own:
            skip('no network namespace with a TUN device can be made here: '
                 + process.communicate()[1].strip().splitlines()[-1])
    return process, own, fds[0]


@contextlib.contextmanager
def two_hosts(alpha, beta, ways=((0.001, 0.0005, 0), (0.003, 0.001, 0)), seed=1, **options):
    """Runs the two commands, and gives their processes."""
    for tool in ('unshare', 'ip'):
        if not shutil.which(tool):
            skip(tool + ' is not installed')
    one, ready_one, end_one = start_host('alpha', 'beta', alpha, **options)
    try:
        two, ready_two, end_two = start_host('beta', 'alpha', beta, **options)
    except BaseException:
        one.kill()
        one.communicate()
        raise
    link = Link([end_one, end_two], ways, seed)
    try:
        for ready in (ready_one, ready_two):
            ready.send(b'x')
            ready.close()
        yield one, two
    finally:
        link.close()
        for process in (one, two):
            process.kill()
            process.communicate()


if __name__ == '__main__':
    become_host(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:])
