# SPDX-License-Identifier: ISC
"""Each command that reads a FILE, on the inputs of the fuzz targets and on damaged copies of real
traces: it ends, within bounds of CPU time and memory, with a documented exit status; what it prints
is harmless on a terminal, and what should be JSON or XML is.

500 runs that a seed decides; WEFT_RUNS=N for another number, WEFT_RUNS=all for each command on each
corpus file and on 10,000 damaged copies (hours), WEFT_SEED=N for other damage. An input that fails is
kept in corpora-failed/ of the build."""
import glob
import json
import multiprocessing
import os
import random
import re
import struct
import tempfile
import xml.etree.ElementTree

from harness import BUILD, DATA, SOURCE, WEFT, case, equal, main, skip, temporary_directory
from measured import IS_SANITIZED, MIB, check_shown, measure

SEED = int(os.environ.get('WEFT_SEED', '1'))
RUNS = os.environ.get('WEFT_RUNS', '250' if IS_SANITIZED else '500')
MUTANTS = 10000
PER_FILE = 1 if IS_SANITIZED else 2  # commands that each corpus file gets
FAILED = os.path.join(BUILD, 'corpora-failed')

CORPUS = sorted(p for p in glob.glob(os.path.join(SOURCE, 'fuzz', 'corpus', '*', '*')) if os.path.isfile(p))
TRACES = [os.path.join(DATA, 'traces', name) for name in ('mirage-arp-good.ctf', 'mirage-block-read.sexp')] + \
    sorted(glob.glob(os.path.join(DATA, 'recorded', '*')))

COMMANDS = [
    ['info', 'FILE'], ['info', '--json', 'FILE'], ['dump', 'FILE'], ['dump', '--json', 'FILE'],
    ['dump', '--tasks', '--json', 'FILE'], ['dump', '--edges', '--json', 'FILE'], ['dump', '--tasks', 'FILE'],
    ['dump', '--problems', '--json', 'FILE'], ['dump', '--problems', 'FILE'], ['dump', '--story', '1', 'FILE'],
    ['dump', '--story', '3', '--json', 'FILE'], ['why', 'FILE'], ['why', '--json', 'FILE', 'task:3'],
    ['tail', 'FILE'], ['cut', 'FILE', '-o', 'OUT.weft'],
    ['cut', 'FILE', '--start', '1ms', '--duration', '1ms', '-o', 'OUT.weft'],
    ['stats', 'FILE'], ['stats', '--by', 'parent', '--json', '--start', '1ms', '--duration', '1ms', 'FILE'],
    ['stats', '--by', 'span', '--csv', 'FILE'], ['stats', '--diff', '--start', '0', '--start', '1ms', '--json', 'FILE'],
    ['export', '--to', 'ctf', 'FILE', 'OUT'],
    ['render', 'FILE', '-o', 'OUT.svg'], ['render', 'FILE', '-o', 'OUT.png'], ['render', 'FILE', '-o', 'OUT.pdf'],
    ['render', 'FILE', '-o', 'OUT.html'], ['render', '--no-fold', '--group-by', 'thread', 'FILE', '-o', 'OUT.svg'],
    ['render', '--start', '1ms', '--duration', '10us', 'FILE', '-o', 'OUT.svg'],
]

# The exit statuses in each command's manual: done, no, wrong use, unreadable.
STATUSES = (0, 1, 2, 3)
ZSTD = b'\x28\xb5\x2f\xfd'


# ---- Damage ----

NUMBERS = [0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 32,
           (1 << 62) - 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1]
WORDS = [b'(', b')', b'"', b'18446744073.709551615', b'-1', b'9' * 40, b'0.000000001', b'\xff', b'\\', b'1e308', b'\n']


def random_offset(data, dice):
    """Headers are damaged more often than their share."""
    return dice.randrange(len(data) if dice.random() < 0.6 else min(len(data), 512))


def flip_bit(data, dice):
    data[random_offset(data, dice)] ^= 1 << dice.randrange(8)


def set_byte(data, dice):
    data[random_offset(data, dice)] = dice.choice((0, 1, 0x1b, 0x7f, 0x80, 0x9b, 0xff, dice.randrange(256)))


def set_word(data, dice):
    size, letter = dice.choice(((2, 'H'), (4, 'I'), (8, 'Q')))
    at = random_offset(data, dice) // size * size
    if at + size <= len(data):
        data[at:at + size] = struct.pack('<' + letter, dice.choice(NUMBERS) & (1 << 8 * size) - 1)


def add_to_word(data, dice):
    at = random_offset(data, dice) // 8 * 8
    if at + 8 <= len(data):
        word, = struct.unpack_from('<Q', data, at)
        struct.pack_into('<Q', data, at, word + dice.choice((-1, 1, 8, -8, 1 << 20, -1 << 32, 1 << 60)) & NUMBERS[-1])


def cut_out(data, dice):
    at = random_offset(data, dice)
    del data[at:at + dice.choice((1, 8, 64, 4096))]


def repeat(data, dice):
    at, size, times = random_offset(data, dice), dice.choice((1, 8, 24, 200, 4096)), dice.choice((1, 2, 50))
    data[at:at] = data[at:at + size] * times


