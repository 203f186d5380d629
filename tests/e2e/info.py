# SPDX-License-Identifier: ISC
"""weft info: the figures of the sample traces, and of empty and damaged ones."""
import json
import os
import re
import subprocess

from harness import BUILD, DATA, WEFT, case, equal, main, temporary_directory, weft
from measured import IS_SANITIZED, MIB, measure

ARP = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')
BLOCK = os.path.join(DATA, 'traces', 'mirage-block-read.sexp')
KEYS = ['format', 'start', 'last_event', 'end', 'events', 'by_event', 'threads', 'tasks', 'messages', 'contexts', 'counters', 'losses', 'dark', 'unseen',
        'diagnostics', 'clock', 'categories', 'changes', 'metrics', 'tables']
NOT_STOPPED = {'cancelled': 0, 'closed': 0, 'timed_out': 0, 'unknown': 0}


def info(path):
    return json.loads(weft('info', '--json', path).stdout)


def info_of(content, status=0):
    result = subprocess.run([WEFT, 'info', '--json', '-'], input=content, capture_output=True)
    equal(result.returncode, status)
    return json.loads(result.stdout) if status == 0 else result.stderr.decode()


@case
def block_read():
    got = info(BLOCK)
    equal(list(got), KEYS)
    equal(got['format'], 'sexp')
    equal((got['start'], got['end']), (1413637708833401000, 1413637708995214000))
    equal(got['events'], 3915)
    equal(got['threads'], 1)
    equal(got['tasks'], {'total': 859, 'fulfilled': 718, 'failed': 8, **NOT_STOPPED, 'became': 117,
                         'never_resolved': 0, 'unfinished': 16, 'preexisting': 1, 'tracks': 0})
    equal((got['counters'], got['losses'], got['diagnostics']), ([], {}, []))
    equal(got['clock'], {'name': 'unix', 'epoch': 'unix', 'hz': 10**9, 'offset_ns': 0})


@case
def arp_good():
    got = info(ARP)
    equal(got['format'], 'mirage-ctf')
    equal((got['start'], got['end'], got['events']), (0, 48111112, 2954))
    equal(got['by_event']['create'], 487)
    equal(sum(got['by_event'].values()), 2954)
    equal(got['tasks'], {'total': 492, 'fulfilled': 371, 'failed': 2, **NOT_STOPPED, 'became': 68,
                         'never_resolved': 0, 'unfinished': 51, 'preexisting': 5, 'tracks': 0})
    equal(got['counters'], [
        {'name': 'gntref', 'first': 1, 'min': 1, 'max': 506, 'last': 502, 'changes': 526},
        {'name': 'tcp-to-ip', 'first': 0, 'min': 0, 'max': 1, 'last': 1, 'changes': 5},
        {'name': 'tcp-ackd-segs', 'first': 1, 'min': 1, 'max': 2, 'last': 2, 'changes': 2}])
    equal(got['clock']['epoch'], 'unknown')


@case
def as_text():
    text = weft('info', BLOCK).stdout
    for line in ('format      sexp',
                 'time        161.813 ms, from 2014-10-18 13:08:28.833401 UTC',
                 'tasks       859: 718 fulfilled, 8 failed, 117 became another, 16 unfinished',
                 'before      1 task began before the trace',
                 'losses      none', 'damage      none'):
        assert line + '\n' in text, text
    assert '1           1         506         502         526  "gntref"' in weft('info', ARP).stdout


@case
def a_record_of_days_is_said_in_days():
    for seconds, shown in ((599, '599.000 s'), (600, '10 min'), (2 * 86400 + 3 * 3600, '2 d 3 h')):
        with temporary_directory() as folder:
            path = os.path.join(folder, 'long.sexp')
            with open(path, 'w', encoding='utf-8') as file:
                file.write('((time 1.0)(op(Creates 0 1 Task)))\n((time %d.0)(op(Resolves 1 1 ())))\n' % (1 + seconds))
            equal(re.search(r'^time  *(.*)', weft('info', path).stdout, re.M).group(1), shown)


@case
def twenty_counters_unless_all_are_wanted():
    changes = [(f'rare {i}', 1) for i in range(15)] + [(f'busy {i}', 3) for i in range(10)]
    lines = [f'((time {n})(op(Increases 0 "{name}" 1)))' for name, count in changes for n in range(count)]
    content = '\n'.join(lines).encode()

    def listed(*options):
        text = subprocess.run([WEFT, 'info', *options, '-'], input=content, stdout=subprocess.PIPE, check=True).stdout.decode()
        return re.findall('  "(.+)"$', text, re.MULTILINE), text

    names, text = listed()
    equal(names, [f'rare {i}' for i in range(10)] + [f'busy {i}' for i in range(10)])
    assert '\n5 more that change less often; `weft info --counters` lists all\n' in text, text
    names, text = listed('--counters')
    equal(names, [name for name, _ in changes])
    assert 'more that change' not in text
    equal(len(info_of(content)['counters']), 25)


