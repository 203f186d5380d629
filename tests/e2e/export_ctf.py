# SPDX-License-Identifier: ISC
"""weft export --to ctf, read back by babeltrace 2 and babeltrace 1 and compared with weft dump."""
import ast
import os
import re
import shutil
import subprocess
import sys

from harness import BUILD, DATA, SOURCE, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
from traces import NONE, mirage

READER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'ctf_reader.py')
SAMPLES = [os.path.join(DATA, 'traces', name)
           for name in ('mirage-arp-good.ctf', 'mirage-block-read.sexp')]


def need(program):
    if not shutil.which(program):
        skip('%s is not installed' % program)


def python_with_bt2():
    """The tests' Python may not be the system's, which has the module."""
    for python in (sys.executable, '/usr/bin/python3'):
        if os.path.exists(python) and run([python, '-c', 'import bt2']).returncode == 0:
            return python
    skip('no Python has the module bt2')


def read_with_bt2(directory):
    """Events in the order of babeltrace 2, and the number of events discarded."""
    result = run([python_with_bt2(), READER, directory])
    equal(result.returncode, 0, result.stderr)
    rows = [ast.literal_eval(line) for line in result.stdout.splitlines()]
    return ([row for row in rows if row[0] != 'discarded'],
            sum(row[2] for row in rows if row[0] == 'discarded'))


def text(field):
    """Bytes as dump --json shows them: invalid UTF-8 as U+FFFD, here one for each run of them."""
    return runs_of_replacement(field.replace(b'\xc0\x80', b'\0').decode('utf-8', 'replace'))


def runs_of_replacement(string):
    return re.sub('\ufffd+', '\ufffd', string)


def as_dump_shows(name, fields):
    """A CTF event's fields as dump --json has them."""
    fields = dict(fields)
    for key in ('task', 'child', 'source', 'target'):
        if key in fields:
            fields[key] = None if fields[key] == -1 else fields[key] % 2 ** 64
    for key in ('later', 'switches', 'begin'):
        if key in fields:
            fields[key] = bool(fields[key])
    if 'clock' in fields:
        fields['clock'] = fields['clock'][1][0]
    if 'kind' in fields:
        number, (label,) = fields['kind']
        fields['kind'] = number if label == 'other' else label
    if name in ('counter', 'total'):
        fields[fields.pop('change')[1][0]] = fields.pop('value')
    if name == 'tag' and not fields.pop('has_value'):
        del fields['value']
    if name == 'alive' and not fields.pop('has_value'):
        del fields['age']
    if name == 'switch' and not fields['reason']:
        del fields['reason']
    if name == 'mark':
        del fields['fields_length']
        fields['fields'] = {text(f['name']): text(f['value']) if isinstance(f['value'], bytes)
                            else f['value'] for f in fields['fields']}
    return {key: text(value) if isinstance(value, bytes) else value
            for key, value in fields.items()}


def dumped(trace):
    """The output of dump --json without threads: (time, name, fields) for each event."""
    rows = []
    for row in json_lines(weft('dump', '--json', trace).stdout):
        for key in ('thread', 'process', 'host', 'rundown'):
            row.pop(key, None)
        rows.append((row.pop('time'), row.pop('event'), with_runs(row)))
    return rows


def with_runs(fields):
    return {key: with_runs(value) if isinstance(value, dict) else
            runs_of_replacement(value) if isinstance(value, str) else value
            for key, value in fields.items()}


def equal_rows(got, expected):
    """Fails with the first row that differs, not with all of them."""
    for row, (one, other) in enumerate(zip(got, expected)):
        equal(one, other, 'row %d' % row)
    equal(len(got), len(expected), 'number of rows')


def sorted_rows(rows):
    """Streams have no order among equal times."""
    return sorted(rows, key=lambda row: (row[0], row[1], repr(sorted(row[2].items()))))


def babeltrace2_text(directory):
    need('babeltrace2')
    result = run(['babeltrace2', directory])
    equal(result.returncode, 0, result.stderr)
    return result


def babeltrace1_value(field):
    if isinstance(field, tuple):
        return b'( "%s" : container = %d )' % (field[1][0].encode(), field[0])
    if isinstance(field, bytes):
        return b'"%s"' % field
    if isinstance(field, float):
        return b'%g' % field
    if isinstance(field, int):
        return b'%d' % field
    if isinstance(field, dict):
        return b'{ %s }' % b', '.join(
            b'%s = %s' % (key.encode(), babeltrace1_variant(field, key)) for key in field)
    if not field:
        return b'[ ]'
    return b'[ %s ]' % b', '.join(
        b'[%d] = %s' % (i, babeltrace1_value(member)) for i, member in enumerate(field))