def move(data, dice):
    a, b, size = random_offset(data, dice), random_offset(data, dice), dice.choice((8, 64, 4096))
    part = data[a:a + size]
    data[b:b + len(part)] = part


def shorten(data, dice):
    del data[random_offset(data, dice):]


def blank(data, dice):
    at, size = random_offset(data, dice), dice.choice((8, 64, 4096))
    data[at:at + size] = bytes((dice.choice((0, 0xff)),)) * len(data[at:at + size])


def put_word(data, dice):
    at = random_offset(data, dice)
    data[at:at + dice.choice((0, 1, 5))] = dice.choice(WORDS)


def change_number(data, dice):
    numbers = list(re.finditer(rb'[0-9.]+', data[:200000]))
    if numbers:
        number = dice.choice(numbers)
        data[number.start():number.end()] = dice.choice(WORDS)


DAMAGE = [flip_bit, set_byte, set_word, set_word, add_to_word, cut_out, repeat, move, shorten, blank]


def mutant(number):
    """The bytes of damaged copy `number`, and of which trace."""
    dice = random.Random(SEED * 1000003 + number)
    content, name = whole(TRACES[number % len(TRACES)])
    data = bytearray(content)
    damage = DAMAGE + [put_word, change_number, change_number] if name.endswith('.sexp') else DAMAGE
    for _ in range(dice.choice((1, 1, 2, 4, 16))):
        if data:
            dice.choice(damage)(data, dice)
    return bytes(data), name


def whole(path):
    with open(path, 'rb') as file:
        return file.read(), os.path.basename(path)


# ---- A run ----

def plain_size(data):
    """The bytes to which memory may be in proportion: for a compressed file, those that it may hold."""
    return len(data) if data[:4] != ZSTD else 64 * len(data)


def check_output(command, path):
    if path.endswith('.svg'):
        xml.etree.ElementTree.parse(path)
    elif path.endswith('.html'):
        with open(path, encoding='utf-8') as file:
            assert file.read().rstrip().endswith('</html>'), 'the page is not whole'
    elif path.endswith(('.png', '.pdf')):
        with open(path, 'rb') as file:
            assert file.read(4) in (b'\x89PNG', b'%PDF'), 'no picture'
    elif path.endswith('.weft'):
        equal(measure([WEFT, 'info', path]).status, 0, 'info of what %s made' % command)


def check_run(command, data, directory):
    file, out = os.path.join(directory, 'x'), os.path.join(directory, 'out')
    with open(file, 'wb') as opened:
        opened.write(data)
    arguments = [argument.replace('FILE', file).replace('OUT', out) for argument in command]
    result = measure([WEFT, *arguments])
    assert result.status in STATUSES, 'exit status %d after %.1f s of CPU: %s' % (
        result.status, result.seconds, result.stderr.decode(errors='replace')[-3000:])
    most = 40 * plain_size(data) + 64 * MIB
    assert IS_SANITIZED or result.memory <= most, '%d MiB' % (result.memory // MIB)
    check_shown('standard output', result.stdout)
    check_shown('standard error', result.stderr)
    if '--json' in command and result.status == 0:
        for line in result.stdout.splitlines():
            json.loads(line)
    if result.status == 0 and '-o' in command:
        check_output(' '.join(command), arguments[-1])


def try_run(job):
    """None, or what went wrong: for a pool of processes."""
    command, source = job
    data, name = mutant(source) if isinstance(source, int) else whole(source)
    try:
        with temporary_directory() as directory:
            check_run(command, data, directory)
        return None
    except Exception as problem:
        os.makedirs(FAILED, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=FAILED, suffix='-' + name, delete=False) as kept:
            kept.write(data)
        return 'weft %s\n  FILE is %s (%s)\n  %s: %s' % (
            ' '.join(command), kept.name, source, type(problem).__name__, problem)


def check_all(jobs):
    assert jobs
    with multiprocessing.get_context('fork').Pool(2) as pool:
        problems = [p for p in pool.imap_unordered(try_run, jobs, 4) if p]
    assert not problems, '%d of %d runs:\n%s' % (len(problems), len(jobs), '\n'.join(problems))


def each_command(sources):
    return [(command, source) for source in sources for command in COMMANDS]


# ---- Cases ----

@case
def corpus_files():
    assert len(CORPUS) > 50, CORPUS
    if RUNS == 'all':
        return check_all(each_command(CORPUS))
    dice = random.Random(SEED)
    check_all([(command, path) for path in CORPUS for command in dice.sample(COMMANDS, PER_FILE)])


@case
def damaged_copies_of_real_traces():
    equal(len(TRACES), 8)
    if RUNS == 'all':
        return check_all(each_command(range(MUTANTS)))
    dice = random.Random(SEED)
    count = max(int(RUNS) - len(CORPUS) * PER_FILE, len(COMMANDS))
    check_all([(COMMANDS[(i + dice.randrange(2)) % len(COMMANDS)], i) for i in range(count)])


@case
def undamaged_traces():
    if IS_SANITIZED:
        skip('the same without sanitizers is enough')
    check_all(each_command(TRACES))


if __name__ == '__main__':
    main()
