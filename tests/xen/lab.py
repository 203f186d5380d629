# SPDX-License-Identifier: ISC
"""A real Xen for tests: QEMU boots Xen and a paravirtualised Linux as dom0, which runs a script with xl and
xentrace, and returns files.

    files = lab.run(SCRIPT, programs={'weft': harness.WEFT}, files={'guest': kernel})
    files['trace.weft'], files['console']       bytes

The script is busybox's sh -eu in dom0, see dom0.sh for its functions. It finds programs on its PATH, and the files below
/lab; /out is returned. A program comes with the libraries that ldd names.

A guest of Linux runs a script of its own (`linux NAME` in dom0's script starts it, see domu.sh):

    lab.run(SCRIPT, guest=lab.Guest(SCRIPT_OF_THE_GUEST, {'process': process}))

images.py makes what is booted. One lab runs at a time, because it mostly waits for the processor.

No times are guessed: a run fails if its console says nothing for STALLED_S seconds of QEMU's processor time.
"""
import fcntl
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'e2e'))
sys.path.insert(0, HERE)
from harness import skip  # noqa: E402
from images import CACHE, Archive, add_program, images, missing, output  # noqa: E402
from waiting import GaveUp, wait_until  # noqa: E402

STALLED_S = 240
DONE = 'lab: the script ended with status '

# TCG's processor without what breaks Xen or dom0 there: supervisor access prevention, and, with several processors, AVX.
CPU = 'max,-smap,-smep,-avx,-avx2,-f16c,-fma,-xsave,-xsaveopt,-xsavec'


# ---- A run ----

class Guest:
    """The script that a guest of Linux runs, and its programs."""

    def __init__(self, script, programs):
        self.script, self.programs = script, programs


def system_archive(init, script, programs):
    archive = Archive()
    archive.copy('init', os.path.join(HERE, init))
    archive.add('lab/script', script.encode())
    for name, source in programs.items():
        archive.add('bin/' + name, stripped(source), 0o755)
        add_program(archive, name, source)  # its libraries
    return archive


def stripped(program):
    """Without debug information, which is most of the file: Linux would copy it twice in the memory of dom0 or the guest."""
    with tempfile.NamedTemporaryFile(prefix='weft-xen-') as copy:
        output('strip', '--strip-debug', '-o', copy.name, program)
        with open(copy.name, 'rb') as file:
            return file.read()


def guest_files(folder, guest):
    """The kernel and the root file system of a guest of Linux."""
    with open(os.path.join(folder, 'guest.cpio'), 'rb') as base:
        initrd = base.read() + system_archive('domu.sh', guest.script, guest.programs).bytes()
    return {'linux': os.path.join(folder, 'linux'), 'linux.cpio': initrd}


def run_archive(script, programs, files):
    archive = system_archive('dom0.sh', script, programs)
    for name, source in files.items():
        if isinstance(source, bytes):
            archive.add('lab/' + name, source)
        else:
            archive.copy('lab/' + name, source)
    return archive.bytes()


def command(folder, work, processors):
    # It ends with this process.
    return ['setpriv', '--pdeathsig', 'KILL', 'qemu-system-x86_64', '-M', 'pc', '-cpu', CPU, '-smp', str(processors), '-m', '2048',
            '-accel', 'tcg,thread=multi,tb-size=512', '-nographic', '-no-reboot', '-nodefaults', '-monitor', 'none',
            '-kernel', os.path.join(folder, 'xen'),
            '-append', 'console=com1 com1=115200,8n1 dom0_mem=1200M,max:1200M dom0=pv bootscrub=0 loglvl=all guest_loglvl=all',
            '-initrd', '%s console=hvc0 earlyprintk=xen nokaslr mitigations=off cryptomgr.notests quiet,%s' % (
                os.path.join(folder, 'linux'), os.path.join(work, 'initrd')),
            '-serial', 'file:' + os.path.join(work, 'console'),
            '-drive', 'file=%s,format=raw,if=none,id=d0,cache=unsafe' % os.path.join(work, 'out.img'),
            '-device', 'virtio-blk-pci,drive=d0']


def watch(qemu, console):
    """Waits until QEMU ends. Returns why it had to be killed, or None."""
    try:
        wait_until('the console says more', lambda: qemu.poll() is not None, pause=0.5, processor=STALLED_S,
                   seen=lambda: os.path.getsize(console) if os.path.exists(console) else 0)
    except GaveUp as reason:
        return str(reason)
    return None


def boot(folder, work, processors):
    console = os.path.join(work, 'console')
    with subprocess.Popen(command(folder, work, processors), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as qemu:
        try:
            reason = watch(qemu, console)
        finally:
            qemu.kill()
        said = qemu.stdout.read().decode(errors='replace')
    with open(console, 'rb') as file:
        text = file.read().decode(errors='replace')
    return text, reason or (said.strip() if qemu.returncode > 0 else None)


def results(work):
    with open(os.path.join(work, 'out.img'), 'rb') as file, tarfile.open(fileobj=io.BytesIO(file.read())) as tar:
        return {member.name.removeprefix('./'): tar.extractfile(member).read() for member in tar if member.isfile()}


def keep(found):
    """Writes the files to the folder WEFT_XEN_OUT, for a look at them."""
    folder = os.environ.get('WEFT_XEN_OUT')
    for name, content in found.items() if folder else []:
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as file:
            file.write(content)


def run(script, programs=None, files=None, processors=1, guest=None):
    """Runs the script in dom0, which must end with status 0. Returns the files that it left in /out, the console's text
    as `console`, and what the script printed as `script.log`. Skips where there is no lab."""
    reason = missing()
    if reason:
        skip(reason)
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, 'lock'), 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            folder = images()
        except RuntimeError as error:
            skip('the lab has no images: %s' % error)
        files = {**(files or {}), **(guest_files(folder, guest) if guest else {})}
        with tempfile.TemporaryDirectory(prefix='weft-xen-') as work:
            with open(os.path.join(work, 'initrd'), 'wb') as file:
                with open(os.path.join(folder, 'dom0.cpio'), 'rb') as base:
                    file.write(base.read() + run_archive(script, programs or {}, files))
            with open(os.path.join(work, 'out.img'), 'wb') as file:
                file.truncate(512 << 20)
            console, trouble = boot(folder, work, processors)
            status = re.search(re.escape(DONE) + r'(\d+)', console)
            if trouble or not status:
                raise AssertionError('the lab: %s\n%s' % (trouble or 'dom0 did not end', console[-5000:]))
            found = results(work)
    found['console'] = console.encode()
    keep(found)
    if int(status.group(1)):
        logs = ['%s:\n%s' % (name, content.decode(errors='replace')[-2000:])
                for name, content in sorted(found.items()) if name.endswith('.log')]
        raise AssertionError('the script ended with status %s\n%s\n%s' % (
            status.group(1), '\n'.join(logs), console[-3000:]))
    return found


class Once:
    """A run whose files several cases look at: it is made for the first of them, and not again if it fails."""

    def __init__(self, make):
        self.make, self.found, self.failure = make, None, None

    def __call__(self):
        if self.failure:
            raise AssertionError('the lab failed, see the first case')
        if self.found is None:
            try:
                self.found = self.make()
            except AssertionError as failure:
                self.failure = failure
                raise
        return self.found
