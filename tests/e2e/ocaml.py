# SPDX-License-Identifier: ISC
"""The packages of OCaml: programs with Lwt that nobody edited do the same when they are recorded, and their traces say who
waited for which promise, and who woke it."""
import json
import os
import re
import shutil
import subprocess

from hanging import Hang
from harness import BUILD, SOURCE, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft

DUNE = os.path.join(BUILD, 'bindings', 'ocaml', 'dune')
LIBRARIES = os.path.join(BUILD, 'src', 'platform')
PROGRAMS = os.path.join(SOURCE, 'tests', 'e2e', 'ocaml')
SHADOW = ('-open', 'Weft_lwt', '-open', 'Weft_lwt_unix')
ENVIRONMENT = {'OCAMLPATH': os.path.join(DUNE, 'install', 'default', 'lib'), 'LIBRARY_PATH': LIBRARIES, 'LD_LIBRARY_PATH': LIBRARIES,
               'CAML_LD_LIBRARY_PATH': os.path.join(DUNE, 'install', 'default', 'lib', 'stublibs')}

OF_TIME = ('slow', 'contention', 'starvation', 'hog')  # problems that a busy machine makes


def environment():
    return dict(os.environ, **ENVIRONMENT)


def compile_in(folder, *arguments, compiler='ocamlopt', packages='weft-lwt.unix,weft-lwt.mprof-unix'):
    if not shutil.which('ocamlfind'):
        skip('OCaml is not installed (ocaml-findlib)')
    if not os.path.exists(os.path.join(BUILD, 'bindings', 'ocaml', 'packages.stamp')):
        skip('built without the packages for OCaml: ocaml-dune, ocaml-findlib or liblwt-ocaml-dev is not installed')
    # The compiler writes beside its source.
    copies = [shutil.copy(it, folder) if it.endswith(('.ml', '.mli')) else it for it in arguments]
    result = run(['ocamlfind', compiler, '-thread', '-package', packages, *copies], cwd=folder, env=environment())
    assert result.returncode == 0, result.stderr


def program(folder, path, *options, **kinds):
    name = os.path.join(folder, os.path.basename(path)[:-3])
    compile_in(folder, '-linkpkg', *SHADOW, *options, path, '-o', name, **kinds)
    return name


def source(name):
    return os.path.join(PROGRAMS, name)


def arp(folder):
    return program(folder, os.path.join(SOURCE, 'examples', 'arp.ml'))


def recorded(folder, *command):
    """Returns the program's output, and the path of its trace."""
    path = os.path.join(folder, 'trace.weft')
    result = run([WEFT, 'record', '-o', path, '--', *command], env=environment())
    assert result.returncode == 0, result.stderr
    return result.stdout, path


def plain(*command):
    result = run(command, env=environment())
    equal((result.returncode, result.stderr), (0, ''))
    return result.stdout


def problems(path):
    return [line.split(None, 1)[1] for line in weft('dump', '--problems', path).stdout.splitlines() if re.match(r' *\d+\.\d', line)]


def grave(path):
    return [line for line in problems(path) if not line.startswith('hint')]


@case
def the_modules_have_what_lwts_have():
    with temporary_directory() as folder:
        compile_in(folder, '-c', source('types.ml'))


@case
def the_package_has_every_call():
    with open(os.path.join(SOURCE, 'include', 'weft', 'calls.def'), encoding='utf-8') as file:
        calls = set(re.findall(r'^WEFT__(?:EDGE|MESSAGE|STATEMENT|TEXT)\((\w+), ', file.read(), re.MULTILINE)) - {'name'}
    with open(os.path.join(SOURCE, 'bindings', 'ocaml', 'weft', 'weft.ml'), encoding='utf-8') as file:
        externals = set(re.findall(r'^external (\w+) :', file.read(), re.MULTILINE))
    assert len(calls) > 15, calls
    equal(sorted(calls - externals), [])


@case
def the_kinds_are_those_of_kinds_def():
    with open(os.path.join(SOURCE, 'include', 'weft', 'kinds.def'), encoding='utf-8') as file:
        kinds = {name.lower(): number for number, name in re.findall(r'^KIND\((\d+), (\w+),', file.read(), re.MULTILINE)}
    with open(os.path.join(SOURCE, 'bindings', 'ocaml', 'weft', 'weft.ml'), encoding='utf-8') as file:
        equal({name.rstrip('_'): number for name, number in re.findall(r'^  let (\w+) : kind = (\d+)$', file.read(), re.MULTILINE)}, kinds)


