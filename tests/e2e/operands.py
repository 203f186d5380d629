# SPDX-License-Identifier: ISC
"""Operands that stand in place of a trace: programs that record now, compressed traces, and files of other programs."""
import gzip
import json
import os
import shutil
import signal
import struct
import subprocess

from harness import BUILD, SOURCE, WEFT, case, equal, json_lines, main, ring_lines, run, temporary_directory, weft
from waiting import wait_until

SUBJECT = os.path.join(BUILD, 'tests', 'why-subject')
TRACE = os.path.join(SOURCE, 'tests', 'data', 'recorded', 'echo-server.weft')


@case
def a_program_that_records_is_a_trace():
    with temporary_directory() as folder:
        env = {'XDG_RUNTIME_DIR': folder}
        recorder = subprocess.Popen([WEFT, 'record', '-o', os.path.join(folder, 'live.weft'), SUBJECT, 'live'],
                                    cwd=folder, env={**os.environ, **env}, stderr=subprocess.DEVNULL)
        pid = wait_until('a program', lambda: ring_lines(weft('ls', '--json', env=env).stdout, folder), recorder)[0]['pid']
        try:
            wait_until('the last client', lambda: run([WEFT, 'why', str(pid), 'client 19'], env=env).returncode == 0, recorder)
            tasks = json_lines(weft('dump', '--json', '--tasks', str(pid), env=env).stdout)
            assert {'client 0', 'client 19'} <= {task['label'] for task in tasks}, tasks
            equal(json.loads(weft('info', '--json', str(pid), env=env).stdout)['ending'], 'running')
            assert '<svg' in weft('render', '-o', '-', '--format', 'svg', str(pid), env=env).stdout
            assert 'no samples of what threads ran' in weft('flame', '--of', 'cpu', str(pid), env=env, status=1).stderr
            copy = os.path.join(folder, 'copy.weft')
            weft('cut', str(pid), '--duration', '1s', '-o', copy, env=env)
            equal(os.stat(copy).st_mode & 0o777, 0o600)
            equal(weft('query', '--csv', str(pid), "SELECT count(*) AS n FROM tasks WHERE label = 'client 7'", env=env).stdout,
                  'n\n1\n')
        finally:
            os.kill(pid, signal.SIGKILL)
            recorder.wait()


@case
def a_process_that_does_not_record_is_said_to():
    with temporary_directory() as folder:
        result = weft('info', str(os.getpid()), env={'XDG_RUNTIME_DIR': folder}, status=3)
        assert str(os.getpid()) in result.stderr and 'No such file' not in result.stderr, result.stderr


@case
def a_file_may_have_the_name_of_a_process():
    with temporary_directory() as folder:
        name = str(os.getpid())
        os.symlink(TRACE, os.path.join(folder, name))
        equal(json.loads(weft('info', '--json', name, cwd=folder).stdout)['events'],
              json.loads(weft('info', '--json', TRACE).stdout)['events'])


def events(path, status=0):
    return weft('dump', path, status=status).stdout


@case
def traces_of_gzip_are_unpacked():
    with open(TRACE, 'rb') as file:
        content = file.read()
    whole = events(TRACE)
    with temporary_directory() as folder:
        path = os.path.join(folder, 't.gz')

        def write(data):
            with open(path, 'wb') as file:
                file.write(data)

        packed = gzip.compress(content)
        write(packed)
        if 'made without' in run([WEFT, 'info', path]).stderr:
            return
        equal(events(path), whole)
        write(gzip.compress(content[:5000]) + gzip.compress(content[5000:]))
        equal(events(path), whole)
        write(packed + bytes(100))  # as a tape leaves it
        equal(events(path), whole)
        write(packed[:len(packed) // 2])
        equal(run([WEFT, 'info', path]).returncode, 0)
        write(packed[:12])
        assert 'no intact event' in weft('info', path, status=3).stderr
        write(gzip.compress(bytes(100 << 20)))
        assert '--max-size' in weft('info', path, status=3).stderr
        write(packed)
        weft('info', '--max-size', str(len(content)), path)
        assert '--max-size' in weft('info', '--max-size', str(len(content) - 1), path, status=3).stderr
        with open(path, 'rb') as file:
            equal(weft('dump', '-', stdin=file).stdout, whole)


FOREIGN = {
    'perf.data': (b'PERFILE2' + bytes(96), 'perf script'),
    'trace.dat': (b'\x17\x08\x44tracing6\0', 'trace-cmd'),
    'trace.fxt': (b'\x10\x00\x04\x46\x78\x54\x16\x00', 'Fuchsia'),
    'channel0_0': (b'\xc1\x1f\xfc\xc1' + bytes(60), 'babeltrace2'),
    'metadata': (b'\x57\x1d\xd1\x75' + bytes(60), 'babeltrace2'),
    'a.pcap': (b'\xd4\xc3\xb2\xa1\x02\x00\x04\x00', 'Wireshark'),
    'a.pcapng': (b'\x0a\x0d\x0d\x0a' + bytes(20), 'Wireshark'),
    'core': (b'\x7fELF\x02\x01\x01' + bytes(9) + struct.pack('<H', 4) + bytes(40), 'core dump'),
    'core.big': (b'\x7fELF\x02\x02\x01' + bytes(9) + struct.pack('>H', 4) + bytes(40), 'core dump'),
    'other.json': (b' {"traceEvents": "of something else"}', 'JSON'),
    'perfetto': (b'\x0a\x04\x08\x01\x10\x02' b'\x0a\x03\x08\x01\x00', 'a trace of Perfetto'),
    'a.xz': (b'\xfd7zXZ\0', 'xz'),
    'notes.txt': (b'to be done:\n- sleep\n', 'a text'),
    'packed.gz': (gzip.compress(b'PERFILE2' + bytes(96)), 'perf script'),
}


@case
def files_of_other_programs_are_named():
    with temporary_directory() as folder:
        for name, (content, expected) in FOREIGN.items():
            path = os.path.join(folder, name)
            with open(path, 'wb') as file:
                file.write(content)
            error = weft('info', path, status=3).stderr
            if 'made without' in error:
                continue
            equal(error, '%s: no trace that weft knows, but %s\n' % (path, error.split(', but ')[-1].rstrip('\n')), name)
            assert expected in error, (name, error)
        path = os.path.join(folder, 'noise')
        with open(path, 'wb') as file:
            file.write(bytes(range(256)) * 4)
        equal(weft('info', path, status=3).stderr, path + ': not in a format that weft knows\n')
        program = weft('info', shutil.which('true'), status=3).stderr
        assert 'weft record' in program, program


main()
