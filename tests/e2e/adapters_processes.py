# SPDX-License-Identifier: ISC
"""Programs that nobody changed, in several processes: which of them waits for which."""
import fcntl
import glob
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile

from harness import BUILD, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft
from waiting import wait_until

SUBJECT = os.path.join(BUILD, 'tests', 'process-subject')
SHARED = os.path.join(BUILD, 'tests', 'shared-subject')
PARENT = 'process-subject'
WORK = 100 * 10**6  # nanoseconds that a child works before it sends


class Run:
    """The trace of a part of the subject: `edges` has those between processes, by what they connect. `why` is about the
    program's wait for what is called `awaited`: which of its waits is the longest is a matter of the machine's other work."""
    def __init__(self, part, awaited='exit of process'):
        with temporary_directory() as folder:
            weft('record', '--size', '64K', '-a', 'thread,io', '-o', folder + '/', '--', SUBJECT, part,
                 env={'XDG_RUNTIME_DIR': folder})
            info = weft('info', folder)
            equal(info.stderr, '')
            assert ' have both sides' in info.stdout or ' has both sides' in info.stdout, info.stdout
            tasks = json_lines(weft('dump', '--tasks', '--json', folder).stdout)
            name = {(task['buffer'], task['task']): task['label'] for task in tasks}
            self.tasks = tasks
            self.events = json_lines(weft('dump', '--json', folder).stdout)
            self.names = list(name.values())
            self.edges = [(name[edge['from_buffer'], edge['from']], name[edge['buffer'], edge['to']].rstrip('0123456789 '))
                          for edge in json_lines(weft('dump', '--edges', '--json', folder).stdout)
                          if edge['edge'] == 'receive' and 'from_buffer' in edge]
            self.why = self.explain(folder, awaited)

    def explain(self, folder, awaited):
        sources = {(task['buffer'], task['task']) for task in self.tasks if (task['label'] or '').startswith(awaited)}
        if not sources:
            return ''
        events = [event for event in self.events if (event['buffer'], event.get('source')) in sources]
        begin, end = ([event for event in events if event['event'] == name][-1] for name in ('try_read', 'read'))
        # The wait is for a message until that comes, which may be early in the short time that a read takes.
        received = min([event['time'] for event in self.events if event['event'] == 'receive' and event['time'] >= begin['time'] and
                        (event['buffer'], event['task']) in sources], default=end['time'])
        # The program may go on long after the child has sent: another program has the processor.
        sent = max([event['time'] for event in self.events if event['event'] == 'send' and event['buffer'] != begin['buffer'] and
                    begin['time'] < event['time'] < end['time']], default=received)
        return weft('why', '--at', '@%d' % ((max(begin['time'], sent - WORK) + sent) // 2), folder,
                    'task:%d/%d' % (begin['buffer'], begin['task'])).stdout


@case
def a_descriptor_leads_to_the_process_that_writes():
    """The child is a fork, which has the name of its parent. It exits by _exit."""
    for part, descriptor in (('pipe', 'pipe'), ('pair', 'unix fd'), ('tcp', 'tcp 127.0.0.1:')):
        run_ = Run(part, awaited=descriptor)
        equal(run_.edges, [(PARENT, PARENT), (PARENT, descriptor), (PARENT, 'exit of process')], part)
        assert "'%s" % descriptor in run_.why and "' waits for a message, from " in run_.why, run_.why


@case
def a_descriptor_leads_to_a_process_that_has_ended():
    for part, descriptor in (('pipe-left', 'pipe'), ('pair-left', 'unix fd'), ('tcp-left', 'tcp 127.0.0.1:')):
        run_ = Run(part, awaited=descriptor)
        equal(run_.edges, [(PARENT, PARENT), (PARENT, 'exit of process'), (PARENT, descriptor)], part)
        assert re.search("'%s.*' gets at .* what .* '%s' has sent already" % (descriptor, PARENT), run_.why), run_.why


@case
def a_program_alone_has_no_messages():
    """It sends, for example to the parent that may wait for its end, but nobody else is in the trace."""
    with temporary_directory() as folder:
        file = os.path.join(folder, 't.weft')
        weft('record', '--size', '64K', '-a', 'thread,io', '-o', file, '--', SUBJECT, 'child', status=7, env={'XDG_RUNTIME_DIR': folder})
        info = weft('info', file).stdout
        assert ' send' in info and 'messages' not in info, info


@case
def a_wait_leads_to_the_child():
    """However the child's program begins: it receives from its parent, and the wait receives from it."""
    for part in ('fork', 'vfork', 'spawn'):
        run_ = Run(part)
        equal(run_.edges, [(PARENT, 'process-child'), ('process-child', 'exit of process')], part)
        assert "waits for a message, from thread 1 'process-child'" in run_.why, run_.why


@case
def exec_ends_a_program():
    """The first exec fails, so the task goes on until the second one. Its row ends where the next program's begins, or
    when `weft record` has noticed the exec, if that is earlier."""
    run_ = Run('exec')
    before, after = (next(task for task in run_.tasks if task['label'] == label and task['buffer'] != 0) for label in (PARENT, 'process-child'))
    equal(before['process'], after['process'])
    acts = [event for event in run_.events if event['buffer'] == before['buffer'] and event['event'] in ('send', 'switch')]
    equal([(act['event'], act.get('task')) for act in acts[-5:]],
          [('send', before['task']), ('switch', None), ('switch', before['task']), ('send', before['task']), ('switch', None)], acts)
    assert acts[-1]['time'] <= before['end'] <= after['start'], (acts[-1], before, after)


@case
def a_child_that_waits_for_the_parent_that_waits_for_its_end():
    program = ('import os; read, write = os.pipe(); child = os.fork()\n'
               'if not child: os.dup2(write, 1), os.close(read), os.close(write), os.execlp("seq", "seq", "1000000")\n'
               'os.close(write); print(os.getpid(), child, flush=True); os.waitpid(child, 0)')
    with temporary_directory() as folder:
        traces, env = os.path.join(folder, 'traces'), {'XDG_RUNTIME_DIR': folder}
        process = subprocess.Popen([WEFT, 'record', '-a', 'thread,io', '-o', traces + '/', '/usr/bin/python3', '-c', program],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, **env))
        parent, child = (int(number) for number in process.stdout.readline().split())
        for pid, source in ((parent, 'exit of process'), (child, 'pipe')):
            wait_until('a wait for ' + source, lambda: source in weft('why', pid, env=env, status=None).stdout, process)
        os.kill(child, signal.SIGSTOP)  # the end of the pipe's reader would end its wait
        os.kill(parent, signal.SIGKILL)
        os.kill(child, signal.SIGKILL)
        process.communicate()
        problems = weft('dump', '--problems', traces).stdout
        assert ' deadlock ' in problems.splitlines()[0], problems + weft('why', traces, status=None).stdout
        assert 'is the end of thread' in weft('why', traces, 'exit of process %d' % child, status=None).stdout