def behaves_as_alone(compiler):
    with temporary_directory() as folder:
        library, path = source('plain_library.ml'), source('everything.ml')
        alone = os.path.join(folder, 'alone')
        compile_in(folder, '-linkpkg', library, path, '-o', alone, compiler=compiler, packages='lwt.unix')
        expected = plain(alone)
        assert expected.count('\n') == 20, expected
        compile_in(folder, '-c', library, compiler=compiler, packages='lwt.unix')
        object_file = os.path.join(folder, 'plain_library.cmx' if compiler == 'ocamlopt' else 'plain_library.cmo')
        shadowed = program(folder, path, object_file, compiler=compiler)
        equal(plain(shadowed), expected)
        output, trace = recorded(folder, shadowed)
        equal(output, expected)
        info = json.loads(weft('info', '--json', trace).stdout)
        equal((info['diagnostics'], info['losses']), ([], {}))
        return json_lines(weft('dump', '--tasks', '--json', trace).stdout)


@case
def a_program_does_the_same_when_it_is_recorded():
    tasks = behaves_as_alone('ocamlopt')
    kinds = {task['kind'] for task in tasks}
    equal({'bind', 'map', 'try', 'join', 'pick', 'choose', 'wait', 'task', 'async', 'lock', 'timer'} - kinds, set())
    outcomes = {task['outcome'] for task in tasks}
    equal({'fulfilled', 'failed', 'cancelled', 'timed_out'} - outcomes, set())


@case
def bytecode_does_the_same():
    behaves_as_alone('ocamlc')


PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'


def contexts(text):
    """The printed contexts: a list of trace and span for each name."""
    found = {}
    for line in text.splitlines():
        name, _, context = line.rpartition(' ')
        found.setdefault(name, []).append(tuple(context.split('-')[1:3]))
    return found


@case
def contexts_go_with_promises():
    """Two requests run at a time; the first goes on with the trace of another program."""
    with temporary_directory() as folder:
        name, path = program(folder, source('contexts.ml')), os.path.join(folder, 'trace.weft')
        result = run([WEFT, 'record', '-o', path, '--', name], env=dict(environment(), TRACEPARENT=PARENT))
        equal((result.returncode, 'fails: bad\nfails later: worse\nnone \n' in result.stdout), (0, True), result.stderr)
        said = contexts(result.stdout)
        spans = [span for line in json_lines(weft('export', '--to', 'otlp-json', path).stdout) for resource in line.get('resourceSpans', [])
                 for scope in resource['scopeSpans'] for span in scope['spans']]
        at = {span['name']: (span['traceId'], span['spanId'], span.get('parentSpanId')) for span in spans}
        (remote, caller), first, second = PARENT.split('-')[1:3], at['first'], at['second']
        equal((first[0], first[2]), (remote, caller))
        equal((second[0] != remote, second[2]), (True, None))
        for request, query in ((first, at['first query']), (second, at['second query'])):
            equal((query[0], query[2]), request[:2])
        for request in 'first', 'second':
            equal([said[request], said[request + ' again'], said[request + ' query']], [[at[request][:2]], [at[request][:2]], [at[request + ' query'][:2]]])
        tasks = {task['label']: task['outcome'] for task in json_lines(weft('dump', '--tasks', '--json', path).stdout) if task.get('label')}
        equal([tasks[label] for label in ('first', 'first query', 'fails', 'fails later')], ['fulfilled', 'fulfilled', 'failed', 'failed'])
        alone = run([name], env=dict(environment(), TRACEPARENT=PARENT))
        said = contexts(alone.stdout)
        equal((said['first'], said['first query'], said['second']), ([(remote, caller)], [(remote, caller)], [()]))
        assert 'fails: bad\nfails later: worse\nnone \n' in alone.stdout, alone.stdout


@case
def loops_keep_nothing_for_each_turn():
    with temporary_directory() as folder:
        output, _ = recorded(folder, program(folder, source('loops.ml')))
        equal(output, 'binds: nothing\ntries: nothing\npicks: nothing\n')


@case
def mutexes_and_conditions_show_who_is_to_blame():
    with temporary_directory() as folder:
        locks = program(folder, source('locks.ml'))
        _, path = recorded(folder, locks, 'circle')
        assert re.match(r"warning +deadlock +task \d+ 'lock' waits for lock \d+, and so on in a circle of \d+, until lock timed out", problems(path)[0]), \
            problems(path)
        closed = json_lines(weft('dump', '--problems', '--json', path).stdout)[0]['start']
        chain = weft('why', path, 'with_lock', '--at', '@%d' % (closed + 1000)).stdout
        assert len(re.findall(r"lock \d+ is held by try \d+ 'with_lock' since", chain)) == 2 and 'A circle' in chain, chain
        equal([it for it in problems(path) if 'never released' in it], [])  # a lock whose wait was cancelled is not taken
        _, path = recorded(folder, locks, 'early')
        assert re.match(r"warning +lost wake-up +wait \d+ 'condition' waits from .*: main signalled condition \d+ .* before", problems(path)[0]), \
            problems(path)


