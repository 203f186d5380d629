# SPDX-License-Identifier: ISC
"""Rings that are read out of memory: of a process, of its core, of an image of a machine's memory."""
import contextlib
import json
import os
import re
import resource
import shutil
import subprocess

from harness import BUILD, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
from measured import IS_SANITIZED
from waiting import status_of, wait_until

SUBJECT = os.path.join(BUILD, 'tests', 'memory-subject')
UNIKERNEL = os.path.join(BUILD, 'examples', 'solo5')
PAGE = 4096


@contextlib.contextmanager
def running(*command):
    """A program that has said that its ring is there. Only its memory has it."""
    with contextlib.suppress(FileNotFoundError), open('/proc/sys/kernel/yama/ptrace_scope', encoding='utf-8') as file:
        if file.read().strip() != '0' and os.geteuid() != 0:
            skip('Yama lets root alone read the memory of processes')
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() in ('ready\n', 'done\n')
            yield process
        finally:
            process.kill()


def notes(operand):
    return [line['text'] for line in json_lines(weft('dump', '--json', operand).stdout) if line['event'] == 'note']


def labels(operand):
    return [task['label'] for task in json_lines(weft('dump', '--tasks', '--json', operand).stdout)]


def ring_of(process):
    """The address and the bytes of a stopped or idle process's only ring, found without weft."""
    magic = b'\x89WEFT\r\n\x1a'
    with open('/proc/%d/maps' % process.pid, encoding='utf-8') as maps:
        ranges = [line.split()[0].split('-') for line in maps if ' rw-p ' in line]
    with open('/proc/%d/mem' % process.pid, 'rb', buffering=0) as memory:
        for start, end in ((int(a, 16), int(b, 16)) for a, b in ranges):
            if end - start > 1 << 30:  # a sanitizer's
                continue
            memory.seek(start)
            content = memory.read(end - start)
            for at in range(0, len(content), PAGE):
                if content.startswith(magic, at):
                    size = int.from_bytes(content[at + 16:at + 24], 'little')
                    return start + at, content[at:at + size]
    raise AssertionError('no ring')


@case
def a_unikernel_is_read_out_of_its_tender():
    with running(UNIKERNEL) as process:
        operand = 'mem:%d' % process.pid
        equal(labels(operand), ['GET /', 'block 7', 'GET /style.css', 'block 7', 'GET /missing', 'block 7'])
        info = json.loads(weft('info', '--json', operand).stdout)
        equal((info['diagnostics'], info['losses'], info['ending']), ([], {}, 'unknown'))
        assert '<svg' in weft('render', '-o', '-', '--format', 'svg', operand).stdout
        equal(weft('query', '--csv', operand, 'SELECT count(*) AS n FROM tasks').stdout, 'n\n6\n')
        with temporary_directory() as folder:
            copy = os.path.join(folder, 'copy.weft')
            weft('cut', operand, '-o', copy)
            equal(os.stat(copy).st_mode & 0o777, 0o600)
            equal(labels(copy), labels(operand))


@case
def a_program_goes_on_while_it_is_read():
    """Each thread's counts grow: no packet is a mixture of two. Which ones are there depends on the turns that writers and reader
    get: a writer that gets none in the middle of a claim leaves an old packet among newer ones."""
    def read():
        """A reader that gets no turn for the length of a whole turn of the ring finds nothing."""
        return [line for line in json_lines(weft('dump', '--json', 'mem:%d' % process.pid).stdout) if line['event'] == 'tag']
    with running(SUBJECT, 'spin') as process:
        for _ in range(5):
            threads = {}
            for line in wait_until('tags', read, process):
                threads.setdefault(line['text'], []).append(line['value'])
            for counts in threads.values():
                assert all(before < after for before, after in zip(counts, counts[1:])), 'counts shrink'


@case
def one_of_several_rings_is_named():
    with running(SUBJECT, 'two') as process:
        operand = 'mem:%d' % process.pid
        errors = weft('info', operand, status=3).stderr
        assert '2 rings; name one' in errors, errors
        rings = re.findall(r'(mem:\d+@0x[0-9a-f]+): (\d+ KiB), memory-subject, PID %d' % process.pid, errors)
        equal(sorted(notes(ring) for ring, _ in rings), [['first ring'], ['second ring']])
        equal(sorted(size for _, size in rings), ['128 KiB', '256 KiB'])
        address = int(rings[0][0].partition('@')[2], 16)
        assert 'no ring begins there' in weft('info', '%s@%#x' % (operand, address + 64), status=3).stderr


@case
def a_core_has_the_ring():
    if IS_SANITIZED:
        skip('a sanitizer has terabytes of memory, which gcore would write')
    if not shutil.which('gcore'):
        skip('gcore is not installed (Debian: gdb)')
    with running(UNIKERNEL) as process, temporary_directory() as folder:
        core = os.path.join(folder, 'core')
        made = run(['gcore', '-o', core, process.pid])
        equal(made.returncode, 0, made.stderr)
        core += '.%d' % process.pid
        equal(labels('core:' + core), labels('mem:%d' % process.pid))
        address = ring_of(process)[0]
        equal(labels('core:%s@%#x' % (core, address)), labels('core:' + core))
        assert 'core:FILE' in weft('info', core, status=3).stderr


