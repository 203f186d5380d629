# SPDX-License-Identifier: ISC
"""Wrong values of the commands that run for long: the message names the option as it was typed, and nothing is made before."""
import os
import re
import tempfile

from harness import DATA, WEFT, case, equal, main, run, skip, temporary_directory, weft

RING = os.path.join(DATA, 'recorded', 'echo-server.weft')

# An option: values that cannot be meant, and what it needs beside it.
AGENT = {
    '--folder': ([''], ()), '--data': ([''], ()), '--snapshots': ([''], ()), '--mmv': ([''], ()),
    '--every': (['x', '0s', '1500ms', '2h'], ()),
    '--rule': (['', 'nonsense'], ()), '--rules': (['', '/nowhere'], ()),
    '--most': (['x', '0', '1000000'], ()), '--most-bytes': (['x', '-1'], ()), '--depth': (['x', '-1'], ()),
    '--http': (['', 'x', ':99999', '1.2.3.4.5:80', 'example.org:80'], ()),
    '--token-file': ([''], ('--http', '127.0.0.1:0')), '--tokens': ([''], ('--http', '127.0.0.1:0')),
    '--otlp': (['', 'nonsense', 'localhost:4318', 'http://', 'http://a:b', 'ftp://a'], ()),
    '--spool': ([''], ('--otlp', 'http://127.0.0.1:1')), '--spool-size': (['x', '-1'], ('--otlp', 'http://127.0.0.1:1')),
    '--timeout': (['x', '3'], ('--otlp', 'http://127.0.0.1:1')), '--spans': (['x'], ('--otlp', 'http://127.0.0.1:1')),
}
FOLLOW = {
    '--url': (['', 'nonsense', 'http://'], ()), '--pending': (['x'], ()), '--signal': (['x'], ()), '--spans': (['x'], ()), '--start-time': (['x'], ()),
    '--spool-size': (['x'], ('--url', 'http://127.0.0.1:1')), '--queue-size': (['x'], ('--url', 'http://127.0.0.1:1')),
    '--timeout': (['3'], ('--url', 'http://127.0.0.1:1')), '--retry-for': (['3'], ('--url', 'http://127.0.0.1:1')),
}
SERVE = {
    '--listen': (['x', '1.2.3.4.5', '127.0.0.1:x', ':99999'], ()), '--cpu-hz': (['x'], ()), '--group-by': (['x'], ()), '--start': (['x'], ()),
    '--duration': (['x'], ()), '--theme': (['x'], ()), '--size': (['x'], ('--run',)), '-a': (['x'], ('--run',)), '--whole': (['x', '0', '1000'], ()),
}
METRICS = {
    '--depth': (['x', '-1'], ()), '--from': (['', 'x', 'ftp://a'], ()), '--over': (['x', '0s'], ('name',)), '--since': (['x'], ('name',)),
}


def check(folder, command, options, *rest):
    """In a folder where all that the command might make would be."""
    env = dict(os.environ, HOME=folder, XDG_STATE_HOME=folder, XDG_RUNTIME_DIR=folder, TMPDIR=folder)
    before = os.listdir(folder)
    for option, (values, beside) in options.items():
        for value in values:
            result = run([WEFT, *command, *beside, option, value, *rest], env=env, cwd=folder)
            if 'built without' in result.stderr:
                continue
            equal((result.returncode, result.stdout), (2, ''), (option, value, result.stderr))
            assert result.stderr.startswith('weft %s: %s' % (command[0], option)), (option, value, result.stderr)
            equal(os.listdir(folder), before, (option, value))


@case
def of_weft_agent():
    usage = weft('agent', '--help', status=None)
    if 'built without' in usage.stderr:
        skip(usage.stderr.strip())
    equal(set(re.findall(r'^  (--[a-z-]+) [A-Z]', usage.stdout, re.M)), set(AGENT), 'each option with a value has a row')
    with temporary_directory() as folder:
        for option, row in AGENT.items():
            paths = {'--folder': 'f/counters', '--data': 'd/agent.db'}
            paths.pop(option, None)
            check(folder, ['agent', *(word for pair in paths.items() for word in pair)], {option: row})


@case
def of_weft_export_that_follows():
    with temporary_directory() as folder:
        check(folder, ['export', '--to', 'otlp-json', '--follow'], FOLLOW, RING)


@case
def of_weft_serve():
    with temporary_directory() as folder:
        check(folder, ['serve'], SERVE, '/bin/true')


@case
def of_weft_metrics():
    with temporary_directory() as folder:
        check(folder, ['metrics'], METRICS)


@case
def options_without_that_for_which_they_are():
    for args, message in ((('agent', '--spool', 'x'), '--spool is for --otlp'), (('agent', '--timeout', '3s'), '--timeout are for --otlp'),
                          (('agent', '--tokens', 'x'), '--tokens is for --http'), (('agent', '--token-file', 'x'), '--token-file is for --http'),
                          (('export', '--to', 'otlp', '--follow', '--queue-size', '3M', RING), '--queue-size, --timeout and --retry-for are for --url')):
        with temporary_directory() as folder:
            paths = ('--folder', 'f', '--data', 'd/agent.db') if args[0] == 'agent' else ()
            result = run([WEFT, args[0], *paths, *args[1:]], cwd=folder)
            equal((result.returncode, os.listdir(folder)), (2, []))
            assert message in result.stderr, result.stderr


@case
def what_cannot_be_used_is_refused_before_anything_is_made():
    """Files and addresses that are not there: not wrong as such, so the status is another one."""
    with temporary_directory() as outer, tempfile.NamedTemporaryFile('w', dir=outer) as short:
        short.write('too short')
        short.flush()
        folder = os.path.join(outer, 'f')
        for args in (('--http', '127.0.0.1:0', '--token-file', '/nowhere'), ('--http', '127.0.0.1:0', '--token-file', short.name),
                     ('--http', '127.0.0.1:0', '--tokens', '/nowhere'), ('--http', '192.0.2.1:9339'),
                     ('--otlp', 'http://127.0.0.1:1', '--spool', '/dev/null'), ('--otlp', 'http://127.0.0.1:1', '--spool', '/dev/null/x'),
                     ('--rule', 'rate(a) > 1/s', '--snapshots', '/dev/null')):
            result = run([WEFT, 'agent', '--folder', folder, '--data', os.path.join(outer, 'd', 'agent.db'), *args])
            if 'built without' not in result.stderr:
                equal(result.returncode, 1, (args, result.stderr))
                assert args[-2] in result.stderr or args[1].split(':')[0] in result.stderr, (args, result.stderr)
            equal(os.listdir(outer), [os.path.basename(short.name)], args)
        made = os.path.join(outer, 'made')
        for option in '--tokens', '--token-file':
            result = run([WEFT, 'serve', '--run', '-o', os.path.join(outer, 'x.weft'), option, '/nowhere', 'touch', made])
            assert result.returncode != 0 and (option in result.stderr or 'built without' in result.stderr), result.stderr
            equal(os.listdir(outer), [os.path.basename(short.name)], 'the program has not begun')


main()
