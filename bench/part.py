# SPDX-License-Identifier: ISC
"""A large stream: commands that read a part of it alone, those that read all before that, and those that read all.

    WEFT_BUILD=build python3 bench/part.py [FILE]

Without a file it records 40 million random events, 1 GB, into $TMPDIR. The part is 50 ms at nine tenths of the trace. The runs
alternate, and the least processor time and memory of each count; the first line has the machine's load before and after them.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'e2e'))
from harness import BUILD, WEFT  # noqa: E402

EVENTS = int(os.environ.get('WEFT_BENCH_EVENTS', '40000000'))
ROUNDS = int(os.environ.get('WEFT_BENCH_ROUNDS', '5'))
AT_ONCE = 100000


def record(folder):
    """Records in small portions, so that the stream's writer keeps up."""
    path = os.path.join(folder, 'large.weft')
    command = [WEFT, 'record', '-a', 'none', '--size', '64M', '--stream', '-o', path, '--',
               os.path.join(BUILD, 'bench', 'bench_live_program')]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as program:
        program.stdout.readline()
        for _ in range(EVENTS // AT_ONCE):
            program.stdin.write('%d\n' % AT_ONCE)
            program.stdin.flush()
            program.stdout.readline()
        program.stdin.close()
    return path


def measure(command):
    """The processor time of a command, in s, and its memory, in MB."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode in ((0, 1) if command[1] == 'why' else (0,)), command  # 1: nothing waits
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3


def main():
    os.environ['WEFT_INDEX'] = 'no'  # a command that reads all leaves no checkpoints to the others
    with tempfile.TemporaryDirectory() as folder:
        path = sys.argv[1] if len(sys.argv) > 1 else record(folder)
        info = json.loads(subprocess.run([WEFT, 'info', '--json', path], capture_output=True, check=True).stdout)
        start = (info['end'] - info['start']) * 9 // 10
        part = ['--start', '%dns' % start, '--duration', '50ms']
        small, out = os.path.join(folder, 'part.weft'), os.path.join(folder, 'out')
        cut = [WEFT, 'cut', path, '-o', small, *part]
        commands = {'dump': [WEFT, 'dump', path, *part], 'cut': cut, 'cut, with 1 s of the past': [*cut, '--past', '1s'],
                    'cut, without the past': [*cut, '--past', '0ns'],
                    'render that': [WEFT, 'render', small, '-o', out + '.svg'], 'stats of it': [WEFT, 'stats', small]}
        alone = [path, *part, '--past', '0ns']
        commands |= {'render of the part alone': [WEFT, 'render', *alone, '-o', out + '.svg'], 'stats of it alone': [WEFT, 'stats', *alone],
                     'query of it alone': [WEFT, 'query', path, *part, 'SELECT count(*) FROM tasks'],
                     'why, at its begin, alone': [WEFT, 'why', path, '--at', '%dns' % start, '--past', '50ms']}
        commands |= {'stats of the part': [WEFT, 'stats', path, *part], 'stats of all': [WEFT, 'stats', path], 'info': [WEFT, 'info', path]}
        least = {name: (1e9, 1e9) for name in commands}
        before = os.getloadavg()[0]
        for _ in range(ROUNDS):
            for name, command in commands.items():
                least[name] = tuple(map(min, least[name], measure(command)))
        print('50 ms of %.2f GB, %d events; the least of %d; load %.1f to %.1f' % (
            os.path.getsize(path) / 1e9, info['events'], ROUNDS, before, os.getloadavg()[0]))
        for name, (seconds, megabytes) in least.items():
            print('  %-28s %8.3f s %8.0f MB' % (name, seconds, megabytes))


main()
