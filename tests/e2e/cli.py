# SPDX-License-Identifier: ISC
"""The command line in general: help, version, mistakes, standard output that cannot be written."""
import subprocess

from harness import WEFT, case, equal, main, weft


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
def full_disk_is_noticed():
    with open('/dev/full', 'w') as full:
        result = subprocess.run([WEFT, '--help'], stdout=full, stderr=subprocess.PIPE, text=True)
    equal(result.returncode, 1)
    assert 'No space left' in result.stderr, result.stderr


@case
def closed_standard_output_is_noticed():
    result = subprocess.run(['sh', '-c', '"$0" --help >&-', WEFT], stderr=subprocess.PIPE, text=True)
    equal(result.returncode, 1)


main()