def babeltrace1_variant(fields, key):
    """Babeltrace 1 shows which member of a variant is there."""
    if key == 'value' and 'type' in fields:
        return b'{ %s = %s }' % (fields['type'][1][0].encode(), babeltrace1_value(fields[key]))
    return babeltrace1_value(fields[key])


def check_with_babeltrace1(directory, events, warns=False):
    """Babeltrace 1's text for every event agrees with babeltrace 2."""
    need('babeltrace')
    result = run(['babeltrace', '--clock-cycles', '--no-delta', '-n', 'payload', directory], text=False)
    equal(result.returncode, 0, result.stderr)
    assert warns or not result.stderr, result.stderr
    offset = clock_offset(directory)
    expected = sorted(b'[%020d] %s: %s' % (time - offset, name.encode(), babeltrace1_value(fields))
                      for _, time, name, fields in events)
    # The packet's context, which comes first, is not compared.
    got = re.sub(rb'(?m)^(\[\d{20}\] \w+: )\{ \d+, \d+, ".*?", ".*?" \}, ', rb'\1', result.stdout)
    equal_rows(sorted((b'\n' + got.rstrip(b'\n')).split(b'\n[')),
               sorted((b'\n' + b'\n'.join(expected)).split(b'\n[')))


def clock_offset(directory):
    with open(os.path.join(directory, 'metadata'), encoding='utf-8') as metadata:
        seconds, ns = re.search(r'offset_s = (\d+);\s+offset = (\d+);', metadata.read()).groups()
    return int(seconds) * 10 ** 9 + int(ns)


def check_round_trip(trace, directory, discarded=0):
    """Exports a trace and compares the events of both babeltraces with those of dump."""
    result = weft('export', '--to', 'ctf', trace, directory)
    equal(result.stdout, '')
    events, lost = read_with_bt2(directory)
    offset = clock_offset(directory)
    equal_rows(sorted_rows([(time - offset, name, as_dump_shows(name, fields))
                            for _, time, name, fields in events]), sorted_rows(dumped(trace)))
    equal(lost, discarded, 'discarded events')
    messages = babeltrace2_text(directory).stderr
    assert discarded or not messages, messages
    check_with_babeltrace1(directory, events, warns=discarded > 0)
    return events


def check_bytes(data, **options):
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'trace')
        with open(trace, 'wb') as out:
            out.write(data)
        return check_round_trip(trace, os.path.join(folder, 'ctf'), **options)


@case
def samples_come_back_whole():
    for sample, count in zip(SAMPLES, (2954, 3915)):
        with temporary_directory() as folder:
            events = check_round_trip(sample, os.path.join(folder, 'ctf'))
            equal(len(events), count, sample)
            equal(sorted(os.listdir(os.path.join(folder, 'ctf'))), ['metadata', 'thread_0'])


@case
def metadata_begins_as_readers_expect():
    with temporary_directory() as folder:
        weft('export', '--to', 'ctf', SAMPLES[0], folder)
        with open(os.path.join(folder, 'metadata'), encoding='utf-8') as metadata:
            equal(metadata.readline(), '/* CTF 1.8 */\n')


@case
def every_operation_of_mirage_comes_back():
    start = 1413637708 * 10 ** 9
    check_bytes(mirage([
        (start + 0, 'create', NONE, 1, 0), (start + 1, 'create', 1, 2, 17),
        (start + 1, 'create', 1, 3, 50), (start + 1, 'create', 1, 4, 99),
        (start + 2, 'read', 1, 2), (start + 2, 'read', 1, NONE), (start + 3, 'read_later', 1, 3),
        (start + 3, 'try_read', 2, 3), (start + 4, 'fulfil', 1, 3), (start + 4, 'fail', 1, 2, 'Not_found'),
        (start + 4, 'become', 1, 4), (start + 5, 'label', 4, 'name'), (start + 5, 'label', 4, '__should_resolve'),
        (start + 6, 'add', 4, -5, 'tcp'), (start + 6, 'set', 4, -2 ** 63, 'tcp'), (start + 7, 'switch', NONE),
        (start + 7, 'switch', 2 ** 63), (start + 8, 'gc', 7), (start + 9, 'signal', 2, 3),
        (start + 9, 'signal_only', 2, 3)]))


def record_every_event(path, rounds):
    """Four threads; many rounds overwrite the first events."""
    equal(run([os.path.join(BUILD, 'tests', 'every_event'), path, rounds]).returncode, 0)
    info, = json_lines(weft('info', '--json', path).stdout)
    return info


