# SPDX-License-Identifier: ISC
"""Several files as one trace: programs of one run, and files that do not belong together."""
import json
import os
import shutil

from harness import BUILD, DATA, build_option, case, equal, json_lines, main, skip, temporary_directory, weft

HELLO = os.path.join(BUILD, 'examples', 'hello')
SUBJECT = os.path.join(BUILD, 'tests', 'record-subject')
SEXP = os.path.join(DATA, 'traces', 'mirage-block-read.sexp')


def record(folder):
    """Three processes: a program, its forked child, and another program. Returns the files."""
    os.makedirs(folder, exist_ok=True)
    weft('record', '--size', '64K', '-o', folder + '/', '--', 'sh', '-c',
         '%s 20 fork 10 && %s >/dev/null && %s > /dev/null' % (SUBJECT, HELLO, HELLO))
    return sorted(os.path.join(folder, name) for name in os.listdir(folder))


def pids(files):
    return [int(name.rsplit('-', 1)[1].split('.')[0]) for name in files]


def lines(*args, **options):
    return weft('dump', *args, **options).stdout.splitlines()


@case
def a_directory_is_one_trace():
    with temporary_directory() as folder:
        files = record(folder)
        equal(len(files), 4)
        single = [json_lines(weft('dump', '--json', name).stdout) for name in files]
        events = json_lines(weft('dump', '--json', folder).stdout)
        equal(len(events), sum(map(len, single)))
        equal([e['time'] for e in events], sorted(e['time'] for e in events))
        equal({e['process'] for e in events}, set(pids(files)))
        equal(sorted({e['buffer'] for e in events}), [0, 1, 2, 3])
        for pid, own in zip(pids(files), single):
            of_pid = [e for e in events if e['process'] == pid]
            equal([(e['event'], e.get('text')) for e in of_pid], [(e['event'], e.get('text')) for e in own])
            equal('process' in own[0], False)
        equal(lines(folder), lines(*files))
        equal(lines(folder), lines(*reversed(files)))


@case
def a_receive_leads_to_another_process():
    """Both sides are programs that record themselves, and know one number. The answer is sent after the question waits."""
    program = '''import weft, sys, os, time
task = weft.create(sys.argv[1])
weft.enter(task)
if sys.argv[1] == 'asks':
    question = weft.create('question'); weft.try_read(question, task=task); weft.leave()
    open(sys.argv[2], 'w').close()
    sys.stdin.readline(); weft.receive(9, task=question); weft.read(question, task=task)
else:
    while not os.path.exists(sys.argv[2]):
        time.sleep(0.001)
    weft.send(9); print('answer', flush=True); time.sleep(0.01)
'''
    path = os.path.join(BUILD, 'bindings', 'python')
    if build_option('b_sanitize') != 'none':
        skip('python3 has no sanitizer, which libweft would need')
    if not os.path.exists(os.path.join(path, 'weft', '_weft.abi3.so')):
        skip('built without the package for Python: python3-dev is not installed')
    with temporary_directory() as folder:
        script = os.path.join(folder, 'talk.py')
        with open(script, 'w', encoding='utf-8') as file:
            file.write(program)
        os.mkdir(folder + '/runs')
        weft('record', '--size', '64K', '-a', 'none', '-o', folder + '/runs/', '--', 'sh', '-c',
             'PYTHONPATH=%s; export PYTHONPATH; python3 %s answers %s | python3 %s asks %s' % (
                 path, script, folder + '/waits', script, folder + '/waits'))
        edges = json_lines(weft('dump', '--edges', '--json', folder + '/runs').stdout)
        received = [edge for edge in edges if edge['edge'] == 'receive']
        equal([(edge['from'], edge['to'], edge['from_process'] != edge['process']) for edge in received], [(1, 2, True)])
        events = json_lines(weft('dump', '--json', folder + '/runs').stdout)
        asks = next(i for i, event in enumerate(events) if event['event'] == 'try_read')
        waits = next(event['time'] for event in events[asks:] if event['event'] == 'switch')
        shown = weft('why', '--at', '@%d' % waits, folder + '/runs', 'asks').stdout
        assert "waits for a message, from task 1 'answers'" in shown, shown


