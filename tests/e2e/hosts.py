# SPDX-License-Identifier: ISC
"""Traces of several hosts on one clock. Two programs talk over a real connection between two network namespaces. Both are
recorded by this machine's clock, so the truth is known; then one trace is changed as if its host had another clock."""
import bisect
import json
import os
import re
import signal
import subprocess
import sys

from harness import WEFT, case, equal, json_lines, main, run, temporary_directory, weft
from hosts_network import ADDRESSES, two_hosts
from traces_of_hosts import hosts_of, retime, times
from waiting import communicate, wait_until

SERVER = '''import socket, sys
listener = socket.socket(); listener.bind((sys.argv[1], 7000)); listener.listen()
print('ready', flush=True)
connection = listener.accept()[0]
while data := connection.recv(1000):
    if sys.argv[2] == 'answer': connection.sendall(data.upper())
'''
CLIENT = '''import os, signal, socket, sys
connection = socket.create_connection((sys.argv[1], 7000))
for i in range(int(sys.argv[3])):
    connection.sendall(b'question %d' % i)
    if sys.argv[2] == 'answer': connection.recv(1000)
if sys.argv[4] == 'kill': os.kill(os.getpid(), signal.SIGKILL)
'''


def record(folder, answers='answer', questions=60, end='exit', **network):
    """The traces of the server alpha and the client beta."""
    own = ADDRESSES['alpha']
    options = {'env': dict(os.environ, XDG_RUNTIME_DIR=folder, WEFT_ADAPTERS=''), 'stdout': -1, 'cwd': folder}
    paths = [os.path.join(folder, name) for name in ('alpha.weft', 'beta.weft')]
    server = [WEFT, 'record', '-o', paths[0], sys.executable, '-c', SERVER, own, answers]
    # The client begins when the server is ready, which is known when the server's output is there.
    client = ['sh', '-c', 'read line && exec "$@"', 'sh', WEFT, 'record', '-o', paths[1], sys.executable, '-c', CLIENT, own,
              answers, questions, end]
    with two_hosts(server, [str(word) for word in client], stdin=-1, **network, **options) as (one, two):
        line = one.stdout.readline()
        two.stdin.write(line)
        two.stdin.close()
        two.stdin = None
        for process in (two, one):
            communicate(process)
    return paths


def on_the_clock_of(reference, shared):
    """A function from times of both programs on one clock to those of the first one, which reads the clock on its own."""
    first, last = (shared[0], reference[0]), (shared[-1], reference[-1])
    return lambda time: first[1] + (time - first[0]) * (last[1] - first[1]) / (last[0] - first[0])


def truth_of(paths):
    """The times of beta's events by alpha's clock, and those of alpha."""
    together, alone = times(*paths), times(paths[0])[0]
    alpha = 0 if len(together[0]) == len(alone) and follows(together[0], alone) else 1
    convert = on_the_clock_of(alone, together[alpha])
    return [convert(time) for time in together[1 - alpha]], alone


def follows(one, other):
    return all(abs((b - a) - (d - c)) < 1000000 for a, b, c, d in zip(one, one[1:], other, other[1:]))


def check_truth(paths, truth, alpha):
    """All events of beta are within the error, and no effect is before its cause. Returns what is said of beta."""
    host = hosts_of(*paths)[1]
    equal((host['host'], host['alignment']), ('beta', 'bounded'))
    got = times(*paths)
    moved = got[0][0] - alpha[0]  # the axis begins with the first boot
    equal({a - b - moved for a, b in zip(got[0], alpha)} <= {-1, 0, 1}, True)
    equal(len(got[1]), len(truth))
    worst = max(abs(a - moved - b) for a, b in zip(got[1], truth))
    assert worst <= host['error'] + 100, (worst, host)  # 100: times are whole ns
    edges = [edge for edge in json_lines(weft('dump', '--edges', '--json', *paths).stdout) if 'sent_error' in edge]
    equal(len(edges) > 1, True)
    assert all(edge['sent'] <= edge['time'] and edge['sent_error'] == host['error'] for edge in edges), edges
    equal({edge['from_buffer'] for edge in edges}, {0, 1})
    return host