@case
def every_event_of_weft_comes_back():
    with temporary_directory() as folder:
        trace, out = os.path.join(folder, 'trace.weft'), os.path.join(folder, 'ctf')
        info = record_every_event(trace, 1)
        equal(info['losses'], {'too_big': 4})  # each thread sets a counter whose name is too long
        events = check_round_trip(trace, out, discarded=4)
        equal(sorted(os.listdir(out)), ['metadata', 'thread_0', 'thread_1', 'thread_2', 'thread_3'])
        equal({stream for stream, _, _, _ in events}, {0, 1, 2, 3})
        with open(os.path.join(SOURCE, 'include', 'weft', 'events.def'), encoding='utf-8') as table:
            equal({name for _, _, name, _ in events}, set(re.findall(r'^EVENT\(\d+, \w+, "(\w+)"', table.read(), re.M)))
        # The offset of the CTF clock turns the recorder's time into wall-clock time.
        assert clock_offset(out) == info['clock']['offset_ns'] > 0, info['clock']


@case
def losses_of_weft_are_discarded_events():
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'trace.weft')
        info = record_every_event(trace, 400)
        lost = sum(count for cause, count in info['losses'].items()
                   if cause not in ('names_full', 'metrics_full'))
        assert lost > 0, info
        check_round_trip(trace, os.path.join(folder, 'ctf'), discarded=lost)


@case
def nasty_text_keeps_its_bytes():
    texts = [b'', b'"', b'a "quoted" \\ one', b'two\nlines\r\n', b'\x1b[31mred\x07', b'caf\xc3\xa9',
             b'\xff\xfe\x80', b'\xed\xa0\x80', b'\xf0\x9f\xa7\xb5', b'%s%n', b'x' * 300000, b'}, { task = 1 }']
    events = check_bytes(mirage([(i, 'label', 1, text) for i, text in enumerate(texts)]))
    equal([fields['text'] for _, _, _, fields in events], texts)


@case
def empty_text_stays_empty():
    # Unless the export avoids it, babeltrace 2.0 shows the text of an earlier event instead of an empty one.
    texts = [b'', b'one', b''] * 100
    events = check_bytes(mirage([(i, 'label', 1, text) for i, text in enumerate(texts)]))
    equal([fields['text'] for _, _, _, fields in events], texts)


@case
def one_event():
    equal(len(check_bytes(mirage([(5, 'switch', 3)]))), 1)


@case
def an_empty_trace_is_an_empty_export():
    with temporary_directory() as folder:
        trace, out = os.path.join(folder, 'trace'), os.path.join(folder, 'ctf')
        with open(trace, 'wb') as file:
            file.write(mirage([]))
        result = weft('export', '--to', 'ctf', trace, out)
        assert 'no events' in result.stderr, result.stderr
        equal(babeltrace2_text(out).stdout, '')
        equal(read_with_bt2(out), ([], 0))


@case
def many_packets():
    events = check_bytes(mirage([(i, 'create', i % 7, i, i % 18) for i in range(50000)]))
    equal(len(events), 50000)


@case
def times_beyond_readers_are_moved_and_counted():
    need('babeltrace2')
    with temporary_directory() as folder:
        trace, out = os.path.join(folder, 'trace'), os.path.join(folder, 'ctf')
        with open(trace, 'wb') as file:
            file.write(mirage([(2 ** 63 - 2, 'switch', 1), (2 ** 63 - 1, 'switch', 2), (NONE, 'switch', 3)]))
        result = weft('export', '--to', 'ctf', trace, out)
        assert '2 events are too late' in result.stderr, result.stderr
        events, _ = read_with_bt2(out)
        equal([(time, fields['task']) for _, time, _, fields in events],
              [(2 ** 63 - 2, 1), (2 ** 63 - 2, 2), (2 ** 63 - 2, 3)])


def listing(folder):
    return sorted(os.path.relpath(os.path.join(path, name), folder)
                  for path, folders, files in os.walk(folder) for name in folders + files)


@case
def wrong_use_is_reported():
    for arguments in ([], ['--to', 'ctf'], ['--to', 'ctf', SAMPLES[0]], [SAMPLES[0], 'out'],
                      ['--to', 'xml', SAMPLES[0], 'out'], ['--what', SAMPLES[0], 'a']):
        with temporary_directory() as folder:
            result = weft('export', *arguments, status=2, cwd=folder)
            assert '--help' in result.stderr and not result.stdout, result
            equal(listing(folder), [])
    assert weft('export', '--help').stdout.startswith('usage: weft export')


