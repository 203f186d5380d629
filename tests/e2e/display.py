# SPDX-License-Identifier: ISC
"""A virtual screen: Xvfb, with a message bus of its own. Its pixels are read from the file in which Xvfb keeps them."""
import atexit
import mmap
import os
import struct
import subprocess
import tempfile


def server(command, environment):
    """Starts a server that writes its address to a pipe, whose number is passed to the command."""
    read, write = os.pipe()
    process = subprocess.Popen(command(write), pass_fds=[write], env=environment, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as lines:
        return process, lines.readline().strip()


class Display:
    """Programs find it by the variables of `environment`. A test keeps the displays that it has used, one of each size, until it ends:
    starting one takes as long as some cases."""
    kept = {}
    current = None

    @classmethod
    def use(cls, size):
        if size not in cls.kept:
            cls.kept[size] = Display(size)
            atexit.register(cls.kept[size].end)
        cls.current = cls.kept[size]
        return cls.current

    def __init__(self, size):
        # The file of pixels, and the home of programs that the bus starts, such as that of screen readers.
        self.home = tempfile.TemporaryDirectory(prefix='weft-display-', ignore_cleanup_errors=True)
        home = self.home.name
        self.servers = []
        self.environment = {}
        base = dict(os.environ, HOME=home, XDG_RUNTIME_DIR=home, XDG_DATA_HOME=home, XDG_CONFIG_HOME=home, XDG_CACHE_HOME=home)
        # -r: on a busy machine a key is released so late that it would repeat.
        self.start('DISPLAY', ':%s', base, lambda pipe: [
            'Xvfb', '-displayfd', str(pipe), '-screen', '0', size + 'x24', '-fbdir', home, '-r', '-nolisten', 'tcp', '-noreset'])
        self.start('DBUS_SESSION_BUS_ADDRESS', '%s', base, lambda pipe: [
            'dbus-daemon', '--session', '--nofork', '--print-address=%d' % pipe])
        self.server = self.servers[0].pid
        with open(os.path.join(home, 'Xvfb_screen0'), 'rb') as file:
            self.memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        # As in <X11/XWDFile.h>: big-endian words, then the colours of 12 bytes each.
        header = struct.unpack_from('>25I', self.memory)
        self.first, self.row_bytes = header[0] + 12 * header[19], header[12]
        assert header[11] == 32, 'bits of a pixel'

    def start(self, variable, form, base, command):
        process, address = server(command, dict(base, **self.environment))
        self.servers.append(process)
        self.environment[variable] = form % address

    def part(self, x, y, width, height):
        """The bytes of a rectangle: blue, green, red and an unused one for each pixel."""
        first, bytes_ = self.first + 4 * x + self.row_bytes * y, 4 * width
        return b''.join(self.memory[at:at + bytes_] for at in range(first, first + self.row_bytes * height, self.row_bytes))

    def end(self):
        atexit.unregister(self.end)
        Display.kept = {size: display for size, display in self.kept.items() if display is not self}
        Display.current = None
        for process in reversed(self.servers):
            process.terminate()
            process.wait()
        self.home.cleanup()
