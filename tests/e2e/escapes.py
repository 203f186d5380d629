# SPDX-License-Identifier: ISC
"""No name of a file, a program or a trace can control the terminal."""
import json
import os
import re
import shutil

from harness import BUILD, DATA, WEFT, case, main, picture_formats, skip, temporary_directory
from hostile_traces import EVIL_NAME, evil_labels
from measured import check_shown, measure

RECORD = ['--', os.path.join(BUILD, 'examples', 'hello')]
FORMS = [os.fsencode(name) for name in picture_formats()]


def weft(*args, **options):
    return measure([WEFT, *args], **options)


def check(what, result, *statuses):
    assert result.status in statuses, '%s: exit status %d\n%r' % (what, result.status, result.stderr)
    check_shown(what, result.stdout)
    check_shown(what + ', standard error', result.stderr)
    return result


def write_trace(directory, write):
    """Writes a trace under a hostile name; returns its path."""
    path = os.path.join(os.fsencode(directory), EVIL_NAME)
    write(path)
    return path


def commands(path, out):
    """A name and arguments for each command that reads a FILE."""
    for option in ((), ('--json',)):
        yield 'info', ('info', *option, path)
        yield 'tail', ('tail', *option, path)
        for what in ((), ('--tasks',), ('--edges',), ('--problems',), ('--story', '1')):
            yield 'dump', ('dump', *what, *option, path)
    yield 'cut', ('cut', path, '-o', out + b'/cut.weft')
    yield 'export', ('export', '--to', 'ctf', path, out + b'/ctf')
    for form in FORMS:
        yield 'render', ('render', path, '-o', out + b'/picture.' + form)


@case
def labels_are_escaped():
    with temporary_directory() as here:
        path = write_trace(here, evil_labels)
        for name, arguments in commands(path, os.fsencode(here)):
            result = check(name, weft(*arguments), 0)
            if '--json' in arguments:
                for line in result.stdout.splitlines():
                    json.loads(line)
            if name in ('info', 'dump', 'tail'):
                assert result.stdout, arguments


@case
def pictures_hold_no_control_characters():
    with temporary_directory() as here:
        path = write_trace(here, evil_labels)
        for form in [form for form in ('svg', 'html') if os.fsencode(form) in FORMS]:
            picture = os.path.join(here, 'p.' + form)
            check(form, weft('render', path, '-o', picture), 0)
            with open(picture, 'rb') as file:
                text = file.read().decode('utf-8')
            if form == 'svg':
                check_shown(form, text.encode())
            else:
                check_shown(form, re.search('<title>.*</title>', text, re.DOTALL).group().encode())
            assert '<script>alert(1)</script><' not in text and '<img src=x' not in text, form


@case
def names_of_files_are_escaped_in_errors():
    def nonsense(path):
        with open(path, 'wb') as file:
            file.write(b'no trace\n')
    with temporary_directory() as here:
        path = write_trace(here, nonsense)
        for file in (path, path + b'gone', os.fsencode(here)):
            for name, arguments in commands(file, os.fsencode(here)):
                result = check(name, weft(*arguments), 2, 3)
                assert result.stderr, arguments


@case
def names_of_outputs_are_escaped_in_errors():
    good = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')
    with temporary_directory() as here:
        out = os.path.join(os.fsencode(here), EVIL_NAME, b'nowhere', b'x.svg')
        for arguments in (('render', good, '-o', out), ('cut', good, '-o', out), ('export', '--to', 'ctf', good, out),
                          ('record', '-o', out, *RECORD), ('record', '--stream', '-o', out, *RECORD)):
            result = check(arguments[0], weft(*arguments, env={'WEFT_DIR': here}), 1, 2, 125)
            assert result.stderr, arguments


@case
def damage_is_reported_under_an_escaped_name():
    def damaged(path):
        with open(os.path.join(DATA, 'traces', 'mirage-arp-good.ctf'), 'rb') as file:
            data = file.read()
        with open(path, 'wb') as file:
            file.write(data[:len(data) // 2] + b'\xff' * 40)
    with temporary_directory() as here:
        path = write_trace(here, damaged)
        for name, arguments in commands(path, os.fsencode(here)):
            check(name, weft(*arguments), 0, 1)


@case
def messages_of_record_are_escaped():
    with temporary_directory() as here:
        program = os.path.join(os.fsencode(here), b'p\x1b[31m\xc2\x9b\xe2\x80\xae\n')
        shutil.copy(RECORD[1], program)
        # It was linked for the folder that it is copied from.
        env = {'WEFT_DIR': here, 'LD_LIBRARY_PATH': os.path.join(BUILD, 'src', 'platform')}
        for name in (b'o.weft', EVIL_NAME):
            result = weft('record', '-o', os.path.join(os.fsencode(here), name), '--', program, env=env)
            check('record', result, 0)
        for arguments in (('info', b'o.weft'), ('info', '--json', b'o.weft'), ('dump', b'o.weft'),
                          ('dump', '--json', b'o.weft'), ('ctl', b'o.weft', 'status'), ('ctl', EVIL_NAME, 'status'),
                          ('ctl', b'gone' + EVIL_NAME, 'status'), ('ctl', '--json', b'o.weft', 'status')):
            result = check(' '.join(map(repr, arguments)), weft(*arguments, cwd=here), 0, 2, 3)
            assert result.stdout or result.stderr, arguments
        check('record', weft('record', '--', program + b'gone', env=env), 127, 1, 2)


@case
def serve_names_what_it_does_not_have():
    with temporary_directory() as here:
        result = weft('serve', os.path.join(os.fsencode(here), EVIL_NAME))
        if b'libmicrohttpd' in result.stderr:
            skip('built without libmicrohttpd')
        check('serve', result, 2, 3)
        assert result.stderr


@case
def wrong_use_is_reported_without_control_characters():
    for arguments in ((EVIL_NAME,), (b'--' + EVIL_NAME,), ('info', b'--' + EVIL_NAME),
                      ('dump', '--start', EVIL_NAME, 'x'), ('render', 'x', '-o', b'x.svg' + EVIL_NAME),
                      ('record', '--size', EVIL_NAME, 'x'), ('ctl', '1', EVIL_NAME), ('view', b'--' + EVIL_NAME)):
        check('weft', weft(*arguments), 2)
    check('two files', weft('info', 'a', EVIL_NAME), 3)


main()
