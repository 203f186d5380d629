# SPDX-License-Identifier: ISC
"""weft agent: totals that go on over the ends of programs and agents, and count nothing twice."""
import contextlib
import functools
import hashlib
import os
import signal
import sqlite3
import subprocess
import time

import agent_host
from agent_host import PLAIN, TYPED
from harness import BUILD, WEFT, build_option, case, equal, json_lines, main, run, skip, temporary_directory, weft
from waiting import status_of, wait_until

FAULTS = os.path.join(BUILD, 'tests', 'agent-faults')
FULL = os.path.join(BUILD, 'tests', 'agent-full.so')


host = functools.partial(agent_host.host, subject=PLAIN, records=False)


@case
def totals_go_on_when_programs_are_killed():
    with host() as it:
        it.dead('requests 5')
        it.dead('requests 7', 'errors 1')
        lives = it.program('requests 100')
        it.look()
        equal(it.totals(), {'requests': 112, 'errors': 1})
        equal(len(it.files()), 1, 'the file of the program that lives')
        it.tell(lives, 'requests 1')
        it.look()
        it.look()
        equal(it.totals()['requests'], 113)
        it.kill(lives)
        it.look()
        equal(it.totals()['requests'], 113)
        equal(it.files(), [])
        it.look()
        equal(it.ask('SELECT * FROM seen'), [])
        equal(it.ask('SELECT * FROM regions'), [])


@case
def each_process_counts_once_after_fork():
    with host() as it:
        program = it.program('requests 2')
        it.look()
        program.stdin.write('fork\n')
        program.stdin.flush()
        program.stdout.readline()
        it.tell(program, 'requests 5')
        it.look()
        equal(it.totals(), {'requests': 7})


@case
def metrics_with_labels_go_on_too():
    with host() as it:
        for run_ in (1, 2):
            program = it.program('acme 1 5', 'acme 2 7', 'bolt 1 100', 'took acme 1000000', 'took acme 3000000', 'level 4', subject=TYPED)
            equal(len(it.files()), 2 * run_)
            it.kill(program)
        it.look()
        equal(it.files(), [])
        equal(dict(it.ask("SELECT labels, total FROM totals WHERE metric = 'bytes' AND type = 'counter' AND unit = 'bytes' AND is_billable")),
              {'{}': 224, '{"customer":"acme"}': 24, '{"customer":"bolt"}': 200, '{"customer":"acme","vm":"1"}': 10,
               '{"customer":"acme","vm":"2"}': 14, '{"customer":"bolt","vm":"1"}': 200})
        equal(it.ask("SELECT part, total FROM totals WHERE metric = 'latency' AND labels <> '{}' AND part = 'sum'"), [('sum', 8000000)])
        equal([total for total, in it.ask("SELECT total FROM totals WHERE metric = 'latency' AND labels <> '{}' AND part LIKE 'le:%'"
                                          ' AND bound >= 1e6 AND bound < 1e7')], [2, 2])
        equal(it.ask("SELECT * FROM totals WHERE metric = 'level'"), [])
        equal(it.ask('SELECT * FROM incidents'), [])


@case
def values_of_different_units_are_not_added():
    with host() as it:
        it.kill(it.program('acme 1 5', subject=TYPED))
        it.look()
        with contextlib.closing(sqlite3.connect(it.data)) as database:
            database.execute("UPDATE series SET scale = 3 WHERE labels = '{}'")
            database.commit()
        it.kill(it.program('acme 1 5', subject=TYPED))
        assert 'another type or unit' in it.look().stderr
        equal(dict(it.ask("SELECT labels, total FROM totals WHERE metric = 'bytes'")),
              {'{}': 5, '{"customer":"acme"}': 10, '{"customer":"acme","vm":"1"}': 10})
        with contextlib.closing(sqlite3.connect(it.data)) as database:
            database.execute("INSERT INTO series SELECT id + 100, user, 'other', metric, labels, part, bound, type, unit, 6, help, is_billable FROM series")
            database.commit()
        lines = json_lines(weft('metrics', 'bytes', '--over', '1h', '--json', '--data', it.data).stdout)
        equal([(line['amount'], line['unit']) for line in lines], [(5000, 'bytes'), (0, 'bytes')])