@case
def sound_mutexes_and_conditions_are_silent():
    with temporary_directory() as folder:
        locks = program(folder, source('locks.ml'))
        output, path = recorded(folder, locks, 'sound')
        equal(output, plain(locks, 'sound'))
        equal([it for it in grave(path) if not re.match(r'error +failed|\w+ +(%s)' % '|'.join(OF_TIME), it)], [])
        tasks = json_lines(weft('dump', '--tasks', '--json', path).stdout)
        lock, = [it['task'] for it in tasks if it['kind'] == 'lock']
        events = [it for it in json_lines(weft('dump', '--json', path).stdout) if it.get('resource') == lock]
        # Each one that takes it gives it back, before the next one takes it.
        equal({it['event'] for it in events[::2]}, {'acquire'})
        equal([(it['event'], it['task']) for it in events[1::2]], [('release', it['task']) for it in events[::2]])


@case
def a_wait_in_a_loop_is_that_of_its_latest_turn():
    with temporary_directory() as folder:
        _, path = recorded(folder, program(folder, source('turns.ml')))
        waits = weft('why', path).stdout
        assert re.search(r"waits? for task \d+ 'reply that never comes'", waits), waits


@case
def a_promise_that_a_callback_returned_fails_by_its_waker():
    with temporary_directory() as folder:
        _, path = recorded(folder, program(folder, source('turns.ml')))
        tasks = {task['label']: task for task in json_lines(weft('dump', '--tasks', '--json', path).stdout)}
        equal(tasks['broken']['outcome'], 'failed')
        ends = [event for event in json_lines(weft('dump', '--json', path).stdout) if event['event'] == 'fail']
        equal(ends[0]['task'], tasks['main']['task'])


@case
def a_lost_wake_up_is_the_first_problem():
    with temporary_directory() as folder:
        name = arp(folder)
        for _ in range(5):
            output, path = recorded(folder, name, 'lost')
            equal(output, '')
            found = problems(path)
            assert re.match(r"error +never resolved +task \d+ 'ARP response 10.0.0.2' is never resolved", found[0]), found
        waits = weft('why', path).stdout
        assert re.search(r"waits? for task \d+ 'ARP response 10.0.0.2'", waits), waits


@case
def its_good_twin_is_silent():
    with temporary_directory() as folder:
        name = arp(folder)
        for arguments in (['good'], ['good', 'timeout']):
            output, path = recorded(folder, name, *arguments)
            equal(output, '10.0.0.2 is at 00:16:3e:00:00:02\n')
            equal(grave(path), [])


@case
def what_a_time_out_ends_has_timed_out():
    with temporary_directory() as folder:
        output, path = recorded(folder, arp(folder), 'lost', 'timeout')
        equal(output, 'no answer\n')
        tasks = json_lines(weft('dump', '--tasks', '--json', path).stdout)
        response = [task for task in tasks if task['label'] == 'ARP response 10.0.0.2']
        equal([task['outcome'] for task in response], ['timed_out'])
        first = r"warning +timed out +task \d+ 'ARP response 10.0.0.2' timed out after .*, although it should have ended"
        assert re.match(first, problems(path)[0]), problems(path)
        equal([task['outcome'] for task in tasks if task['kind'] == 'pick'], ['fulfilled'])


# Each fault: a program, and how a problem begins.
FAULTS = {
    'blocked': ('''let rec tick n = if n = 0 then Lwt.return_unit else Lwt.bind (Lwt_unix.sleep 0.01) (fun () -> tick (n - 1))
let bad () = Lwt.bind (Lwt_unix.sleep 0.05) (fun () -> Unix.sleepf 0.3; Lwt.return_unit)
let () = Lwt_main.run (Lwt.join [tick 20; tick 20; bad ()])''', r"warning +late timer +timer \d+ 'sleep 0.01 s' fired .* late: .* while bind \d+ ran for "),
    'unhandled': ('''let () = Lwt.async_exception_hook := (fun _ -> ())
let fail () = Lwt.bind (Lwt_unix.sleep 0.01) (fun () -> Lwt.fail_with "bad")
let () = Lwt.async fail; Lwt_main.run (Lwt_unix.sleep 0.05)''', r'error +failed +async \d+ failed at .*: Failure."bad".'),
}


@case
def faults_are_found():
    for name, (text, wanted) in FAULTS.items():
        with temporary_directory() as folder:
            path = os.path.join(folder, name + '_source.ml')
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
            built = os.path.join(folder, 'built')
            os.mkdir(built)
            command = program(built, path)
            for _ in range(5):
                # On a busy machine other timers may be late, too.
                found = grave(recorded(folder, command)[1])
                assert any(re.match(wanted, problem) for problem in found), (name, found)