@case
def ids_are_of_a_buffer():
    with temporary_directory() as folder:
        files = [name for name in record(folder) if 'hello' in name]
        tasks = json_lines(weft('dump', '--tasks', '--json', *files).stdout)
        equal([(t['task'], t['buffer'], t['process']) for t in tasks],
              [(1, 0, pids(files)[0]), (1, 1, pids(files)[1])])
        text = lines('--tasks', *files)
        equal([' 1/1 ' in line and 'process="hello %d"' % pids(files)[1] in line for line in text], [False, True])
        stories = [weft('dump', '--story', '%d/1' % i, *files).stdout for i in range(2)]
        equal(['hello %d' % pid in story for pid, story in zip(pids(files), stories)], [True, True])
        equal(weft('dump', '--story', '1', *files).stdout, stories[0])
        weft('dump', '--story', '2/1', *files, status=1)
        weft('dump', '--story', 'x/1', *files, status=1)  # no label either
        edges = json_lines(weft('dump', '--edges', '--json', *files).stdout)
        equal({e['buffer'] for e in edges}, {0, 1})


@case
def info_lists_processes():
    with temporary_directory() as folder:
        files = record(folder)
        got = json.loads(weft('info', '--json', folder).stdout)
        equal(sorted(b['process'] for b in got['buffers']), sorted(pids(files)))
        equal({b['program'] for b in got['buffers']}, {'hello', 'record-subject'})
        equal({b['host'] for b in got['buffers']}, {os.uname().nodename})
        equal(sorted(b['file'] for b in got['buffers']), sorted(map(os.path.basename, files)))
        text = weft('info', folder).stdout
        for pid in pids(files):
            equal(str(pid) in text, True)
        equal('processes' in weft('info', files[0]).stdout, False)
        equal('buffers' in json.loads(weft('info', '--json', files[0]).stdout), False)


@case
def a_process_with_one_free_descriptor_says_its_boot():
    with temporary_directory() as folder:
        weft('record', '--size', '64K', '-a', 'none', '-o', folder + '/', '--', 'sh', '-c',
             '{0}; ulimit -n 4 && exec {0}'.format(HELLO), env={'XDG_RUNTIME_DIR': folder})
        info = weft('info', '--json', folder)
        equal((info.stderr, len(json.loads(info.stdout).get('buffers', []))), ('', 2))


@case
def rows_are_grouped_by_process():
    with temporary_directory() as folder:
        files = [name for name in record(folder) if 'hello' in name]
        for by, names in (('process', ['hello %d' % pid for pid in pids(files)]), ('none', []), ('host', []), (None, pids(files))):
            out = os.path.join(folder, 'picture.svg')
            weft('render', *files, '-o', out, *(['--group-by', by] if by else []))
            with open(out, encoding='utf-8') as file:
                picture = file.read()
            equal([('hello %d' % pid) in picture for pid in pids(files)], [bool(names)] * 2, by)