@case
def metrics_without_a_file_are_found_too():
    with host() as it:
        it.env['WEFT_AGENT'] = 'none'
        name = 'only-%d' % os.getpid()
        lives = it.program(name + ' 1 5', subject=TYPED)
        agent = subprocess.Popen([WEFT, 'agent', '--folder', it.folder, '--data', it.data], stderr=subprocess.PIPE, text=True)
        it.running.append(agent)

        def total():
            return os.path.exists(it.data) and tables(it) and it.ask("SELECT total FROM totals WHERE labels LIKE '%%%s\"}'" % name)
        wait_until('it is found', lambda: total() == [(5,)], agent)
        it.kill(lives)


@case
def a_program_under_weft_record_counts_once():
    with host() as it:
        env, name = it.env, 'only-%d' % os.getpid()  # this agent sees the programs of other tests, too
        for agent, files in (it.folder, 1), ('none', 0):
            it.env = dict(env, WEFT_AGENT=agent)
            program = it.program(name + ' 7', command=(WEFT, 'record', '-o', '%s/%d.weft' % (it.outer, files), '--'))
            equal(len(it.files()), files)
            it.env = env
            watcher = subprocess.Popen([WEFT, 'agent', '--folder', it.folder, '--data', it.data], stderr=subprocess.DEVNULL, env=env)
            it.running.append(watcher)
            sql = "SELECT total FROM totals WHERE metric = '%s'" % name
            wait_until('it is counted', lambda: os.path.exists(it.data) and tables(it) and sum(row[0] for row in it.ask(sql)) == 7 * (2 - files), watcher)
            it.end(program)
            watcher.send_signal(signal.SIGTERM)
            equal(status_of(watcher), 0)
            equal(it.ask(sql), [(7 * (2 - files),)])


def files_called(it, suffix):
    return len([name for name in it.files() if name.endswith(suffix)])


def trace_of_a_counted_program(lines, kept):
    """Kills a recorded program, and lets an agent count it before `weft record` saves it: its metrics in the trace."""
    with host(subject=os.path.join(BUILD, 'tests', 'metric-types-subject')) as it:
        traces = os.path.join(it.outer, 'traces')
        os.mkdir(traces)
        record = it.program(command=(WEFT, 'record', '-o', traces, '--'))
        with open('/proc/%d/task/%d/children' % (record.pid, record.pid), encoding='ascii') as children:
            pid = int(children.read())
        for line in lines:
            record.stdin.write(line + '\n')
            record.stdin.flush()
            if line == 'fork':
                pid = int(record.stdout.readline())
            equal(record.stdout.readline().rstrip('\n'), line)
        equal(files_called(it, '.kept'), kept)
        os.kill(record.pid, signal.SIGSTOP)
        os.kill(pid, signal.SIGKILL)
        wait_until('they are counted', lambda: it.look() and files_called(it, '.metrics') == 0)
        equal((files_called(it, '.kept'), it.totals()), (kept, {'tcp_acked': 21}))
        os.kill(record.pid, signal.SIGCONT)
        it.running.remove(record)
        record.communicate()
        equal(files_called(it, '.kept'), 0)
        return [(line['counter'], line['value']) for line in json_lines(weft('metrics', '--json', traces).stdout) if line['pid'] == pid]


@case
def a_trace_has_metrics_that_the_agent_has_counted_and_removed():
    equal(trace_of_a_counted_program(['mark', 'open 3', 'acked eu acme 7'], 1), [('open/streams', 3), *3 * [('tcp_acked', 7)]])


@case
def so_has_that_of_a_forked_child():
    """It makes its ring when it records, after its metrics."""
    equal(trace_of_a_counted_program(['open 9', 'fork', 'acked eu acme 7', 'mark', 'open 3'], 2), [('open/streams', 3), *3 * [('tcp_acked', 7)]])


@case
def nothing_is_lost_or_counted_twice_at_any_system_call():
    if build_option('b_sanitize') != 'none':
        skip('under ptrace the leak detector of the sanitizer fails')
    with host() as it:
        lives, truth, calls, last = it.program(), 0, 0, 0
        status = 9
        while status == 9:
            calls += 1
            it.dead('requests 3')
            it.tell(lives, 'requests 2')
            truth += 5
            result = run([FAULTS, calls, WEFT, *it.command('--once')], env=it.env)
            status = result.returncode
            assert status in (0, 9), (calls, result.stderr)
            now = it.totals().get('requests', 0) if os.path.exists(it.data) and os.path.getsize(it.data) and tables(it) else 0
            assert last <= now <= truth, (calls, last, now, truth)
            it.look()
            last = it.totals()['requests']
            equal(last, truth, 'killed at call %d' % calls)
            equal(len(it.files()), 1, 'files after call %d' % calls)
        assert calls > 100, calls


