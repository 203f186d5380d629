# SPDX-License-Identifier: ISC
"""Commands that read traces, with many options, on the samples: tests/data/golden/answers.txt has the exit status, the number
of lines and a hash of each output. It shows which outputs a change of the code affects; other tests have small outputs
that a person can read. WEFT_GOLDEN=write writes it anew.
"""
import hashlib
import lzma
import os

from harness import DATA, case, equal, main, temporary_directory, weft

GOLDEN = os.path.join(DATA, 'golden', 'answers.txt')

STATS = ['label', 'kind', 'parent', 'thread', 'process', 'category', 'span', 'stack']
SORTS = ['total', 'count', 'failed', 'unfinished', 'p50', 'p90', 'p99', 'max', 'running', 'waiting', 'delay']

# Each trace with a task of it and a part that has events.
TRACES = [
    ('traces/mirage-arp-good.ctf', '20', ['--start', '200us', '--duration', '2ms']),
    ('traces/mirage-block-read.sexp', '80', ['--start', '1.5ms', '--duration', '300us']),
    ('recorded/echo-server.weft', '3', ['--start', '10ms', '--duration', '1s']),
    ('recorded/threads-stream.weft', '2', ['--start', '1ms', '--duration', '20ms']),
]


def dumps(task, part):
    for what in ([], ['--tasks'], ['--edges'], ['--spans'], ['--problems']):
        for form in ([], ['--json']):
            yield ['dump', *what, *form]
    for what in ([], ['--tasks'], ['--edges'], ['--spans']):
        for form in ([], ['--json']):
            yield ['dump', *what, *form, *part]
    for form in ([], ['--json'], ['--tsv']):
        yield ['dump', '--story', task, *form]
    yield ['dump', '--problems', '--tsv']
    yield ['dump', '--problems', '--sort', 'time']
    yield ['dump', '--tasks', '--no-simplify']


def statistics(part):
    for by in STATS:
        for form in ([], ['--json'], ['--csv']):
            yield ['stats', '--by', by, *form, *part]
    for sort in SORTS:
        yield ['stats', '--sort', sort, '--limit', '7']
    for form in ([], ['--json'], ['--csv']):
        yield ['stats', '--diff', *form, '--start', part[1], '--start', '0', '--duration', part[3]]


def questions(task, part):
    for form in ([], ['--json']):
        yield ['why', '--at', part[1], *form]
        yield ['why', *form]
        yield ['why', '--at', part[1], *form, 'task:' + task]
        yield ['why', *form, 'task:' + task]
        yield ['info', *form, '--counters']


def commands(task, part):
    return [*dumps(task, part), *statistics(part), *questions(task, part)]


def commands_of_xen():
    part = ['--start', '1s', '--duration', '100ms']
    for what in (['--spans'], ['--tasks'], ['--edges'], []):
        for form in ([], ['--json']):
            yield ['dump', *what, *form, *part]
    yield ['dump', '--spans']
    yield ['dump', '--filter', 'domain=1,class=sched']
    for form in ([], ['--json'], ['--csv']):
        yield ['stats', '--by', 'span', *form]
        yield ['stats', '--by', 'span', *form, *part]
    for sort in SORTS:
        yield ['stats', '--by', 'span', '--sort', sort, '--limit', '7']
    yield from questions('1', part)


def answer(words, trace):
    words = words[:-1] + [trace, words[-1]] if words[-1].startswith('task:') else words + [trace]
    result = weft(*words, status=None)
    text = result.stdout + result.stderr
    digest = hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()[:12]
    return 'weft %s: exit %d, %d lines, %s\n' % (' '.join(words), result.returncode, text.count('\n'), digest)


def all_answers():
    lines = [answer(words, trace) for trace, task, part in TRACES for words in commands(task, part)]
    with temporary_directory() as folder, lzma.open('traces/xen-domain-end.xentrace.xz') as packed:
        os.chdir(folder)
        with open('xen.xentrace', 'wb') as file:
            file.write(packed.read())
        lines += [answer(words, 'xen.xentrace') for words in commands_of_xen()]
        os.chdir(DATA)
    return lines


@case
def answers_are_as_in_the_golden_text():
    os.environ['TZ'] = 'UTC'
    os.chdir(DATA)
    lines = all_answers()
    if os.environ.get('WEFT_GOLDEN') == 'write':
        with open(GOLDEN, 'w', encoding='utf-8') as file:
            file.writelines(lines)
    with open(GOLDEN, encoding='utf-8') as file:
        expected = file.readlines()
    different = [line for line in lines if line not in set(expected)]
    equal(different, [], 'outputs that differ: look at them, then run with WEFT_GOLDEN=write')
    equal(len(lines), len(expected))


main()
