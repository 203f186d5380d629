# SPDX-License-Identifier: ISC
"""weft agent's rules about metrics: they fire once while they hold, take snapshots with the alert inside, and set levels."""
import json
import os
import signal

from agent_host import alert_of, host
from harness import WEFT, case, equal, main, run, skip, temporary_directory, weft
from waiting import status_of, wait_until


def end(it, agent):
    agent.send_signal(signal.SIGTERM)
    equal(status_of(agent), 0, it.said())


@case
def a_value_takes_one_snapshot_while_it_is_above():
    with host() as it:
        program, other = it.program(), it.program()
        it.tell(program, 'level 5')
        agent = it.agent('--rule', 'value(level) > 9 until 3')
        it.looks(agent)
        equal(it.taken(), [])
        it.tell(program, 'level 10')
        wait_until('a snapshot', it.taken, agent, seen=it.said)
        it.tell(program, 'level 5')   # not below 3
        it.looks(agent)
        it.tell(program, 'level 11')
        it.looks(agent)
        equal(len(it.taken()), 1, it.said())
        path, = it.taken()
        row = alert_of(path)
        equal((row['rule'], row['value'], row['task'], row['name']), ('value(level) > 9 until 3', '10', 0, ''))
        assert '/agent-subject-%d.alert-' % program.pid in path, (path, other.pid)
        equal(os.stat(path).st_mode & 0o777, 0o600)
        it.tell(program, 'level 2')
        it.looks(agent)
        it.tell(program, 'level 12')
        wait_until('another snapshot', lambda: len(it.taken()) == 2, agent, seen=it.said)
        end(it, agent)


@case
def a_rate_is_that_of_each_label():
    with host() as it:
        quiet, busy = it.program(), it.program()
        it.tell(quiet, 'calm 1 1')
        it.tell(busy, 'acme 1 1', 'acme 2 1')
        agent = it.agent('--rule', 'rate(bytes by customer) > 1K/s for 1s')
        it.looks(agent)
        while not it.taken():
            it.tell(busy, 'acme 1 100000')
            it.looks(agent, 1)
        path, = it.taken()
        row = alert_of(path)
        assert row['value'].endswith('/s, customer acme'), row
        assert float(row['value'].split('/')[0]) > 1024, row
        assert 'agent-subject-%d.' % busy.pid in path, path
        end(it, agent)


@case
def a_ratio_and_a_quantile():
    with host() as it:
        program = it.program()
        it.tell(program, 'took acme 1000000', 'ok 1 1', 'bad 1 1')
        agent = it.agent('--rule', 'ratio(bytes{customer=bad}, bytes{customer=ok}) > 5', '--rule', 'p99(latency) > 50ms')
        it.looks(agent)
        it.tell(program, 'bad 1 60', 'ok 1 20')
        it.looks(agent)
        equal(it.taken(), [], it.said())
        it.tell(program, 'took acme 80000000')
        wait_until('the quantile', it.taken, agent, seen=it.said)
        equal(alert_of(it.taken()[0])['rule'], 'p99(latency) > 50ms')
        it.tell(program, 'bad 1 60000')
        wait_until('the ratio', lambda: len(it.taken()) == 2, agent, seen=it.said)
        end(it, agent)


@case
def an_agent_that_starts_again_knows_the_cells_of_histograms():
    with host() as it:
        program = it.program()
        it.tell(program, 'took acme 1000000', 'took acme 80000000')
        first = it.agent()
        it.looks(first)
        end(it, first)
        agent = it.agent('--rule', 'p99(latency) > 50ms')
        it.looks(agent)
        it.tell(program, 'took acme 80000000')
        wait_until('the quantile', it.taken, agent, seen=it.said)
        end(it, agent)


@case
def a_limit_that_is_reached_exactly_fires_once():
    with host() as it:
        program = it.program()
        it.tell(program, 'level 10')
        agent = it.agent('--rule', 'value(level) >= 10 until 10')
        it.looks(agent, 4)
        equal(len(it.taken()), 1, it.said())
        end(it, agent)