@case
def the_truth_lies_within_the_error():
    """Another boot, hours apart, with wall clocks that differ and a clock that is too fast or too slow."""
    slow = ((0.0005, 0.002, 0.05), (0.004, 0.0005, 0))  # asymmetric, and one way loses packets
    with temporary_directory() as folder:
        paths = record(folder, ways=slow)
        truth, alpha = truth_of(paths)
        retime(paths[0], 'alpha')
        before = open(paths[1], 'rb').read()
        for offset, ppm, wall in ((0, 0, 0), (7200 * 10**9, 200, 3200000), (-10**9, -300, -5 * 10**9)):
            with open(paths[1], 'wb') as file:
                file.write(before)
            retime(paths[1], 'beta', offset, ppm, wall)
            host = check_truth(paths, truth, alpha)
            assert abs(host['drift_ppb'] - ppm * 1000) <= host['drift_error_ppb'] + 1000, (ppm, host)
            assert abs(host['moved'] + wall) <= host['error'] + 10**7, (wall, host)  # the two starts read the wall clock


@case
def what_spans_hosts_says_how_exact_it_is():
    with temporary_directory() as folder:
        paths = record(folder)
        for path, name in zip(paths, ('alpha', 'beta')):
            retime(path, name)
        result = weft('dump', '--edges', *paths)
        assert 'host beta: moved by ' in result.stderr and ' pairs' in result.stderr, result.stderr
        assert any(' after ' in line and ' ± ' in line for line in result.stdout.splitlines() if ' receive ' in line)
        questions = [edge['sent'] - 1 for edge in json_lines(weft('dump', '--edges', '--json', *paths).stdout)
                     if edge.get('from_buffer') == 1]
        answers = [weft('why', '--at', '@%d' % time, *paths, 'tcp :7000', status=None).stdout for time in questions]
        assert any('(on host beta, ± ' in answer for answer in answers), answers[-3:]
        assert 'moved by' in weft('info', *paths).stdout
        together = os.path.join(folder, 'together')
        result = weft('merge', *paths, '-o', together)
        assert 'host beta: moved by ' in result.stderr, result.stderr
        equal(times(together), times(*paths))
        raw = weft('info', '--no-align', *paths)
        assert "beta: not aligned: times are by each host's own wall clock" in raw.stdout, raw.stdout
        assert 'by clocks that nothing aligns' in weft('dump', '--edges', '--no-align', *paths).stdout
        picture = os.path.join(folder, 'out.svg')
        weft('render', '--group', 'host', *paths, '-o', picture)
        with open(picture, encoding='utf-8') as file:
            drawn = file.read()
        equal(('>alpha' in drawn, '>beta' in drawn), (True, True))


def without_name(text):
    """The lines that do not have the trace's name; in a picture, that line has other figures beside it."""
    return [line for line in text.splitlines() if ' y="19"' not in line and not re.search(r'both.weft|own.tar|alpha.weft and 1 more', line)]


@case
def one_file_shows_what_both_do():
    """An archive of tar, which tar itself unpacks, and makes."""
    with temporary_directory() as folder:
        paths = record(folder)
        for path, name in zip(paths, ('alpha', 'beta')):
            retime(path, name, wall_ns=10**9 if name == 'beta' else 0)
        one, own = os.path.join(folder, 'both.weft'), os.path.join(folder, 'own.tar')
        said = weft('merge', *paths, '-o', one).stderr
        assert 'host beta: moved by ' in said and 'both.weft: 2 files' in said, said
        run(['tar', '-C', folder, '-cf', own, 'alpha.weft', 'beta.weft'])
        for file in one, own:
            equal(hosts_of(file), hosts_of(*paths))
            for command in (('dump', '--edges'), ('dump', '--edges', '--no-align'), ('stats',), ('render', '-o', '-', '--format', 'svg', '--group', 'host')):
                together, apart = (weft(*command, *files, status=None) for files in ((file,), paths))
                assert 'moved by' in together.stderr or '--no-align' in command, together.stderr
                assert without_name(together.stdout) == without_name(apart.stdout), (file, command)
                equal((together.returncode, apart.returncode), (0, 0))
        unpacked = os.path.join(folder, 'unpacked')
        os.mkdir(unpacked)
        run(['tar', '-C', unpacked, '-xf', one])
        for path in paths:
            with open(path, 'rb') as left, open(os.path.join(unpacked, os.path.basename(path)), 'rb') as right:
                equal(left.read(), right.read())
        page = os.path.join(folder, 'both.html')
        weft('render', one, '-o', page)
        assert os.path.getsize(page) > 100000
        assert 'refusing to overwrite' in weft('merge', *paths, '-o', paths[0], status=1).stderr
        for size in 0, 512, 600, 5000, os.path.getsize(one) - 1500:
            with open(one, 'rb') as whole, open(os.path.join(folder, 'short.weft'), 'wb') as file:
                file.write(whole.read(size))
            weft('info', file.name, status=3 if size < 5000 else None)