def killed(folder, name, text, **how):
    """The graver problems of a program that prints its number, and is killed when it hangs."""
    path = os.path.join(folder, name + '.ml')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('let () = Printf.printf "%d\\n%!" (Unix.getpid ())\n' + text)
    built = os.path.join(folder, name)
    os.mkdir(built)
    hang = Hang(program(built, path), folder=built, adapters='auto', env=ENVIRONMENT, **how)
    return [it for it in hang.problems() if it['severity'] != 'hint' and it['problem'] not in OF_TIME]


# Programs that nothing can wake, and how the problem ends.
ASLEEP = {
    'put': 'let () = let it = Lwt_mvar.create 1 in Lwt_main.run (Lwt.join [Lwt_mvar.put it 2; Lwt_mvar.put it 3])',
    'pool': """let use pool f = Lwt_pool.use pool f
let () = let pool = Lwt_pool.create 1 (fun () -> Lwt.return 1) in
  Lwt_main.run (use pool (fun _ -> Lwt.bind (Lwt_unix.sleep 0.01) (fun () -> use pool (fun _ -> Lwt.return_unit))))""",
    'job': """let () = Lwt_main.run (Lwt.bind (Lwt_unix.stat "/") (fun _ -> fst (Lwt.wait ())))""",
}
# These wait for ever as well, but something may wake them.
AWAKE = {
    'service': """let address = Unix.ADDR_INET (Unix.inet_addr_loopback, 0)
let () = Lwt_main.run (Lwt.bind (Lwt_io.establish_server_with_client_address address (fun _ _ -> Lwt.return_unit))
  (fun _ -> fst (Lwt.wait ())))""",
    'signals': """let () = ignore (Lwt_unix.on_signal Sys.sigusr1 ignore); Lwt_main.run (fst (Lwt.wait ()))""",
}


@case
def a_loop_that_nothing_can_wake_has_hung():
    with temporary_directory() as folder:
        for name, text in ASLEEP.items():
            found = killed(folder, name, text, until=lambda it: it['severity'] == 'error')
            assert [it['severity'] for it in found[:1]] == ['error'] and 'nothing is left that could end this' in found[0]['sentence'], (name, found)
        for name, text in AWAKE.items():
            found = killed(folder, name, text, waits=['for wait'])
            assert not [it for it in found if it['severity'] == 'error' or name == 'service'], (name, found)


@case
def the_interface_of_mirage_profile_is_whole():
    with temporary_directory() as folder:
        equal(plain(program(folder, source('mprof.ml'))), 'stopped\n')


@case
def a_buffer_of_mirage_profile_is_a_trace():
    """While the program runs, at its end and after a crash."""
    with temporary_directory() as folder:
        name = program(folder, source('profiled.ml'))
        for arguments, status in (([], 0), (['crash'], -9)):
            path = os.path.join(folder, 'trace.ctf')
            result = subprocess.run([name, path, *arguments], env=environment(), capture_output=True, text=True, check=False)
            equal((result.returncode, result.stderr), (status, ''))
            tasks = {task['label']: task for task in json_lines(weft('dump', '--tasks', '--json', path).stdout)}
            equal([tasks[it]['outcome'] for it in ('Bob', 'Fred', 'never')], ['fulfilled', 'fulfilled', 'never_resolved'])
            events = weft('dump', path).stdout
            for text in ('name="requests"', 'name="bytes"', 'name="old"', 'text="served"', 'reason="wait for work"'):
                assert text in events, (text, events)


@case
def lwts_own_tests_pass():
    """WEFT_LWT_SOURCE names the unpacked sources of the Lwt that is installed (apt-get source lwt)."""
    folder_of_lwt = os.environ.get('WEFT_LWT_SOURCE')
    if not folder_of_lwt:
        skip('WEFT_LWT_SOURCE is not set')
    with temporary_directory() as folder:
        tests = os.path.join(folder_of_lwt, 'test')
        core = os.path.join(tests, 'core')
        names = [it for it in os.listdir(core) if it.startswith('test_') and it.endswith('.ml')]
        driver = [os.path.join(tests, it) for it in ('test.mli', 'test.ml')]
        compile_in(folder, '-w', '-a', '-c', *driver, packages='lwt.unix')
        sources = [os.path.join(core, it) for it in [*names, 'main.ml']]
        program_path = os.path.join(folder, 'tests')
        compile_in(folder, '-w', '-a', '-open', 'Weft_lwt', '-linkpkg', 'test.cmx', *sources, '-o', program_path, packages='weft-lwt,lwt.unix')
        output, _ = recorded(folder, program_path)
        assert re.search(r'^Ok\. \d+ tests ran', output, re.MULTILINE), output


main()
