# SPDX-License-Identifier: ISC
"""The command line in general: help, version, mistakes, standard output that cannot be written."""
import os
import subprocess

from harness import DATA, WEFT, case, equal, main, skip, temporary_directory, weft


def first_line(text):
    return text.split('\n', 1)[0]


@case
def no_arguments_is_wrong_use():
    result = weft(status=2)
    equal(result.stdout, '')
    assert 'usage: weft' in result.stderr


@case
def help_goes_to_standard_output():
    for arguments in (['--help'], ['-h'], ['help']):
        result = weft(*arguments)
        assert result.stdout.startswith('usage: weft'), result.stdout
        equal(result.stderr, '')


@case
def version():
    assert weft('--version').stdout.startswith('weft 0.')


@case
def unknown_command_is_wrong_use():
    result = weft('frobnicate', status=2)
    equal(first_line(result.stderr),
          'weft: unknown command "frobnicate"; `weft --help` lists them')
    weft('--frobnicate', status=2)
    weft('help', 'frobnicate', status=2)
    weft('x' * 100000, status=2)


@case
def mistyped_words_are_guessed():
    for arguments, wrong, guess in (
            (['recrod'], 'unknown command "recrod"', 'did you mean "record"?'),
            (['record', '--strem', 'true'], 'unknown option "--strem"', 'did you mean "--stream"?'),
            (['record', '--strem=1', 'true'], 'unknown option "--strem=1"', 'did you mean "--stream"?'),
            (['record', '--s', 'true'], 'unknown option "--s"', 'did you mean "--samples"?'),
            (['--verison'], 'unknown option "--verison"', 'did you mean "--version"?'),
            (['dump', '--jsno', 'x'], 'unknown option "--jsno"', 'did you mean "--json"?'),
            (['render', '-o', 'x.svg', '--theme', 'drak', 'x'], '--theme: "drak" is unknown', 'did you mean dark?'),
            (['render', '-o', 'x.svg', '--format', 'pgn', 'x'], '--format: "pgn" is unknown', 'did you mean png?'),
            (['render', '-o', 'x.svg', '--group-by', 'hots', 'x'], '--group-by: "hots" is unknown', 'did you mean host?'),
            (['render', '-o', 'x.svg', '--hide', 'kind:bnid', 'x'], 'kind "bnid" is unknown', 'did you mean bind?'),
            (['ctl', '1', 'stauts'], 'command "stauts" is unknown', 'did you mean status?'),
            (['ctl', '1', 'set', 'net=debgu'], 'level "debgu" is unknown', 'did you mean debug?'),
            (['export', '--to', 'cft', 'a', 'b'], '--to: "cft" is unknown; use ctf', 'did you mean ctf?')):
        message = first_line(weft(*arguments, status=2).stderr)
        assert wrong in message and guess in message, message


@case
def other_words_are_not_guessed():
    for arguments in (['frobnicate'], ['qq'], ['record', '--frobnicate'], ['record', '--' + 'x' * 100000],
                      ['render', '-o', 'x.svg', '--theme', 'pink', 'x'], ['ctl', '1', 'set', 'net=loud'],
                      ['ctl', '1', '']):
        message = first_line(weft(*arguments, status=2).stderr)
        assert 'did you mean' not in message, message


@case
def zero_needs_no_unit():
    trace = os.path.join(DATA, 'traces', 'mirage-block-read.sexp')
    with temporary_directory() as folder:
        picture, part = os.path.join(folder, 'x.svg'), os.path.join(folder, 'x.weft')
        equal(weft('dump', '--start', '0', trace).stdout, weft('dump', '--start', '0ms', trace).stdout)
        weft('render', '--start', '0', '-o', picture, trace)
        weft('cut', '--start', '0', '--duration', '1ms', '-o', part, trace)
    result = weft('dump', '--start', '5', trace, status=2)
    assert 'has no unit' in result.stderr, result.stderr


@case
def full_disk_is_noticed():
    with open('/dev/full', 'w') as full:
        result = subprocess.run([WEFT, '--help'], stdout=full, stderr=subprocess.PIPE, text=True)
    equal(result.returncode, 1)
    assert 'No space left' in result.stderr, result.stderr


@case
def closed_standard_output_is_noticed():
    result = subprocess.run(['sh', '-c', '"$0" --help >&-', WEFT], stderr=subprocess.PIPE, text=True)
    equal(result.returncode, 1)


