# SPDX-License-Identifier: ISC
"""weft dump and xenalyze --dump-all on the same traces of Xen, in processor time; the outputs go nowhere.

    WEFT_BUILD=build python3 bench/xentrace.py [FILE…]

Without files it takes the captures of the tests. The runs alternate, and the least time of each counts.
"""
import os
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'e2e'))
from harness import WEFT, Skip  # noqa: E402
from xen_traces import unpack, xenalyze  # noqa: E402

ROUNDS = int(os.environ.get('WEFT_BENCH_ROUNDS', '15'))
# The third has a record of a guest's own, at which xenalyze ends.
CAPTURES = ('xen-domain-end', 'xen-lost-2cpu')


def seconds(command):
    """The processor time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(path, peer):
    commands = {'weft dump --json': [WEFT, 'dump', '--json', '--cpu-hz', '2596M', path],
                'weft dump': [WEFT, 'dump', '--cpu-hz', '2596M', path],
                'xenalyze --dump-all': [peer, '--svm-mode', '--cpu-hz', '2596M', '--dump-all', path]}
    times = {name: 1e9 for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            times[name] = min(times[name], seconds(command))
    print('%s, %d KB' % (os.path.basename(path), os.path.getsize(path) // 1000))
    for name, least in times.items():
        print('  %-20s %7.2f ms %6.1f times' % (name, 1000 * least, times['xenalyze --dump-all'] / least))


def main():
    try:
        peer = xenalyze()
    except Skip as reason:
        print(reason)
        return
    with tempfile.TemporaryDirectory() as folder:
        for path in sys.argv[1:] or [unpack(folder, name) for name in CAPTURES]:
            compare(path, peer)


main()