@case
def a_label_on_several_levels_is_tested_on_each():
    with host() as it:
        program = it.program()
        it.tell(program, 'alone 8 1', 'acme 9 1')
        agent = it.agent('--rule', 'rate(bytes by vm) > 1K/s')
        it.looks(agent)
        for vm, line in ('8', 'alone 8 1000000'), ('9', 'acme 9 1000000'):
            it.tell(program, line)
            wait_until('it fires', lambda: 'vm %s\n' % vm in it.said(), agent, seen=it.said)
        end(it, agent)


@case
def a_file_that_names_a_process_of_another_user_is_not_believed():
    if os.geteuid() != 0:
        skip('only root can give a file to another user')
    with host() as it:
        program = it.program()
        it.tell(program, 'level 10')
        for name in os.listdir(it.outer + '/f'):
            os.chown(os.path.join(it.outer, 'f', name), 12345, -1)
        agent = it.agent('--rule', 'value(level) > 9')
        wait_until('it fires', lambda: 'fired: 10' in it.said(), agent, seen=it.said)
        it.looks(agent)
        equal(it.taken(), [], it.said())


def level_of(it, program):
    out = json.loads(run([WEFT, 'ctl', '--json', program.pid, 'status'], env=it.env).stdout)
    return {c['name']: c['level'] for c in out['categories']}['program']


@case
def rules_that_share_a_category_leave_its_level_as_it_was():
    for first, second in ('info', 'trace'), ('trace', 'trace'):
        for is_first in True, False:
            with host() as it:
                program, other = it.program(), it.program()
                run([WEFT, 'ctl', program.pid, 'set', 'program=error'], env=it.env)
                agent = it.agent('--rule', 'value(level) > 9 set program=' + first, '--rule', 'rate(bytes) > 1K/s set program=' + second)
                it.tell(program, 'level 10', 'acme 1 1')
                wait_until('the first', lambda: level_of(it, program) == first, agent, seen=it.said)
                it.looks(agent)
                while it.said().count('fired') < 2:
                    it.tell(program, 'acme 1 1000000')
                    it.looks(agent, 1)
                wait_until('the second', lambda: level_of(it, program) == second, agent, seen=it.said)
                if is_first:
                    it.tell(program, 'level 1')
                    it.looks(agent)
                end(it, agent)
                equal(level_of(it, program), 'error', (first, second, is_first, other.pid))


@case
def a_level_is_raised_while_the_rule_holds():
    for is_ended in (False, True):
        with host() as it:
            program = it.program()
            agent = it.agent('--rule', 'value(level) > 9 set program=trace')
            it.tell(program, 'level 1')
            it.looks(agent)
            before = level_of(it, program)
            it.tell(program, 'level 10')
            wait_until('it is raised', lambda: level_of(it, program) == 'trace', agent, seen=it.said)
            if is_ended:
                end(it, agent)
            else:
                it.tell(program, 'level 1')
            wait_until('it is as before', lambda: level_of(it, program) == before, seen=it.said)


@case
def the_folder_has_a_limit():
    with host() as it:
        program = it.program()
        agent = it.agent('--rule', 'value(level) > 9', '--most', '2')
        names = []
        for number in range(4):
            it.tell(program, 'level 1')
            it.looks(agent)
            it.tell(program, 'level %d' % (10 + number))
            wait_until('a snapshot', lambda: set(it.taken()) - set(names), agent, seen=it.said)
            names += sorted(set(it.taken()) - set(names))
        equal(it.taken(), names[-2:])
        end(it, agent)
    with host() as it:
        program = it.program()
        agent = it.agent('--rule', 'value(level) > 9', '--most-bytes', '64K')
        it.tell(program, 'level 10')
        wait_until('it says so', lambda: 'larger than all snapshots may be' in it.said(), agent)
        equal(it.taken(), [])


