# SPDX-License-Identifier: ISC
"""weft agent --mmv: values as Performance Co-Pilot maps them, read by a reader of our own, and by PCP's if it is installed."""
import os
import signal
import struct

from agent_host import host
from harness import case, equal, main, run, skip, weft
from waiting import status_of, wait_until

DUMP = os.environ.get('MMVDUMP', '/usr/lib/pcp/pmdas/mmv/mmvdump')  # Debian's package pcp starts services when it is installed, so the tests do not ask for it
COUNTER, INSTANT = 1, 3
BYTES, SECONDS, COUNT = 1 << 28, 1 << 24 | 3 << 12, 1 << 20


def text_at(content, at):
    return content[at:at + 256].split(b'\0')[0].decode()


def read(path):
    """{metric: (semantics, unit, {instance: value})}; all that mmv(5) says of the file is checked."""
    with open(path, 'rb') as file:
        content = file.read()
    tag, version, first, second, sections, flags, process, cluster = struct.unpack_from('=4sIQQiiii', content)
    equal((tag, version, first, sections, flags), (b'MMV\0', 2, second, 5, 2))
    assert process > 0 and 0 < cluster < 4096
    table = [struct.unpack_from('=iiQ', content, 40 + 16 * i) for i in range(sections)]
    equal([kind for kind, _, _ in table], [1, 2, 3, 4, 5])
    sizes = dict(zip((1, 2, 3, 4, 5), (32, 24, 48, 32, 256)))
    entries = {kind: [at + i * sizes[kind] for i in range(count)] for kind, count, at in table}
    equal(table[-1][2] + 256 * table[-1][1], len(content))
    found, ends = {}, {}
    for at, domain in zip(entries[3], entries[1]):
        name, item, kind, semantics, unit, serial, padding, short, _ = struct.unpack_from('=QiiiIiiQQ', content, at)
        own, count, instances, *_ = struct.unpack_from('=iiQQQ', content, domain)
        equal((serial, padding), (own, 0))
        assert 0 < item < 1024 and kind in (3, 5) and short in entries[5] and text_at(content, name) not in found
        found[text_at(content, name)] = (semantics, unit, {})
        numbers = [struct.unpack_from('=QiiQ', content, instances + 24 * i) for i in range(count)]
        equal(len({number for _, _, number, _ in numbers}), count, 'numbers of instances')
        equal({where for where, *_ in numbers}, {domain})
        ends[at] = kind, [instances + 24 * i for i in range(count)]
    for at in entries[4]:
        bits, extra, metric, instance = struct.unpack_from('=8sQQQ', content, at)
        kind, instances = ends[metric]
        assert instance in instances and extra == 0
        name = text_at(content, struct.unpack_from('=Q', content, metric)[0])
        key = text_at(content, struct.unpack_from('=QiiQ', content, instance)[3])
        assert key not in found[name][2] and ' ' not in key, key
        found[name][2][key] = struct.unpack('=Q' if kind == 3 else '=d', bits)[0]
    return found


def at(it):
    folder = os.path.join(it.outer, 'mmv')
    os.makedirs(folder, exist_ok=True)
    return folder, os.path.join(folder, 'weft')


@case
def values_are_those_of_the_levels():
    with host() as it:
        folder, path = at(it)
        me = 'agent-subject;uid=%d' % os.getuid()
        it.program('acme 1 5', 'acme a=b;c%"d" 7', 'alone 9 3', 'took acme 1500', 'took acme 500', 'level 4')
        it.program('acme 1 2', 'level 5')
        weft(*it.command('--once', '--mmv', folder))
        found = read(path)
        equal(found['bytes'], (COUNTER, BYTES, {me + ';customer=acme;vm=1': 7, me + ';customer=acme;vm=a%3db%3bc%25%22d%22': 7, me + ';vm=9': 3}))
        equal(found['latency_sum'], (COUNTER, SECONDS, {me + ';customer=acme': 2e-6}))
        equal(found['latency_count'], (COUNTER, COUNT, {me + ';customer=acme': 2}))
        equal(found['level'], (INSTANT, COUNT, {me: 9}))
        equal(os.stat(path).st_mode & 0o777, 0o644)


@case
def the_file_stays_while_only_values_change():
    with host() as it:
        folder, path = at(it)
        program = it.program('acme 1 5')
        agent = it.agent('--mmv', folder)
        def values():
            return sum(read(path)['bytes'][2].values()) if os.path.exists(path) else 0
        wait_until('all are there', lambda: values() == 5 and 'weft_run_queue_seconds' in read(path), agent)
        inode = os.stat(path).st_ino
        it.tell(program, 'acme 1 2')
        wait_until('the value is new', lambda: values() == 7, agent)
        equal(os.stat(path).st_ino, inode)
        it.tell(program, 'bolt 1 3')
        wait_until('there is another instance', lambda: values() == 10, agent)
        assert os.stat(path).st_ino != inode
        equal(os.listdir(folder), ['weft'])
        agent.send_signal(signal.SIGTERM)
        equal(status_of(agent), 0)
        equal((os.listdir(folder), it.said()), ([], ''))


@case
def a_folder_that_cannot_be_used_is_said_once():
    with host() as it:
        it.program('acme 1 5')
        agent = it.agent('--mmv', '/nowhere')
        it.looks(agent, 3)
        equal(it.said(), 'weft: --mmv: /nowhere: No such file or directory\n')
        agent.send_signal(signal.SIGTERM)
        equal(status_of(agent), 0)
        equal(weft(*it.command('--once', '--mmv', '/nowhere'), status=1).stderr, 'weft: --mmv: /nowhere: No such file or directory\n')


@case
def pcp_reads_it():
    if not os.access(DUMP, os.X_OK):
        skip("PCP's mmvdump is not installed (package pcp)")
    with host() as it:
        folder, path = at(it)
        it.program('acme 1 5', 'took acme 1500')
        weft(*it.command('--once', '--mmv', folder))
        dump = run([DUMP, path]).stdout
        assert 'customer=acme;vm=1"] = 5' in dump and 'units=byte' in dump and 'units=sec' in dump, dump


main()