@case
def without_xen_there_is_no_trace_of_it():
    if not os.path.exists('/proc/xen/privcmd'):
        result = weft('record', 'xen:host', '-o', os.devnull, status=125)
        assert 'weft: xen:host: this machine does not run Xen' in result.stderr, result.stderr
        with temporary_directory() as folder:
            output = os.path.join(folder, 'none')
            for program in (['ls', '-l'], ['--duration', '1s', '--', 'ls']):
                assert 'does not run Xen' in weft('record', '-a', 'xen', 'xen:host', '-o', output, *program, status=125).stderr
            assert not os.path.exists(output)
    for options, message in ((['--events', 'none'], 'is neither a list of'), (['--events', '0x'], 'is neither a list of'),
                             (['--events', '0x-1'], 'is neither a list of'), (['--events', '0x0x1'], 'is neither a list of'),
                             (['--events', '0x0'], 'is neither a list of'), (['--events', '0x100000000'], 'is neither a list of'),
                             (['--filter', 'x'], 'is neither domain=N'), (['--size', '4095'], 'from 4K to 255M'), (['--size', '256M'], 'from 4K to 255M'), (['--size', 'x'], '--size'),
                             (['xen:web'], 'xen:host cannot be recorded with xen:web'), (['xen:host'], 'cannot be recorded with xen:host'),
                             (['-o', ''], 'is empty'), (['-a', 'xen'], '-a needs a PROGRAM'), (['-a', 'x', 'true'], 'x'),
                             (['-o', '-', 'true'], 'needs a directory')):
        assert message in weft('record', 'xen:host', *options, status=2).stderr, options
    equal(weft('record', 'xen:host', '--help').stdout.split('\n')[0][:27], 'usage: weft record xen:host')


@case
def without_xen_there_are_no_guests():
    if os.path.exists('/proc/xen/privcmd'):
        skip('this machine runs Xen')
    with temporary_directory() as folder:
        for arguments in (['collect'], ['dump'], ['info', '--json'], ['tail'], ['render', '-o', folder + '/a.svg']):
            result = weft(*arguments, 'xen:web', status=3)
            equal(result.stderr, 'weft: xen:web: this machine does not run Xen; guests are read in dom0\n')
        # A file may have such a name.
        open(os.path.join(folder, 'xen:web'), 'w').close()
        equal(weft('dump', 'xen:web', status=3, cwd=folder).stderr, 'xen:web: the file is empty\n')


@case
def a_directory_for_no_traces_does_not_stay():
    if os.path.exists('/proc/xen/privcmd'):
        skip('this machine runs Xen')
    with temporary_directory() as folder:
        new = os.path.join(folder, 'new')
        for directory in (new, folder):
            assert 'does not run Xen' in weft('collect', 'xen:all', '-o', directory, status=3).stderr
        equal(os.listdir(folder), [])


@case
def some_verbs_are_not_for_guests():
    for verb in ('snapshot', 'rundown', 'start', 'stop'):
        result = weft('ctl', 'xen:web', verb, status=1)
        assert 'for processes of this system' in result.stderr and 'weft collect xen:web' in result.stderr, result.stderr
    assert 'LEVEL' in weft('ctl', 'xen:web', 'set', 'x', status=2).stderr
    if not os.path.exists('/proc/xen/privcmd'):
        assert 'does not run Xen' in weft('ctl', 'xen:web', 'set', '*=debug', status=3).stderr


@case
def a_guest_shares_with_a_domain():
    for arguments, message in ((('-o', 'xen:web'), 'write the number'), (('-o', 'xen:'), 'write the number'),
                               (('-o', 'xen:0', '--stream'), 'takes -a and --size only')):
        assert message in weft('record', *arguments, '--', 'true', status=2).stderr, arguments
    # The program runs, whether it is recorded or not.
    weft('record', '-o', 'xen:0', '--', 'false', status=1)
    weft('record', '-o', 'xen:0', '--', '/none', status=127)


@case
def collect_needs_a_guest():
    for operand in ('web', 'xen:', '/dev/null'):
        assert 'names no guest' in weft('collect', operand, status=2).stderr
    assert 'need a directory' in weft('collect', '-o', '-', 'xen:all', status=2).stderr
    assert 'with --stream' in weft('record', 'xen:web', status=2).stderr
    # Options may follow the guest, as they may xen:host.
    with temporary_directory() as folder:
        output = os.path.join(folder, 'web.weft')
        for arguments in (['--stream', 'xen:web', '-o', output], ['xen:web', '--stream', '--zstd'], ['--stream', 'xen:web']):
            assert 'this machine does not run Xen' in weft('record', *arguments, status=125).stderr, arguments
    for arguments in (['--stream', 'xen:web', 'xen:mail'], ['--stream', 'xen:web', '--size', '1M'], ['--stream', 'xen:web', 'ls']):
        assert 'with --stream' in weft('record', *arguments, status=2).stderr, arguments


main()