@case
def expected_tasks_that_do_not_end():
    got = info_of(b'((time 1)(op(Creates 0 1 Task)))((time 2)(op(Label 1 __should_resolve)))'
                  b'((time 3)(op(Increases 0 "a \\"b\\"" 5)))((time 4)(op(Increases 0 "a \\"b\\"" -9)))')
    equal(got['tasks'], {'total': 2, 'fulfilled': 0, 'failed': 0, **NOT_STOPPED, 'became': 0, 'never_resolved': 1,
                         'unfinished': 1, 'preexisting': 1, 'tracks': 0})
    equal(got['counters'], [
        {'name': 'a "b"', 'first': 5, 'min': -4, 'max': 5, 'last': -4, 'changes': 2}])


@case
def damage_is_listed():
    got = info_of(b'((time 1)(op(Switch 0)))\n((time 2)(op(Explode)))\n((time 3)(op(Explode)))\n')
    equal(got['events'], 1)
    equal(got['diagnostics'], [{'offset': 25, 'message': 'unknown op', 'count': 2}])
    result = subprocess.run([WEFT, 'info', '-'], capture_output=True, text=True,
                            input='((time 1)(op(Switch 0)))\n((time 2)(op(Explode)))\n')
    assert 'damage      1 place, listed on standard error\n' in result.stdout, result.stdout
    equal(result.stderr, 'standard input: offset 0x19: unknown op (×1)\n')


@case
def nothing_to_read():
    assert 'no intact event' in info_of(b'((time 1)(op(Explode)))', status=3)
    assert 'the file is empty' in info_of(b'', status=3)
    weft('info', status=2)
    weft('info', BLOCK, ARP, status=3)
    weft('info', '--jsonn', BLOCK, status=2)
    assert weft('info', '--help').stdout.startswith('usage: weft info')


@case
def an_empty_trace_is_valid():
    empty = bytes.fromhex('c11ffcc105883b8d521a487bb397456ab150680c' 'f0000000' '0000' 'f0000000')
    got = info_of(empty)
    equal((got['events'], got['start'], got['by_event'], got['threads']), (0, None, {}, 0))
    text = subprocess.run([WEFT, 'info', '-'], input=empty, capture_output=True).stdout.decode()
    assert 'no events' in text, text


def make_parts(folder, count):
    """Saved rings of many processes: each has a few events in 4 MiB, of which the rest are holes."""
    one = os.path.join(folder, 'one.weft')
    weft('record', '--size', '4M', '-o', one, '--', os.path.join(BUILD, 'examples', 'hello'))
    for number in range(count):
        part = os.path.join(folder, '%d.weft' % number)
        subprocess.run(['cp', '--sparse=always', one, part], check=True)
        with open(part, 'r+b') as file:
            file.seek(88)  # its uuid
            file.write(number.to_bytes(16, 'big'))
    os.unlink(one)


def used(folder):
    return sum(os.stat(os.path.join(folder, name)).st_blocks for name in os.listdir(folder)) * 512


@case
def parts_take_memory_for_what_they_have():
    with temporary_directory() as folder:
        make_parts(folder, 50)
        result = measure([WEFT, 'info', folder])
        assert result.status == 0 and b'buffer 49' in result.stdout, result.stdout
        assert IS_SANITIZED or result.memory < 40 * MIB, result.memory


@case
def holes_of_files_in_memory_stay_holes():
    with temporary_directory() as folder:
        if os.path.isdir('/dev/shm'):
            folder = os.path.join('/dev/shm', os.path.basename(folder))
            os.mkdir(folder)
        try:
            make_parts(folder, 3)
            before = used(folder)
            for command in 'info', 'dump', 'stats':
                equal(measure([WEFT, command, folder]).status, 0)
            assert used(folder) <= before + 65536 * 3, (before, used(folder))
        finally:
            for name in os.listdir(folder):
                os.unlink(os.path.join(folder, name))
            if folder.startswith('/dev/shm/'):
                os.rmdir(folder)


@case
def an_endless_device_is_refused_early():
    for device in '/dev/zero', '/dev/urandom':
        result = measure([WEFT, 'info', device], cpu_seconds=20)
        equal(result.status, 3, result.stderr)
        assert b'not in a format' in result.stderr, result.stderr
        assert IS_SANITIZED or result.memory < 200 * MIB, result.memory


main()