@case
def a_damaged_archive_is_not_shown_as_a_whole():
    """Nor is a file looked at that has the name of one in it."""
    with temporary_directory() as folder:
        paths, one = record(folder), os.path.join(folder, 'one.tar')
        picture = os.path.join(folder, 'picture')
        with open(picture, 'wb') as file:
            file.write(b'\x89PNG' * 100)
        run(['tar', '-P', '-cf', one, paths[0], picture])
        with open(picture, 'wb') as file:
            file.write(b'PK\x03\x04' * 100)
        equal(weft('info', one).stderr, picture + ': left out: not in a format that weft knows\n')
        second = 512 + (os.path.getsize(paths[0]) + 511) // 512 * 512
        with open(one, 'r+b') as file:
            file.seek(second)
            file.write(b'X')
        rest = '(the rest of the archive): left out: not in a format that weft knows\n'
        equal(weft('info', one).stderr, rest)
        for size in second + 1, second + 511:
            os.truncate(one, size)
            equal(weft('info', one).stderr, rest)
        size = os.path.getsize(paths[0]) // 2
        os.truncate(one, 512 + size)
        os.truncate(paths[0], size)
        of_cut, of_archive = (weft('info', '--json', path) for path in (paths[0], one))
        lost = '(the rest of the archive): left out: no intact event\n'
        equal(of_archive.stderr.replace('one.tar', 'alpha.weft'), lost + of_cut.stderr)
        equal(json.loads(of_archive.stdout)['events'], json.loads(of_cut.stdout)['events'])


def record_two(folder):
    """Traces of one host."""
    paths = [os.path.join(folder, name) for name in ('one.weft', 'two.weft')]
    for path in paths:
        weft('record', '-o', path, 'sh', '-c', 'echo | cat', env={'WEFT_ADAPTERS': ''})
    return paths


