# SPDX-License-Identifier: ISC
"""weft query and weft export --to sqlite: the tables hold what `weft dump --json` prints."""
import csv
import io
import json
import os
import pty
import re
import shutil
import signal
import sqlite3
import subprocess

from harness import BUILD, SOURCE, WEFT, case, equal, json_lines, main, run, temporary_directory, weft
from queried import TRACES, each_trace, has_sqlite, query, recorded, same_rows, without

TASKS = """SELECT t.id AS task, t.kind, t.category, t.label, p.id AS parent, t.start, t.end, t.created, t.outcome, t.failed, b.id AS becomes,
    t.running, CASE WHEN t.off_cpu > 0 THEN t.off_cpu END AS off_cpu,
    (SELECT count(*) FROM activations a WHERE a.task = t.task) AS activations, t.resolved, t.expected, t.process
    FROM tasks t LEFT JOIN tasks p ON p.task = t.parent LEFT JOIN tasks b ON b.task = t.becomes"""


def creations(traces):
    """{(process, id): times} of the events that create tasks."""
    times = {}
    for event in json_lines(weft('dump', '--json', *traces).stdout):
        if event['event'] == 'create':
            times.setdefault((event.get('buffer', 0), event['child']), []).append(event['time'])
    return times


@case
def tasks_are_those_of_dump():
    """A task starts when it is created, or runs before that is recorded. If the trace lacks that event, dump may know the time."""
    has_sqlite()
    given = 0
    for traces in each_trace(with_part=True):
        created, rows = creations(traces), []
        for row in json_lines(weft('dump', '--json', '--tasks', '--no-simplify', *traces).stdout):
            process = row.get('buffer', 0)
            given += 'created' in row
            row.update(resolved=int(row['resolved']), expected=int(row['expected']), process=process)
            if any(row['start'] <= time <= row['end'] for time in created.get((process, row['task']), [])):
                row['created'] = row['start']
            rows.append(without(row, 'row', 'buffer'))
        same_rows([without(row) for row in query(TASKS, *traces)], rows)
    assert given


EDGES = """SELECT e.time, e.type AS edge, f.id AS "from", t.id AS "to", e.sent FROM edges e LEFT JOIN tasks f ON f.task = e.from_task
    JOIN tasks t ON t.task = e.to_task"""


@case
def edges_are_those_of_dump():
    has_sqlite()
    for traces in each_trace():
        expected = [without(row, 'process', 'buffer', 'from_process', 'from_buffer')
                    for row in json_lines(weft('dump', '--json', '--edges', *traces).stdout)]
        assert expected
        same_rows([without(row) for row in query(EDGES, *traces)], expected)


SPANS = """SELECT s.name AS span, t.id AS task, s.start, s.end, s.depth, s.at_most, t.process FROM spans s JOIN tasks t USING (task)"""


@case
def spans_are_those_of_dump():
    has_sqlite()
    for traces in each_trace():
        # Those of a thread are in the table by the track that the thread has.
        dumped = [row for row in json_lines(weft('dump', '--json', '--spans', *traces).stdout) if row['task'] is not None]
        expected = [{'span': row['span'], 'task': row['task'], 'start': row['start'], 'end': row['end'], 'depth': row['depth'],
                     'at_most': int(row.get('at_most', False)), 'process': row.get('buffer', 0)} for row in dumped]
        same_rows(query(SPANS + " WHERE t.id >> 32 <> (1 << 20) + 1", *traces), expected)


@case
def counters_are_the_sums_of_their_events():
    has_sqlite()
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'echo.weft')
        with open(trace, 'wb') as file:
            file.write(recorded())
        values, samples = {}, []
        for event in json_lines(weft('dump', '--json', trace).stdout):
            if event['event'] == 'counter':
                values[event['name']] = values.get(event['name'], 0) + event['add']
                samples.append({'time': event['time'], 'name': event['name'], 'value': values[event['name']]})
        assert len(samples) > 50, samples
        same_rows(query('SELECT time, name, value FROM samples JOIN counters USING (counter)', trace), samples)
        for row in query('SELECT name, samples, min, max FROM counters', trace):
            own = [sample['value'] for sample in samples if sample['name'] == row['name']]
            equal((row['samples'], row['max']), (len(own), max(own)))


TYPES = {'i64': int, 'u64': int, 'double': float, 'string': str, 'bool': bool}