@case
def a_crashed_program_leaves_it_in_the_kernels_core():
    with open('/proc/sys/kernel/core_pattern', encoding='utf-8') as file:
        pattern = file.read().strip()
    if pattern != 'core' or resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
        skip('this system writes no file "core": core_pattern is %s' % pattern)
    with temporary_directory() as folder:
        limit = (resource.RLIM_INFINITY,) * 2
        if resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY:
            limit = (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2
        with subprocess.Popen([SUBJECT, 'abort'], cwd=folder, stdout=subprocess.DEVNULL,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, limit)) as process:
            status_of(process)
        cores = [name for name in os.listdir(folder) if name.startswith('core')]
        if not cores:
            skip('this system wrote no core')
        equal(notes('core:' + os.path.join(folder, cores[0])), ['first ring'])


@case
def an_image_of_memory_is_searched():
    with running(SUBJECT, 'one') as process, temporary_directory() as folder:
        ring = ring_of(process)[1]
        image = os.path.join(folder, 'ram')
        with open(image, 'wb') as file:
            file.write(b'\xff' * (3 * PAGE) + ring + b'\xff' * 77)
        equal(notes('core:' + image), ['first ring'])
        equal(notes('core:%s@0x3000' % image), ['first ring'])
        run(['gzip', image])
        equal(notes('core:%s.gz' % image), ['first ring'])
        with open(image, 'wb') as file:  # cut off in the ring
            file.write(b'\xff' * PAGE + ring[:len(ring) // 2])
        result = weft('dump', 'core:' + image)
        assert 'first ring' in result.stdout and 'cut short' in result.stderr, result.stderr


@case
def a_virtual_machine_and_its_dumps_are_searched():
    """The machine never runs: its memory has the ring from the beginning."""
    qemu = shutil.which('qemu-system-x86_64')
    if not qemu:
        skip('QEMU is not installed (Debian: qemu-system-x86)')
    with temporary_directory() as folder:
        ring, elf, raw = (os.path.join(folder, name) for name in ('ring', 'elf', 'raw'))
        with running(SUBJECT, 'one') as process, open(ring, 'wb') as file:
            file.write(ring_of(process)[1])
        with subprocess.Popen([qemu, '-S', '-m', '32', '-nodefaults', '-display', 'none', '-accel', 'tcg', '-monitor', 'stdio',
                               '-device', 'loader,file=%s,addr=0x1000000,force-raw=on' % ring],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as machine:
            machine.stdin.write('dump-guest-memory %s\npmemsave 0 0x2000000 "%s"\ninfo status\n' % (elf, raw))
            machine.stdin.flush()
            try:
                while not machine.stdout.readline().startswith('VM status'):
                    assert machine.poll() is None
                equal(notes('mem:%d' % machine.pid), ['first ring'])
            finally:
                machine.kill()
        equal(notes('core:' + elf), ['first ring'])
        equal(notes('core:%s@0x1000000' % raw), ['first ring'])


@case
def what_has_no_ring_is_refused():
    with temporary_directory() as folder, subprocess.Popen(['cat'], stdin=subprocess.PIPE) as other:
        for name, content, message in (('empty', b'', 'the file is empty'), ('text', b'a' * 99999, 'no ring in it'),
                                       ('elf', b'\x7fELF' + bytes(2), 'ends in its first header')):
            path = os.path.join(folder, name)
            with open(path, 'wb') as file:
                file.write(content)
            errors = weft('info', 'core:' + path, status=3).stderr
            assert message in errors, errors
        for operand, message in (('core:' + WEFT, 'not a core'), ('core:/none', 'No such file'), ('core:' + folder, 'directory'),
                                 ('mem:0', 'write mem:PID'), ('mem:x', 'write mem:PID'), ('mem:', 'write mem:PID'),
                                 ('mem:2147483647', 'there is no process'), ('mem:%d' % other.pid, 'no ring in it')):
            errors = weft('info', operand, status=3).stderr
            assert message in errors, (operand, errors)
        for command, status in (('tail', 2), ('serve', 2)):
            errors = weft(command, 'core:' + WEFT, status=None).stderr
            assert 'a ring in memory' in errors, errors
        file = os.path.join(folder, 'core:x')  # a file of that name is meant
        with open(file, 'wb') as empty:
            empty.close()
        assert 'the file is empty' in weft('info', 'core:x', cwd=folder, status=3).stderr


@case
def memory_of_others_is_refused():
    if os.geteuid() != 0:
        skip('only root can become another user')
    with running(SUBJECT, 'one') as process:
        def become_nobody():
            os.setgid(65534)
            os.setuid(65534)
        result = subprocess.run([WEFT, 'info', 'mem:%d' % process.pid], preexec_fn=become_nobody, capture_output=True, text=True,
                                check=False)
        if 'Permission denied' in result.stderr and result.returncode != 3:
            skip('another user may not run weft here')
        equal(result.returncode, 3)
        assert 'may be read by root alone' in result.stderr, result.stderr


main()