def tables(it):
    return it.ask("SELECT name FROM sqlite_master WHERE name = 'totals'")


@case
def a_full_disk_delays_totals_and_spoils_none():
    if build_option('b_sanitize') != 'none':
        skip('the sanitizer has to be loaded first')
    for ever in ({}, {'FULL_FOR_EVER': '1'}):
        with host() as it:
            lives, truth, failed = it.program(), 0, True
            for call in range(1, 1000):
                it.dead('requests 3')
                it.tell(lives, 'requests 2')
                truth += 5
                result = run([WEFT, *it.command('--once')], env=dict(it.env, LD_PRELOAD=FULL, FULL_AT=str(call), **ever))
                assert result.returncode in (0, 1), (call, result.returncode, result.stderr)
                failed = result.returncode == 1
                it.look()
                equal(it.totals(), {'requests': truth}, 'full at call %d' % call)
                equal(len(it.files()), 1)
                if not failed and call > 20:
                    break
            assert not failed, 'each call failed'


@case
def an_agent_that_runs_ends_by_a_signal_with_the_last_values():
    with host() as it:
        lives = it.program('requests 1')
        agent = it.agent()
        wait_until('it looks', lambda: os.path.exists(it.data) and tables(it) and it.totals(), agent)
        it.dead('requests 10')
        wait_until('it counts the dead', lambda: it.totals()['requests'] == 11, agent)
        it.tell(lives, 'requests 100')
        agent.send_signal(signal.SIGTERM)
        equal(status_of(agent), 0)
        equal(it.totals(), {'requests': 111})
        equal(it.said(), '')


@case
def an_agent_that_was_killed_goes_on():
    with host() as it:
        agent = it.agent()
        it.dead('requests 10')
        wait_until('it counts', lambda: os.path.exists(it.data) and tables(it) and it.totals() == {'requests': 10}, agent)
        agent.kill()
        agent.wait()
        it.dead('requests 10')
        agent = it.agent()
        wait_until('the next one counts', lambda: it.totals() == {'requests': 20}, agent)


@case
def two_agents_do_not_share_a_folder_or_a_database():
    with host() as it, temporary_directory() as other:
        agent = it.agent()
        wait_until('it looks', lambda: os.path.exists(it.data) and tables(it), agent)
        assert 'another agent' in it.look(status=1).stderr
        assert 'another agent' in weft('agent', '--once', '--folder', it.folder, '--data', other + '/d', status=1).stderr
        assert 'another agent' in weft('agent', '--once', '--folder', other + '/f', '--data', it.data, status=1).stderr


@case
def what_goes_back_is_not_in_the_ledger():
    with host() as it:
        lives = it.program('queue 7', 'requests 2')
        it.look()
        equal(it.totals(), {'queue': 7, 'requests': 2})
        it.tell(lives, 'queue -3')
        assert '"queue" went back' in it.look().stderr
        equal(it.totals(), {'requests': 2})
        equal(it.ask("SELECT type FROM series WHERE metric = 'queue'"), [('gauge',)])
        equal(it.ask("SELECT value FROM samples WHERE metric = 'queue' ORDER BY time DESC LIMIT 1"), [(4.0,)])
        assert 'went back' in it.ask('SELECT what FROM incidents')[0][0]


@case
def hostile_files_are_named_and_not_counted():
    with host() as it:
        it.dead('requests 4')
        name, = it.files()
        with open(os.path.join(it.folder, name), 'rb') as file:
            content = file.read()
        forged = {'0' * 31 + '1': content,                       # a copy under another name
                  '0' * 31 + '2': content[:5000],                # cut off
                  '0' * 31 + '3': b'',
                  '0' * 31 + '4': b'\xff' * len(content)}
        for stem, bytes_ in forged.items():
            with open(os.path.join(it.folder, stem + '.counters'), 'wb') as file:
                file.write(bytes_)
        os.mkfifo(os.path.join(it.folder, '0' * 31 + '5.counters'))
        os.symlink('/etc/passwd', os.path.join(it.folder, '0' * 31 + '6.counters'))
        os.mkdir(os.path.join(it.folder, '0' * 31 + '7.counters'))
        errors = it.look().stderr
        for words in ("another file's name", 'too short', 'does not begin like counters'):
            assert words in errors, errors
        equal(it.totals(), {'requests': 4})
        equal(len(it.files()), 7)
        equal(len(it.ask('SELECT * FROM incidents')), 4)


