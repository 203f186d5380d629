# SPDX-License-Identifier: ISC
"""Off-CPU time: how long running tasks had no processor, measured where the level of the category "cpu" asks for it."""
import os

from harness import BUILD, case, equal, json_lines, main, run, temporary_directory, weft, WEFT

SUBJECT = os.path.join(BUILD, 'tests', 'cpu-subject')
MS = 10 ** 6


def record(path, *steps, **env):
    """The tasks by name, and what the program measured itself: (wall, off), in ns."""
    result = run([WEFT, 'record', '-o', path, SUBJECT, *steps], env=dict(os.environ, **env))
    equal(result.returncode, 0, result.stderr)
    tasks = {row['label']: row for row in json_lines(weft('dump', '--tasks', '--json', path).stdout)}
    own = {name: (int(wall), int(off)) for name, wall, off in map(str.split, result.stdout.splitlines())}
    return tasks, own


def off_cpu_events(path):
    return [event for event in json_lines(weft('dump', '--json', path).stdout) if event['event'] == 'off_cpu']


@case
def preempted_and_blocked_tasks_had_no_processor():
    with temporary_directory() as folder:
        path = os.path.join(folder, 't.weft')
        tasks, own = record(path, 'preempted', 'blocked', WEFT_CATEGORIES='cpu=debug')
        for name, at_least in (('preempted', MS), ('blocked', 20 * MS - MS)):
            (wall, off), recorded = own[name], tasks[name]['off_cpu']
            assert off >= at_least, own
            # A little less is recorded than was lost, but never more than the activation.
            assert off / 2 <= recorded <= tasks[name]['running'], (name, recorded, off, tasks[name])
        equal([event['task'] for event in off_cpu_events(path)], [tasks[name]['task'] for name in ('preempted', 'blocked')])


@case
def idle_time_is_not_counted():
    with temporary_directory() as folder:
        tasks, own = record(os.path.join(folder, 't.weft'), 'idle', WEFT_CATEGORIES='cpu=debug')
        assert own['idle'][1] >= 19 * MS, own
        assert tasks['idle'].get('off_cpu', 0) <= tasks['idle']['running'] <= own['idle'][0] - 19 * MS, (tasks, own)


@case
def only_the_level_turns_it_on():
    with temporary_directory() as folder:
        for env in ({}, {'WEFT_CATEGORIES': 'cpu=info'}, {'WEFT_CATEGORIES': 'cpu=debug', 'WEFT_SYSCALLS': 'none'}):
            path = os.path.join(folder, '%d.weft' % len(os.listdir(folder)))
            tasks, _ = record(path, 'blocked', **env)
            equal(off_cpu_events(path), [], env)
            assert 'off_cpu' not in tasks['blocked']
        path = os.path.join(folder, 'all.weft')
        record(path, 'blocked', WEFT_LEVEL='debug')
        equal(len(off_cpu_events(path)), 1, 'debug for all categories')


main()