@case
def a_rule_that_watches_nothing_is_said():
    with host() as it:
        program = it.program()
        it.tell(program, 'acme 1 1', 'took acme 5')
        agent = it.agent('--rule', 'value(Bytes) > 1', '--rule', 'rate(nothing) > 1', '--rule', 'value(latency) > 1s',
                         '--rule', 'rate(bytes by nosuch) > 1', '--rule', 'rate(bytes{customer="nobody"}) > 1',
                         '--rule', 'p99(latnecy) > 1s', '--rule', 'value(s) > 1', '--rule', 'rate(bytes) < 0', '--rule', 'rate(bytes) <= 0')
        it.looks(agent)
        said = it.said()
        assert 'rule "value(Bytes) > 1": no program has such a metric so far: "Bytes"; there is "bytes"' in said, said
        assert 'rule "rate(nothing) > 1": no program has such a metric so far: "nothing"\n' in said, said
        assert 'rule "value(latency) > 1s": its metric has another type' in said, said
        assert 'rule "rate(bytes by nosuch) > 1": no program has these labels so far of its metric "bytes"\n' in said, said
        assert 'rule "p99(latnecy) > 1s": no program has such a metric so far: "latnecy"; there is "latency"\n' in said, said
        assert 'rule "value(s) > 1": no program has such a metric so far: "s"\n' in said, said
        assert 'rule "rate(bytes) < 0": it can never fire, because its metric never falls\n' in said, said
        assert 'rule "rate(bytes) <= 0": ' not in said, said
        assert r'rule "rate(bytes{customer=\"nobody\"}) > 1": no program has these labels so far of its metric "bytes"' in said, said


@case
def a_program_that_does_not_record_is_said():
    with host() as it:
        program = it.program(records=False)
        it.tell(program, 'level 10')
        agent = it.agent('--rule', 'value(level) > 9')
        wait_until('it fires', lambda: 'process %d' % program.pid in it.said(), agent, seen=it.said)
        assert 'rule "value(level) > 9" fired: 10\n' in it.said(), it.said()
        equal(it.taken(), [])


@case
def mistakes_have_their_position():
    with temporary_directory() as folder:
        for rule, at, message in (
                ('value(x) = 5', 10, '> or < is expected'), ('size(x) > 5', 1, 'value, rate, ratio'), ('rate(x > 5', 8, 'by, over or ) is expected'),
                ('ratio(x) > 5', 8, ', and a second counter'), ('value(x over 1s) > 5', 9, 'a value has no time'),
                ('rate(x) > 5 until 6', 18, 'not above the limit'), ('value(x) > 5/s', 13, 'only a rate'), ('rate(x) > 5q', 12, 'a unit is expected'),
                ('rate(x) > 5 set net=loud', 21, 'a level is expected'), ('rate(pool/*) > 5', 6, 'without *'), ('p100(x) > 5', 1, 'value, rate'),
                ('rate(x) > 5 for 1s now', 20, 'for, until, set or the end'), ('', 1, 'value, rate'), ('rate(x over 2h) > 5', 14, 'a unit')):
            result = run([WEFT, 'agent', '--once', '--rule', rule])
            equal(result.returncode, 2, rule)
            assert message in result.stderr and 'at character %d of ' % at in result.stderr, (rule, result.stderr)
        path = os.path.join(folder, 'rules')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('# limits\n\nrate(x) > 5\nvalue(y)\n')
        result = run([WEFT, 'agent', '--once', '--rules', path])
        assert '%s:4: > or < is expected; at character 9 of "value(y)"' % path in result.stderr, result.stderr
        equal(run([WEFT, 'agent', '--once', '--rules', folder + '/none']).returncode, 2)
    assert 'only weft agent and weft record --trigger, both built with SQLite, test rules' in weft('ctl', '1', 'snapshot', '--when', 'rate(x) > 5', status=2).stderr


main()