@case
def users_have_totals_of_their_own():
    if os.geteuid() != 0:
        skip('only root can give a file to another user')
    with host() as it:
        it.dead('requests 4')
        os.chown(os.path.join(it.folder, *it.files()), 65534, 65534)
        it.dead('requests 5')
        it.look()
        equal(it.ask('SELECT user, total FROM totals ORDER BY user'), [(0, 5), (65534, 4)])


@case
def counters_without_a_file_are_found_too():
    with host() as it:
        it.env['WEFT_AGENT'] = 'none'
        lives = it.program('requests 4', 'only/%d 1' % os.getpid())
        equal(it.files(), [])
        agent = subprocess.Popen([WEFT, 'agent', '--folder', it.folder, '--data', it.data], stderr=subprocess.PIPE, text=True)
        it.running.append(agent)

        def total():
            return os.path.exists(it.data) and tables(it) and it.totals().get('only/%d' % os.getpid())
        wait_until('it is found', lambda: total() == 1, agent)
        it.tell(lives, 'only/%d 2' % os.getpid())
        it.kill(lives)
        wait_until('its last value is known', lambda: total() == 3, agent)


@case
def a_file_that_somebody_removed_leaves_its_last_value():
    with host() as it:
        lives = it.program('requests 4')
        it.look()
        os.unlink(os.path.join(it.folder, *it.files()))
        assert 'removed by somebody else' in it.look().stderr
        it.kill(lives)
        equal(it.totals(), {'requests': 4})


@case
def windows_of_time():
    with host() as it:
        program = it.program('acme 1 5', 'acme 2 7', 'bolt 1 100', 'took acme 1000000', 'took acme 3000000', 'level 4', subject=TYPED)
        it.look()
        it.tell(program, 'level 9', 'level 6')
        it.look()

        def ask(*arguments, status=0):
            return json_lines(weft('metrics', *arguments, '--json', '--data', it.data, status=status).stdout)
        line, = ask('bytes', '--over', '1h')
        equal([line['amount'], line['known_to_s']], [112, 1])
        equal({line['group']: line['amount'] for line in ask('bytes', '--since', 'midnight', '--by', 'customer')}, {'acme': 12, 'bolt': 100})
        equal({line['group']: line['amount'] for line in ask('bytes', '--over', '1d', '--by', 'vm')}, {'1': 105, '2': 7})
        equal([line['group'] for line in ask('bytes', '--over', '1d', '--by', 'program')], ['agent-subject'])
        line, = ask('latency', '--over', '5m', '--by', 'customer')
        equal([line['group'], line['count'], line['average']], ['acme', 2, 0.002])
        assert 0.001 <= line['p50'] < 0.0011 and 0.003 <= line['p99'] < 0.0033, line
        line, = ask('level', '--over', '5m')
        equal(line['value'], 6)
        equal(ask('nothing', '--over', '5m', status=1), [])
        text = weft('metrics', 'bytes', '--over', '5m', '--data', it.data).stdout
        assert 'known to 1 s; the agent has looked since' in text and 'amount 112' in text, text
        assert 'no agent has looked since' in weft('metrics', 'bytes', '--since', '@9000000000', '--data', it.data, status=1).stderr
        for wrong in (['--since', '2026-02-31'], ['--since', '2026-00-10'], ['--since', '2026-01-00'], ['--over', '5'], ['--over', '0m'], ['--since', 'noon'], ['--since', '24:00'], ['--over', '1m', '--since', '@1'], ['--by', 'x']):
            weft('metrics', 'bytes', *wrong, status=2)
        weft('metrics', '--over', '5m', status=2)
        weft('metrics', 'x', '--over', '5m', '--data', it.data + '.none', status=3)


@case
def the_largest_value_of_a_window_leads_to_its_moment():
    with host() as it:
        began = time.time()
        program = it.program('took acme 1000000', 'took bolt 7000000', 'took acme 3000000', subject=TYPED)
        it.look()

        def ask(*arguments):
            found = json_lines(weft('metrics', 'latency', '--over', '1h', '--json', '--data', it.data, *arguments).stdout)
            return {line.get('group'): line.get('exemplar') for line in found}
        largest = ask()[None]
        equal((largest['value'], largest['task'], largest['pid']), (0.007, None, program.pid))
        assert abs(began - largest['unix']) < 3000 and largest['time'] > 0, (began, largest)
        equal({group: line['value'] for group, line in ask('--by', 'customer').items()}, {'acme': 0.003, 'bolt': 0.007})
        assert 'like 0.007 at 2' in weft('metrics', 'latency', '--over', '1h', '--data', it.data).stdout
        it.look()  # it is not a new one
        rows = it.ask("SELECT DISTINCT resolution, labels, value FROM exemplars WHERE metric = 'latency'")
        equal(set(rows), {(r, '{"customer":"%s"}' % c, v) for r in (60, 3600) for c, v in (('acme', 3000000), ('bolt', 7000000))})
        it.kill(program)
        it.look()
        equal(ask()[None], largest)
        later = json_lines(weft('metrics', 'latency', '--since', '@%d' % (largest['unix'] + 1), '--json', '--data', it.data, status=None).stdout)
        equal([line for line in later if 'exemplar' in line], [])