@case
def unreadable_traces_leave_nothing():
    with temporary_directory() as folder:
        for name, data in (('empty', b''), ('foreign', b'hello, world\n' * 100)):
            with open(os.path.join(folder, name), 'wb') as file:
                file.write(data)
            weft('export', '--to', 'ctf', name, 'out', status=3, cwd=folder)
        weft('export', '--to', 'ctf', 'missing', 'out', status=3, cwd=folder)
        weft('export', '--to', 'ctf', '.', 'out', status=3, cwd=folder)
        equal(listing(folder), ['empty', 'foreign'])


@case
def a_directory_with_other_files_is_left_alone():
    with temporary_directory() as folder:
        for name in ('notes.txt', 'metadata'):
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
                file.write('/* CTF 1.8 */ mine\n')
            for options in ([], ['--force']):
                result = weft('export', *options, '--to', 'ctf', SAMPLES[0], folder, status=1)
                assert 'not empty' in result.stderr, result.stderr
                equal(listing(folder), [name])
            os.unlink(os.path.join(folder, name))


@case
def an_earlier_export_is_replaced_only_by_force():
    with temporary_directory() as folder:
        weft('export', '--to', 'ctf', SAMPLES[0], folder)
        result = weft('export', '--to', 'ctf', SAMPLES[1], folder, status=1)
        assert '--force' in result.stderr, result.stderr
        equal(len(read_with_bt2(folder)[0]), 2954)
        with open(os.path.join(folder, 'thread_7'), 'wb') as stale:
            stale.write(b'stale')
        weft('export', '--force', '--to', 'ctf', SAMPLES[1], folder)
        equal(listing(folder), ['metadata', 'thread_0'])
        equal(len(read_with_bt2(folder)[0]), 3915)


@case
def an_interrupted_export_does_not_stand_in_the_way():
    with temporary_directory() as folder:
        os.mkdir(os.path.join(folder, '.weft-part'))
        for name in ('thread_0', 'metadata'):
            with open(os.path.join(folder, '.weft-part', name), 'wb') as half:
                half.write(b'half')
        weft('export', '--to', 'ctf', SAMPLES[0], folder)
        equal(listing(folder), ['metadata', 'thread_0'])
        equal(len(read_with_bt2(folder)[0]), 2954)


@case
def the_input_is_never_overwritten():
    with temporary_directory() as folder:
        out = os.path.join(folder, 'out')
        os.mkdir(out)
        trace = os.path.join(out, 'thread_0')
        shutil.copy(SAMPLES[0], trace)
        for name in (trace, os.path.join(folder, 'link')):
            if name != trace:
                os.symlink(trace, name)
            result = weft('export', '--force', '--to', 'ctf', name, out, status=1)
            assert 'refusing to overwrite' in result.stderr, result.stderr
        weft('export', '--force', '--to', 'ctf', trace, trace, status=1)
        with open(trace, 'rb') as kept, open(SAMPLES[0], 'rb') as original:
            equal(kept.read() == original.read(), True)


@case
def directories_that_cannot_be_written_are_reported():
    with temporary_directory() as folder:
        result = weft('export', '--to', 'ctf', SAMPLES[0], os.path.join(folder, 'no', 'such'), status=1)
        assert 'No such file or directory' in result.stderr, result.stderr
        weft('export', '--to', 'ctf', SAMPLES[0], '/proc/weft', status=1)
        equal(listing(folder), [])


@case
def a_full_disk_leaves_nothing():
    # A limit on file sizes makes writes fail as on a full disk.
    limited = 'trap "" XFSZ; ulimit -f 100; exec "$0" "$@"'
    for forced in ([], ['--force']):
        with temporary_directory() as folder:
            if forced:
                weft('export', '--to', 'ctf', SAMPLES[0], folder)
            trace = os.path.join(folder, '..', os.path.basename(folder) + '.trace')
            try:
                with open(trace, 'wb') as file:
                    file.write(mirage([(i, 'label', 1, 'x' * 1000) for i in range(1000)]))
                before = listing(folder)
                result = run(['sh', '-c', limited, WEFT, 'export', *forced, '--to', 'ctf', trace, folder])
            finally:
                os.unlink(trace)
            equal(result.returncode, 1, result.stderr)
            assert 'File too large' in result.stderr, result.stderr
            equal(listing(folder), before)
            if forced:
                equal(len(read_with_bt2(folder)[0]), 2954)


@case
def standard_input_is_a_trace():
    with temporary_directory() as folder:
        with open(SAMPLES[1], 'rb') as sample:
            subprocess.run([WEFT, 'export', '--to', 'ctf', '-', folder], stdin=sample, check=True)
        equal(len(read_with_bt2(folder)[0]), 3915)


main()