@case
def attributes_are_the_fields_of_marks_and_the_tags():
    has_sqlite()
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'every.weft')
        run([os.path.join(BUILD, 'tests', 'every_event'), trace])
        expected = []
        for event in json_lines(weft('dump', '--json', trace).stdout):
            fields = event.get('fields', {})
            if event['event'] == 'tag' and 'value' in event:
                fields = {event['text']: event['value']}
            if event.get('task') is not None:
                expected += [{'time': event['time'], 'id': event['task'], 'key': key, 'value': value} for key, value in fields.items()]
        assert {type(row['value']) for row in expected} == set(TYPES.values()), expected
        rows = query('SELECT time, id, key, type, value FROM attributes JOIN tasks USING (task)', trace)
        for row in rows:
            row['value'] = TYPES[row.pop('type')](row['value'])
        same_rows(rows, expected)
        for key in ('note', '+note'):
            equal([row['n'] for row in query('SELECT count(*) AS n FROM notes JOIN attributes ON %s = notes.rowid' % key, trace)], [len(rows)])


@case
def rows_of_a_task_are_found_and_scanned_alike():
    """The index gives what a scan gives: `+task` has no index."""
    has_sqlite()
    for traces in each_trace():
        for table in ('activations', 'notes', 'spans', 'off_cpu', 'tasks'):
            for task in (0, 1, 5, 100000, -1, "'x'", '1.0', '1.5', 'NULL'):
                found, scanned = (query('SELECT * FROM %s WHERE %stask = %s' % (table, sign, task), *traces) for sign in ('', '+'))
                equal(found, scanned, (table, task))
            equal(query('SELECT * FROM %s WHERE rowid = 1' % table, *traces),
                  query('SELECT * FROM %s LIMIT 1 OFFSET 1' % table, *traces))


@case
def each_question_of_the_manual_page_is_answered():
    has_sqlite()
    with open(os.path.join(SOURCE, 'man', 'weft-query.1.scd'), encoding='utf-8') as file:
        questions = [sql.replace('\\', '') for sql in re.findall(r'^\t(SELECT .*)$', file.read(), re.MULTILINE)]
    equal(len(questions), 21)
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'echo.weft')
        with open(trace, 'wb') as file:
            file.write(recorded())
        answers = [query(sql, trace) for sql in questions]
        assert sum(map(bool, answers)) >= 15, [sql for sql, answer in zip(questions, answers) if not answer]


@case
def output_is_text_csv_or_json():
    has_sqlite()
    sql = "SELECT 1 AS one, 'a,\"b\"' AS text, NULL AS none, 2.5 AS real, 'é' || char(27) AS shown"
    text = weft('query', TRACES[0], sql).stdout
    equal(text.splitlines(), ['one  text   none  real  shown', '  1  a,"b"         2.5  é\\x1b'])
    rows = list(csv.reader(io.StringIO(weft('query', '--csv', TRACES[0], sql).stdout)))
    equal(rows, [['one', 'text', 'none', 'real', 'shown'], ['1', 'a,"b"', '', '2.5', 'é\x1b']])
    equal(query(sql, TRACES[0]), [{'one': 1, 'text': 'a,"b"', 'none': None, 'real': 2.5, 'shown': 'é\x1b'}])
    long = weft('query', TRACES[0], "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i, 'x' FROM n").stdout
    equal([line.split() for line in long.splitlines()[1:]], [[str(i), 'x'] for i in range(1, 3001)])


@case
def columns_fit_all_rows_and_not_only_the_last():
    """The widest cell is not the last, and one column has a number after a text, the other one a text after a number."""
    has_sqlite()
    sql = "VALUES ('a wide text', 1, 'x'), ('b', 'y', 2), ('c', 3, 4)"
    equal(weft('query', TRACES[0], sql).stdout.splitlines()[1:],
          ['a wide text  1        x', 'b            y        2', 'c            3        4'])


@case
def functions_count_as_their_definition_says():
    has_sqlite()
    values = "WITH v(x) AS (VALUES (40), (10), (NULL), (30), (20), (20)) SELECT percentile(x, %s) AS p FROM v"
    got = [query(values % percent, TRACES[0])[0]['p'] for percent in (0, 20, 20.1, 40, 60, 61, 100)]
    equal(got, [10, 10, 20, 20, 20, 30, 40])
    equal(query('SELECT percentile(x, 50) AS p FROM (SELECT 1 AS x) WHERE x > 1', TRACES[0]), [{'p': None}])
    many = 'WITH RECURSIVE n(x) AS (SELECT 1000 UNION ALL SELECT x - 1 FROM n WHERE x > 1) SELECT percentile(x / 2.0, 99.9) AS p FROM n'
    equal(query(many, TRACES[0]), [{'p': 499.5}])
    equal(query("SELECT duration(1200000) AS a, duration(-5) AS b, duration(0) AS c, duration(NULL) AS d", TRACES[0]),
          [{'a': '1.2 ms', 'b': '-5 ns', 'c': '0 ns', 'd': None}])