@case
def a_cut_of_several_opens_again():
    with temporary_directory() as folder:
        files, out = record(os.path.join(folder, 'in')), os.path.join(folder, 'out')
        whole = os.path.dirname(files[0])
        weft('cut', whole, '-o', out)
        equal(sorted(os.listdir(out)), sorted(map(os.path.basename, files)))
        for options in ([], ['--json'], ['--tasks'], ['--edges', '--json']):
            equal(lines(*options, out), lines(*options, whole), ' '.join(options))
        events = json_lines(weft('dump', '--json', whole).stdout)
        middle = events[len(events) // 2]['time'] - events[0]['time']
        part = os.path.join(folder, 'part')
        weft('cut', *files, '-o', part, '--start', '%dns' % middle)
        got = [e for e in json_lines(weft('dump', '--json', part).stdout) if not e.get('rundown')]
        equal(got, [e for e in events if e['time'] >= events[0]['time'] + middle])
        equal('new or empty' in weft('cut', *files, '-o', part, status=1).stderr, True)
        equal('not to standard output' in weft('cut', *files, '-o', '-', status=2).stderr, True)
        single = os.path.join(folder, 'single.weft')
        weft('cut', files[0], '-o', single)
        equal(lines(single), lines(files[0]))


@case
def names_of_parts_differ():
    with temporary_directory() as folder:
        first = record(os.path.join(folder, 'a'))[0]
        second = record(os.path.join(folder, 'b'))[0]
        os.rename(first, os.path.join(folder, 'a', 'same.weft'))
        os.rename(second, os.path.join(folder, 'b', 'same.weft'))
        same, out = [os.path.join(folder, name, 'same.weft') for name in 'ab'], os.path.join(folder, 'out')
        weft('cut', *same, '-o', out)
        equal(sorted(os.listdir(out)), ['2-same.weft', 'same.weft'])
        equal(lines(out), lines(*same))


@case
def an_export_has_all_processes():
    with temporary_directory() as folder:
        files, out = record(os.path.join(folder, 'in')), os.path.join(folder, 'out')
        weft('export', '--to', 'ctf', *files, out)
        content = b''
        for name in os.listdir(out):
            with open(os.path.join(out, name), 'rb') as file:
                content += file.read()
        equal(len(os.listdir(out)), len(files) + 1)
        equal([b'hello\0' in content, b'record-subject\0' in content], [True, True])


@case
def a_filter_selects_processes():
    with temporary_directory() as folder:
        files = [name for name in record(folder) if 'hello' in name]
        out = os.path.join(folder, 'picture.svg')
        for words, shown in ((['--only', 'process:%d' % pids(files)[0]], 1), (['--hide', 'process:hello'], 0), ([], 2)):
            weft('render', *files, '-o', out, '--no-fold', *words)
            with open(out, encoding='utf-8') as file:
                equal(': %d task' % shown in file.read(), True, words)


@case
def files_that_do_not_belong_together_are_refused():
    with temporary_directory() as folder:
        files = record(folder)
        other = os.path.join(folder, 'z-other.weft')
        shutil.copy(files[0], other)
        with open(other, 'r+b') as file:
            file.seek(88)  # its uuid and its boot id; and no time of day, by which it could be aligned
            file.write(b'another buffer!!another boot!!!!')
            for reading in (136, 160, 184):
                file.seek(reading + 16)
                file.write(bytes(8))
        result = weft('dump', files[1], files[2], other, status=3)
        equal(result.stdout, '')
        equal('%s: its clock counts from another boot than that of %s' % (other, files[2]) in result.stderr
              or '%s: its clock counts from another boot than that of %s' % (other, files[1]) in result.stderr, True)
        whole = weft('dump', *files).stdout
        result = weft('dump', folder)
        equal(result.stdout, whole)
        equal('%s: left out: its clock counts from another boot' % other in result.stderr, True)
        result = weft('dump', files[1], SEXP, status=3)
        equal('%s: it does not say which boot its clock counts from' % SEXP in result.stderr, True)
        os.remove(other)
        for content, reason in ((b'', 'the file is empty'), (b'not a trace\1' * 999, 'not in a format that weft knows')):
            with open(other, 'wb') as file:
                file.write(content)
            result = weft('dump', *files, other)
            equal((result.stdout, result.stderr), (whole, '%s: %s\n' % (other, reason)))
        os.remove(other)
        shutil.copy(files[0], other)
        result = weft('dump', files[0], other, status=3)
        equal('it is a part of the same recording as' in result.stderr, True)
        equal(weft('dump', folder).stdout, whole)


@case
def damage_is_reported_with_its_file():
    with temporary_directory() as folder:
        files = record(folder)
        whole = len(lines(folder))
        with open(files[0], 'r+b') as file:
            file.write(b'not a trace, but something else')
        own = len(lines(*files[1:]))
        result = weft('dump', folder)
        equal(len(result.stdout.splitlines()), own)
        equal(own < whole, True)
        equal(result.stderr.startswith(files[0] + ': '), True)
        with open(files[1], 'r+b') as file:
            file.truncate(30000)
        result = weft('info', '--json', folder)
        equal({d['file'] for d in json.loads(result.stdout)['diagnostics']}, {files[1]})
        equal('%s: offset 0x' % files[1] in result.stderr, True)
        weft('dump', os.path.join(folder, 'missing.weft'), *files, status=3)
        os.mkdir(os.path.join(folder, 'empty'))
        result = weft('dump', os.path.join(folder, 'empty'), status=3)
        equal('no file in this directory ends in .weft' in result.stderr, True)


main()