@case
def the_export_is_a_chain():
    with host() as it:
        it.dead('requests 4', 'a,"b" 1')
        it.look()
        lines = weft('agent', 'ledger', '--data', it.data).stdout.splitlines()
        equal(lines[0], 'number,time,user,program,metric,labels,part,amount,total,state,hash')
        before = '0' * 64
        for line in lines[1:]:
            entry, state, own = line.rsplit(',', 2)
            before = hashlib.sha256(('%s\n%s\n' % (before, entry)).encode()).hexdigest()
            equal([state, own], ['open', before])
        entries = json_lines(weft('agent', 'ledger', '--json', '--data', it.data).stdout)
        equal({entry['metric']: entry['total'] for entry in entries}, {'requests': 4, 'a,"b"': 1})
        equal(entries[-1]['hash'], before)


@case
def a_changed_entry_is_noticed():
    with host() as it:
        it.dead('requests 4')
        it.look()
        with contextlib.closing(sqlite3.connect(it.data)) as database:
            database.execute("INSERT INTO entries VALUES (1, 0, 1, 4, 4, ?)", ('0' * 64,))
            database.commit()
        assert 'entry 1 does not fit' in weft('agent', 'ledger', '--data', it.data, status=1).stderr


@case
def what_cannot_be_used_is_refused():
    with temporary_directory() as outer:
        folder, data = os.path.join(outer, 'f'), os.path.join(outer, 'd')
        os.mkdir(folder)
        os.chmod(folder, 0o777)
        assert 'sticky' in weft('agent', '--once', '--folder', folder, '--data', data, status=1).stderr
        with open(data, 'w', encoding='utf-8') as file:
            file.write('this is not a database' * 100)
        assert 'not a database' in weft('agent', '--once', '--folder', outer + '/g', '--data', data, status=1).stderr
        wrong = weft('agent', '--once', '--folder', outer + '/g', '--data', outer + '/new', '--http', '127.0.0.1:0', '--tokens', outer + '/no', status=1)
        assert '--tokens' in wrong.stderr, wrong.stderr
        assert not os.path.exists(outer + '/g'), 'programs would put their counters there'
        weft('agent', '--once', '--folder', outer + '/g', '--data', outer + '/new')
        equal(os.stat(outer + '/g').st_mode & 0o7777, 0o1733 if os.geteuid() == 0 else 0o700)
        weft('agent', '--every', '1ms', status=2)
        weft('agent', 'x', status=2)
        weft('agent', 'ledger', '--data', outer + '/none', status=3)
        weft('agent', 'ledger', 'x', status=2)
        other = os.path.join(outer, 'other')
        with contextlib.closing(sqlite3.connect(other)) as database:
            database.execute('PRAGMA user_version = 77')
        assert 'another version' in weft('agent', '--once', '--folder', outer + '/g', '--data', other, status=1).stderr


@case
def the_kernels_delay_of_each_program_is_in_the_history():
    with host() as it:
        first, second = it.program('level 3'), it.program('level 4')
        agent = it.agent()
        it.looks(agent)
        wait_until('the delay', lambda: it.ask("SELECT value FROM samples WHERE metric = 'weft_run_queue_seconds'"), agent, seen=it.said)
        (program, kind, unit, scale), = it.ask("SELECT DISTINCT program, type, unit, scale FROM samples WHERE metric = 'weft_run_queue_seconds'")
        equal((program, kind, unit, scale), (os.path.basename(it.subject), 'gauge', 'seconds', -9))
        for program in first, second:
            it.kill(program)
        it.looks(agent, 2)   # they are gone, and so are their regions
        equal(it.ask('SELECT count(*) FROM regions WHERE ended IS NULL'), [(0,)], it.said())


main()