@case
def numbers_that_no_row_has():
    has_sqlite()
    for table in ('tasks', 'activations', 'edges', 'counters', 'processes'):
        for condition in ('rowid = (SELECT count(*) FROM %s)', 'rowid = (SELECT count(*) FROM %s) - 1', 'rowid = -1', 'rowid = 0'):
            sql = 'SELECT count(*) AS n FROM %s WHERE ' % table + condition.replace('%s', table)
            rows = query('SELECT count(*) AS n FROM ' + table, TRACES[0])[0]['n']
            equal(query(sql, TRACES[0]), [{'n': int(rows > 0 and 'rowid = -1' not in condition and not condition.endswith('%s)'))}], sql)


@case
def statements_after_a_mistake_are_not_run():
    has_sqlite()
    equal(weft('query', '--csv', TRACES[0], 'SELECT 1 AS a; SELECT x FROM none_such; SELECT 2 AS b', status=1).stdout, 'a\n1\n')


@case
def statements_come_from_standard_input():
    has_sqlite()
    result = run([WEFT, 'query', '--csv', TRACES[0]], input='SELECT 1; -- one\nSELECT 2')
    equal((result.returncode, result.stdout.split()), (0, ['1', '1', '2', '2']))


def shown_until(terminal, words=None):
    """All that a terminal shows until some words; None: until the other end is closed."""
    shown = b''
    while words is None or words not in shown:
        try:
            shown += os.read(terminal, 4096)
        except OSError:
            break
    return shown


@case
def a_prompt_goes_on_after_a_mistake():
    has_sqlite()
    ours, theirs = pty.openpty()
    with subprocess.Popen([WEFT, 'query', TRACES[0]], stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        os.write(ours, b'SELECT none_such;\n.tables\nSELECT 40\n+ 2;\n.quit\n')
        shown = shown_until(ours)
        equal(process.wait(), 0)
    os.close(ours)
    for words in (b'no such column: none_such', b'activations: when a task ran', b'...>', b'\n    42\r'):
        assert words in shown, shown


@case
def a_prompt_goes_on_after_an_interrupt():
    has_sqlite()
    ours, theirs = pty.openpty()
    with subprocess.Popen([WEFT, 'query', TRACES[0]], stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown_until(ours, b'weft> ')
        for _ in range(2):
            os.write(ours, b'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r;\n')
            shown_until(ours, b'99')
            process.send_signal(signal.SIGINT)
            shown_until(ours, b'weft> ')
            os.write(ours, b'SELECT 40\n')
            shown_until(ours, b'...> ')
            process.send_signal(signal.SIGINT)
            shown_until(ours, b'weft> ')
        os.write(ours, b'SELECT 42;\n.quit\n')
        assert b'\n42\r\n42\r' in shown_until(ours)  # title and row
        equal(process.wait(), 0)
    os.close(ours)


@case
def mistakes_are_named():
    has_sqlite()
    for arguments, status, words in (([TRACES[0], 'SELECT x FROM tasks'], 1, 'no such column: x; `weft query --tables` lists them'),
                                     ([TRACES[0], 'SELEC 1 '], 1, 'syntax error'),
                                     ([TRACES[0], 'SELECT 1; SELECT * FROM none_such'], 1, 'no such table: none_such'),
                                     (['SELECT 1', TRACES[0]], 2, 'a FILE comes before the SQL'),
                                     (['-', ], 2, 'SQL is missing'),
                                     ([], 2, 'FILE'),
                                     (['no-such-file', 'SELECT 1'], 3, 'No such file'),
                                     ([TRACES[0], 'SELECT percentile(id, 101) FROM tasks'], 1, 'a percentage is 0 to 100'),
                                     ([TRACES[0], 'DELETE FROM tasks'], 1, 'may not be modified')):
        result = weft('query', *arguments, status=status)
        assert words in result.stderr, result.stderr


@case
def a_database_file_has_all_tables():
    has_sqlite()
    with temporary_directory() as folder:
        file = os.path.join(folder, 't.db')
        for traces in each_trace():
            weft('export', '--to', 'sqlite', '--force', *traces, file)
            with sqlite3.connect(file) as database:
                names = [name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                equal(sorted(names), sorted(re.findall(r'^(\w+): ', weft('query', '--tables').stdout, re.MULTILINE)))
                for name in names:
                    database.row_factory = sqlite3.Row
                    equal([dict(row) for row in database.execute('SELECT * FROM "%s"' % name)], query('SELECT * FROM ' + name, *traces))
        result = weft('export', '--to', 'sqlite', TRACES[0], file, status=1)
        assert '--force replaces it' in result.stderr, result.stderr
        assert not shutil.os.path.exists(file + '-journal')
        equal(os.listdir(folder), ['t.db'])


main()