def last_wait(folder, thread, awaited):
    """The begin and the end of the last wait of a thread for something called like that."""
    tasks = json_lines(weft('dump', '--tasks', '--json', folder).stdout)
    waiter = next((task['buffer'], task['task']) for task in tasks if task['label'] == thread)
    sources = {task['task'] for task in tasks if task['buffer'] == waiter[0] and (task['label'] or '').startswith(awaited)}
    events = [event for event in json_lines(weft('dump', '--json', folder).stdout) if (event['buffer'], event.get('task')) == waiter]
    begin = [event['time'] for event in events if event.get('source') in sources and event['event'] == 'try_read'][-1]
    return begin, next(event['time'] for event in events if event['time'] > begin)


@case
def a_wait_for_what_another_process_has():
    for way, awaited, words in (('mutex', 'lock', 'was held by'), ('robust', 'lock', 'was held by'), ('rwlock', 'rwlock', 'was held by'),
                                ('flock', 'flock first.lock', 'was held by'), ('fcntl', 'fcntl F_SETLKW first.lock', 'was held by'),
                                ('lockf', 'lockf first.lock', 'was held by'), ('semaphore', 'semaphore', 'is signalled by'),
                                ('condition', 'condition', 'is signalled by'), ('barrier', 'barrier', 'is signalled by')):
        with temporary_directory() as folder:
            weft('record', '-a', 'thread,io', '-o', 'traces/', '--', SHARED, way, cwd=folder, env={'XDG_RUNTIME_DIR': folder})
            traces = os.path.join(folder, 'traces')
            begin, end = last_wait(traces, 'beta', awaited)
            answer = weft('why', '--at', '@%d' % ((begin + end) // 2), traces, 'beta').stdout
            assert re.search(r"'%s.*' %s thread \d+ 'alpha'" % (awaited, words), answer), (way, answer)


@case
def a_lock_of_a_process_that_is_not_recorded():
    """This test has it."""
    program = 'import fcntl, os; print(os.getpid(), flush=True); fcntl.flock(open("a.lock"), fcntl.LOCK_EX)'
    with temporary_directory() as folder, open(os.path.join(folder, 'a.lock'), 'w', encoding='utf-8') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        env = {'XDG_RUNTIME_DIR': folder}
        process = subprocess.Popen([WEFT, 'record', '-a', 'io', '-o', 't.weft', '/usr/bin/python3', '-c', program], cwd=folder,
                                   env=dict(os.environ, **env), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        pid = int(process.stdout.readline())
        wait_until('a wait', lambda: ', held by process' in weft('why', pid, env=env, status=None).stdout, process)
        answer = weft('why', pid, 'python3', env=env).stdout
        fcntl.flock(file, fcntl.LOCK_UN)
        equal(process.wait(), 0)
        assert re.search(r"'flock a.lock' was held by process %d at .*, which is not in the trace" % os.getpid(), answer), answer


@case
def few_waits_ask_for_the_list_of_locks():
    """The kernel takes long for it. This test lets go of the lock 100 times as soon as the program waits for it."""
    program = ('import fcntl\n'
               'with open("a.lock") as file:\n'
               '    for _ in range(100): input(); fcntl.flock(file, fcntl.LOCK_EX); fcntl.flock(file, fcntl.LOCK_UN); print(flush=True)')
    with temporary_directory() as folder, open(os.path.join(folder, 'a.lock'), 'w', encoding='utf-8') as file:
        process = subprocess.Popen([WEFT, 'record', '-a', 'io', '-o', 't.weft', '/usr/bin/python3', '-c', program], cwd=folder, text=True,
                                   env=dict(os.environ, XDG_RUNTIME_DIR=folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        waiter = re.compile(r'-> FLOCK .*:%d ' % os.fstat(file.fileno()).st_ino)
        for _ in range(100):
            fcntl.flock(file, fcntl.LOCK_EX)
            print(file=process.stdin, flush=True)
            while not waiter.search(pathlib.Path('/proc/locks').read_text(encoding='ascii')):
                assert process.poll() is None
            fcntl.flock(file, fcntl.LOCK_UN)
            process.stdout.readline()
        equal(process.wait(), 0)
        events = json_lines(weft('dump', '--json', 't.weft', cwd=folder).stdout)
        tags = [e['value'] for e in events if e['event'] == 'tag' and e['text'] == 'held by process']
        equal(set(tags), {os.getpid()})
        assert len(tags) < 100, len(tags)


@case
def a_circle_of_locks_of_two_processes():
    for way in ('mutexes', 'files'):
        with temporary_directory() as folder:
            env = {'XDG_RUNTIME_DIR': folder}
            process = subprocess.Popen([WEFT, 'record', '-a', 'thread,io', '-o', 'traces/', '--', SHARED, way], cwd=folder,
                                       env=dict(os.environ, **env), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            children = [int(process.stdout.readline()) for _ in range(2)]
            for child in children:
                wait_until('a lock', lambda pid=child: ', held by ' in weft('why', pid, env=env, status=None).stdout, process)
            for number in (signal.SIGSTOP, signal.SIGKILL):  # the end of one lets the other one have its lock
                for child in children:
                    os.kill(child, number)
            process.communicate()
            problems = weft('dump', '--problems', os.path.join(folder, 'traces')).stdout
            assert ' deadlock ' in problems.splitlines()[0] and 'which waits for it' in problems, (way, problems)
            # The records of both have ended: nothing is missing.
            answer = weft('why', os.path.join(folder, 'traces'), 'beta', status=None).stdout
            assert ' A circle: ' in answer and '; its record ends at ' in answer and 'missing' not in answer, answer


@case
def programs_of_one_process_are_in_their_order():
    """FILE and the exit status are the last one's, whatever their names."""
    for first, last, command, status in (('env', 'sh', ('env', 'sh', '-c', 'exit 6'), 6),
                                         ('sh', 'cat', ('sh', '-c', 'exec cat missing'), 1)):
        with temporary_directory() as folder:
            path = os.path.join(folder, 't.weft')
            weft('record', '-a', 'thread', '--keep-all', '-o', path, '--', *command, cwd=folder, env={'XDG_RUNTIME_DIR': folder}, status=status)
            other, = glob.glob(os.path.join(folder, 't-*.weft'))
            labels = [json_lines(weft('dump', '--tasks', '--json', trace).stdout)[0]['label'] for trace in (path, other)]
            equal(labels, [last, first])
            ended = 'ended with status %d' % status
            equal([ended in weft('info', trace).stdout for trace in (path, other)], [True, False])


@case
def programs_that_only_start_another_are_left_out():
    """Unless the machine was so busy that they were not short."""
    for options in (('-a', 'thread'), ('-a', 'auto'), ('-a', 'auto', '--stream')):
        with temporary_directory() as folder:
            path = os.path.join(folder, 't.weft')
            result = weft('record', *options, '-o', path, '--', 'sh', '-c', 'exec env sleep 0.3', cwd=folder,
                          env={'XDG_RUNTIME_DIR': folder})
            equal(json_lines(weft('dump', '--tasks', '--json', path).stdout)[0]['label'], 'sleep')
            kept = glob.glob(os.path.join(folder, 't-*.weft'))
            found = re.search(r'weft: (\d+) short helper programs? (is|are) left out', result.stderr)
            left_out = int(found.group(1)) if found else 0
            equal(len(kept) + left_out, 2, result.stderr)
            for trace in kept:
                facts = json.loads(weft('info', '--json', trace).stdout)
                assert facts['last_event'] - facts['start'] >= 100000000, facts
    with temporary_directory() as folder:
        weft('record', '-a', 'thread', '-o', os.path.join(folder, 'all') + '/', '--', 'sh', '-c', 'exec env sleep 0.01',
             cwd=folder, env={'XDG_RUNTIME_DIR': folder})
        equal(len(glob.glob(os.path.join(folder, 'all', '*.weft'))), 3)


def stream_through_link(folder, target, *options):
    """The names of the files in the folder, and the messages."""
    with open(target, 'wb'):
        pass
    os.symlink(target, os.path.join(folder, 't.weft'))
    result = weft('record', '-a', 'thread', '--stream', *options, '-o', 't.weft', '--', 'sh', '-c', 'exec env sleep 0.3', cwd=folder,
                  env={'XDG_RUNTIME_DIR': folder})
    assert os.path.islink(os.path.join(folder, 't.weft')), result.stderr
    return sorted(glob.glob(os.path.join(folder, 't*.weft'))), result.stderr


def first_label(trace):
    return json_lines(weft('dump', '--tasks', '--json', trace).stdout)[0]['label']


@case
def a_link_to_a_stream_stays():
    """And leads to the last program's."""
    for options in ((), ('--keep-all',)):
        with temporary_directory() as folder:
            target = os.path.join(folder, 'target')
            traces, errors = stream_through_link(folder, target, *options)
            assert options == () or len(traces) == 3, (traces, errors)
            equal(first_label(target), 'sleep', errors)
            assert set(map(first_label, traces[:-1])) <= {'sh', 'env'}, errors


@case
def a_stream_keeps_its_name_if_it_cannot_have_that_of_the_first():
    """The link leads to another file system, on which the first program's stream stays."""
    if not os.path.isdir('/dev/shm'):
        skip('there is no /dev/shm')
    with temporary_directory() as folder, tempfile.TemporaryDirectory(dir='/dev/shm') as shared:
        if os.stat(folder).st_dev == os.stat(shared).st_dev:
            skip('both folders are on one file system')
        for number, options in enumerate(((), ('--keep-all',))):
            here = os.path.join(folder, str(number))
            os.mkdir(here)
            traces, errors = stream_through_link(here, os.path.join(shared, str(number)), *options)
            assert ' cannot become t.weft: ' in errors, errors
            equal(first_label(os.path.join(here, 't.weft')), 'sh', errors)
            assert 'sleep' in map(first_label, traces[:-1]), (traces, errors)


@case
def a_helper_that_is_killed_is_kept():
    """However short it was."""
    with temporary_directory() as folder:
        result = weft('record', '-a', 'thread', '-o', 't.weft', '--', 'sh', '-c', 'env bash -c "kill -SEGV \\$\\$"; true', cwd=folder,
                      env={'XDG_RUNTIME_DIR': folder})
        kept = [json_lines(weft('dump', '--tasks', '--json', trace).stdout)[0]['label'] for trace in glob.glob(os.path.join(folder, 't-*.weft'))]
        assert 'bash' in kept, (result.stderr, kept)


@case
def a_shell_leads_to_its_caller():
    """libc begins these children. The edges of a later child are its own."""
    later = [(PARENT, PARENT), (PARENT, 'exit of process')]
    for part, own in (('system', [(PARENT, 'sh'), ('sh', 'system sleep 0.02; exit')] + later),
                      ('popen', [(PARENT, 'sh'), ('sh', 'exit of process')])):
        equal([edge for edge in Run(part).edges if edge[0] in (PARENT, 'sh') and edge[1] != 'sleep'], own, part)


@case
def libc_forks():
    """A daemon is made by a child, whose end its parent sees."""
    for part, children in (('terminal', 1), ('daemon', 2)):
        equal(sorted(Run(part).edges), sorted([(PARENT, PARENT)] * children + [(PARENT, 'exit of process')]), part)


@case
def libc_writes_when_a_buffer_is_full():
    run_ = Run('stream')
    equal(run_.edges[:2], [(PARENT, PARENT), (PARENT, 'pipe')])


@case
def a_wait_for_one_pipe_belongs_to_the_program():
    run_ = Run('jobs', awaited='exit of a child')
    pipe, = [task for task in run_.tasks if task['label'] == 'pipe']
    equal(pipe['activations'], 0)
    assert "'exit of a child" in run_.why and "thread 1 '%s' waits for call" % PARENT in run_.why, run_.why


@case
def a_child_that_is_killed_sends_nothing():
    run_ = Run('kill')
    equal(run_.edges, [(PARENT, PARENT)])


@case
def processes_are_called_by_their_titles():
    """Written over the arguments or given by prctl; of processes that end, and of those that are killed."""
    with temporary_directory() as folder:
        weft('record', '--size', '64K', '-a', 'thread,io', '-o', folder + '/', '--', SUBJECT, 'titles',
             env={'XDG_RUNTIME_DIR': folder})
        processes = json.loads(weft('info', '--json', folder).stdout)['buffers']
        titles = {'worker: done', 'worker: second', ':third'}
        equal(sorted(process.get('title', '') for process in processes), ['', *sorted(titles)])
        equal({process['program'] for process in processes}, {PARENT})
        killed = next(process for process in processes if process.get('title') == 'worker: second')
        one = os.path.join(folder, killed['file'])
        assert re.search('^title +worker: second$', weft('info', one).stdout, re.MULTILINE), weft('info', one).stdout
        labels = [task['label'] for task in json_lines(weft('dump', '--tasks', '--json', folder).stdout) if task['kind'] == 'thread']
        equal(sorted(labels), sorted([PARENT, *titles]))
        picture = weft('render', '--group', 'process', '--format', 'svg', '-o', '-', folder).stdout
        part = os.path.join(folder, 'part.weft')
        weft('cut', one, '-o', part)
        chrome = weft('export', '--to', 'chrome', part).stdout
        for words in 'worker: done', 'worker: second', ':third':
            assert words in picture, words
        assert '"process_name","args":{"name":"worker: second"' in chrome, chrome[:1000]
        equal(json_lines(weft('query', '--json', folder, "SELECT count(*) AS n FROM processes WHERE title = 'worker: second'").stdout), [{'n': 1}])


# Makes children one after the other, and goes on when each has ended.
CHILDREN = '''
import os, signal, time
def has_ended(child):
    with open('/proc/%d/stat' % child) as file:
        return file.read().rpartition(')')[2].split()[0] == 'Z'
def begin(count):
    children = []
    for _ in range(count):
        children.append(os.fork() or os._exit(0))
        while not has_ended(children[-1]):
            time.sleep(0.001)
    return children
'''


def leaks_of(program):
    with temporary_directory() as folder:
        trace = os.path.join(folder, 't.weft')
        weft('record', '-a', 'thread', '-o', trace, '--', 'python3', '-c', CHILDREN + program)
        return [(p['severity'], p['sentence']) for p in json_lines(weft('dump', '--problems', '--json', trace).stdout)
                if p['problem'] == 'leak']


@case
def children_that_have_ended_and_are_not_waited_for_are_counted():
    (severity, sentence), = leaks_of('begin(20)')
    equal(severity, 'warning')
    assert re.search("^20 children of thread 1 'python3' have ended and were not waited for by ", sentence), sentence
    # Waited for late, or at once.
    equal(leaks_of('for child in begin(20): os.waitpid(child, 0)'), [])
    equal(leaks_of('for _ in range(20): os.waitpid(begin(1)[0], 0)'), [])
    equal(leaks_of('for _ in range(40): os.waitpid(-1, os.WNOHANG) if begin(1) else 0'), [])
    # Three signals have become one, and the program waits for another one.
    (severity, sentence), = leaks_of('signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGALRM}); begin(3)\n'
                                     'signal.sigwait({signal.SIGCHLD}); os.waitpid(-1, os.WNOHANG)\n'
                                     'signal.setitimer(signal.ITIMER_REAL, 0.001); signal.sigwait({signal.SIGALRM})')
    equal(severity, 'hint')
    assert re.search("^2 children of thread 1 'python3' have ended and were not waited for by ", sentence), sentence


@case
def the_program_behaves_as_before():
    for part in ('pipe', 'pair', 'tcp', 'pipe-left', 'pair-left', 'tcp-left', 'fork', 'exec', 'vfork', 'spawn', 'system', 'popen', 'terminal', 'daemon', 'stream',
                 'jobs', 'kill'):
        equal(run([SUBJECT, part]).returncode, 0, part)


main()