@case
def an_archive_says_what_it_lacks():
    """Files that were cut off, and files that tar wrote without their zeros."""
    with temporary_directory() as folder:
        one, two = record_two(folder)
        whole, mixed = (os.path.join(folder, name) for name in ('both.weft', 'mixed.tar'))
        weft('merge', one, two, '-o', whole)
        equal(weft('info', whole).stderr, '')
        end = os.path.getsize(whole) - 1024
        os.truncate(whole, end)
        equal(weft('info', whole).stderr, '(the rest of the archive): left out: no intact event\n')
        events = json.loads(weft('info', '--json', whole).stdout)['events']
        os.truncate(whole, 512 + (os.path.getsize(one) + 511) // 512 * 512)  # between the files, which need not have the same size
        equal(weft('info', whole).stderr, '(the rest of the archive): left out: no intact event\n')
        assert json.loads(weft('info', '--json', whole).stdout)['events'] < events
        run(['tar', '-C', folder, '-cf', mixed, 'one.weft'])
        run(['tar', '-C', folder, '-Srf', mixed, 'two.weft'])
        equal(weft('info', mixed).stderr, 'two.weft: left out: not in a format that weft knows\n')
        run(['tar', '-C', folder, '-Scf', mixed, 'two.weft'])
        assert 'without --sparse' in weft('info', mixed, status=3).stderr


@case
def a_name_that_has_no_room_in_an_archive_is_refused():
    with temporary_directory() as folder:
        one, two = record_two(folder)
        out, fits, long = (os.path.join(folder, name) for name in ('out.weft', 'n' * 95 + '.weft', 'n' * 96 + '.weft'))
        os.rename(one, fits)
        weft('merge', fits, two, '-o', out)
        assert os.path.basename(fits) in run(['tar', '-tf', out]).stdout
        os.rename(fits, long)
        with open(out, 'rb') as file:
            before = file.read()
        said = weft('merge', long, two, '-o', out, status=1).stderr
        assert said.startswith('weft: ' + long + ': the name has more than the 100 bytes'), said
        with open(out, 'rb') as file:
            equal(file.read(), before)


@case
def an_interrupted_merge_leaves_nothing():
    """The files have many zeros at their end, so it is noticed in time. If it is not, all is written."""
    with temporary_directory() as folder:
        paths = record_two(folder)
        for path in paths:
            os.truncate(path, 256 << 20)
        for out in os.path.join(folder, 'out.weft'), os.path.join(folder, 'out'):
            before = sorted(os.listdir(folder))
            merge = subprocess.Popen([WEFT, 'merge', *paths, '-o', out], stderr=subprocess.PIPE)
            wait_until('a file is begun', lambda: merge.poll() is not None or sorted(os.listdir(folder)) != before)
            merge.send_signal(signal.SIGINT)
            said = communicate(merge)[1].decode()
            if merge.returncode:
                equal((merge.returncode, said.splitlines()[-1]), (1, 'weft: interrupted: %s is as it was' % out))
                equal(sorted(os.listdir(folder)), before)


@case
def a_range_of_both_hosts_is_cut():
    with temporary_directory() as folder:
        paths = record(folder)
        retime(paths[0], 'alpha')
        retime(paths[1], 'beta', 3600 * 10**9, 100, 10**7)
        whole, parts = times(*paths), os.path.join(folder, 'parts')
        both = sorted(whole[0] + whole[1])
        start, end = both[len(both) // 4], both[len(both) // 2]
        whole_text = weft('dump', '--json', *paths).stdout.splitlines()
        ranged = weft('dump', '--json', *paths, '--start', '@%d' % start, '--duration', '%dns' % (end - start)).stdout
        equal(ranged.splitlines(), [line for line in whole_text if start <= json.loads(line)['time'] < end])
        weft('cut', *paths, '-o', parts, '--start', '@%d' % start, '--duration', '%dns' % (end - start))
        for name, buffer in (('alpha', 0), ('beta', 1)):
            events = [event for event in json_lines(weft('dump', '--json', os.path.join(parts, name + '.weft')).stdout)
                      if not event.get('rundown')]
            inside = bisect.bisect_left(whole[buffer], end) - bisect.bisect_left(whole[buffer], start)
            assert abs(len(events) - inside) <= 2, (name, len(events), inside)  # a time is rounded twice


@case
def a_killed_host_is_aligned():
    with temporary_directory() as folder:
        paths = record(folder, end='kill')
        truth, alpha = truth_of(paths)
        retime(paths[0], 'alpha')
        retime(paths[1], 'beta', 10**10, -50, 4 * 10**7)
        check_truth(paths, truth, alpha)


@case
def one_way_traffic_bounds_one_side():
    with temporary_directory() as folder:
        paths = record(folder, answers='never')
        retime(paths[0], 'alpha')
        # Beta sends. A clock that is behind breaks no rule; one that is ahead is moved back.
        for wall, is_moved in ((-3 * 10**9, False), (3 * 10**9, True)):
            retime(paths[1], 'beta', wall_ns=wall)
            host = hosts_of(*paths)[1]
            equal((host['alignment'], 'error' in host), ('one-sided', False))
            assert (host['moved'] < -10**9) == is_moved, host
            text = weft('info', *paths).stdout
            assert 'or less: ' in text and 'pairs bound its clock from this side only' in text, text
            for edge in json_lines(weft('dump', '--edges', '--json', *paths).stdout):
                if 'sent_error' in edge:
                    assert edge['sent'] <= edge['time'] and edge['sent_error'] is None, edge
            retime(paths[1], 'beta', wall_ns=-wall)


@case
def a_merge_needs_two_traces_and_a_directory():
    with temporary_directory() as folder:
        path, empty, out = (os.path.join(folder, name) for name in ('a.weft', 'empty.weft', 'out'))
        weft('record', '-o', path, 'sh', '-c', 'echo | cat', env={'WEFT_ADAPTERS': ''})
        open(empty, 'wb').close()
        for arguments, status, text in (([path, '-o', out], 2, 'one file is one trace already'),
                                        ([path, empty, '-o', out], 3, 'one file is left, which is a trace already'),
                                        ([path, path, '-o', out], 3, 'a part of the same recording'),
                                        ([path, path, '-o', '-'], 2, 'not to standard output'),
                                        ([path, path], 2, '-o OUT is missing')):
            result = weft('merge', *arguments, status=status, cwd=folder)
            assert text in result.stderr, result.stderr
        equal(sorted(name for name in os.listdir(folder) if not name.endswith('.weft')), [])


@case
def without_messages_nothing_aligns():
    with temporary_directory() as folder:
        paths = record(folder, questions=0)
        for path, name in zip(paths, ('alpha', 'beta')):
            retime(path, name)
        result = weft('dump', *paths)
        assert 'host beta: no message from or to other hosts is in the traces, so nothing aligns its clock' in result.stderr
        equal(hosts_of(*paths)[1], {'host': 'beta', 'alignment': 'none'})


main()
