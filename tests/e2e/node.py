# SPDX-License-Identifier: ISC
"""Node under `weft record`: promises, callbacks and requests are recorded, and nothing else changes."""
import json
import os
import re
import shutil

from hanging import Hang
from harness import BUILD, SOURCE, WEFT, case, equal, json_lines, main, run, skip, temporary_directory, weft

PROGRAMS = os.path.join(SOURCE, 'tests', 'e2e', 'node')
# These depend on how busy the machine is.
OF_TIME = ('late timer', 'idle gap', 'slow', 'hog', 'not seen')


def check_built():
    if not os.path.exists(os.path.join(BUILD, 'bindings', 'node', 'weft.node')):
        skip('built without the addon for node: node_api.h (libnode-dev) is not installed')
    node = shutil.which('node')
    if not node:
        skip('node is not installed')
    version = run([node, '--version']).stdout
    if int(version[1:].split('.')[0]) < 18:
        skip('node is older than 18: ' + version.strip())


class Trace:
    """The trace of a program; `text` is the program, or the name of one of tests/e2e/node."""

    def __init__(self, text, env=None, status=0):
        check_built()
        with temporary_directory() as folder:
            path, source = os.path.join(folder, 'trace.weft'), os.path.join(folder, 'program.js')
            if re.fullmatch(r'[\w/]+\.js', text):
                shutil.copy(os.path.join(PROGRAMS, text), source)
            else:
                with open(source, 'w', encoding='utf-8') as file:
                    file.write(text)
            result = run([WEFT, 'record', '-a', 'auto', '-o', path, 'node', source], env=env)
            equal(result.returncode, status)
            self.messages = result.stderr
            self.info = json.loads(weft('info', '--json', path).stdout)
            self.events = json_lines(weft('dump', '--json', path).stdout)
            self.tasks = json_lines(weft('dump', '--tasks', '--json', path).stdout)
            self.text = weft('dump', '--problems', path).stdout
            self.output = result.stdout.split()
            lines = json_lines(weft('export', '--to', 'otlp-json', '--signal', 'traces', path).stdout)
            self.spans = [span for line in lines for resource in line['resourceSpans'] for scope in resource['scopeSpans'] for span in scope['spans']]
        equal(self.info['diagnostics'], [])

    def labels(self):
        return {task['task']: task['label'] for task in self.tasks}

    def pairs(self, event, one='task', other='source'):
        """The labels of two tasks of each event of a kind."""
        labels = self.labels()
        return [(labels.get(found[one]), labels.get(found[other])) for found in self.events if found['event'] == event]

    def outcomes(self, pattern):
        return sorted((task['label'], task['outcome']) for task in self.tasks if re.fullmatch(pattern, task['label'] or ''))

    def grave(self):
        """The lines of errors and warnings, without those that come from a busy machine."""
        return [line for line in self.text.splitlines() if re.match(r'\s*\S+\s+(error|warning)\s', line)
                and not re.match(r'\s*\S+\s+warning\s+(%s)\s' % '|'.join(OF_TIME), line)]

    def first(self):
        return self.text.splitlines()[0] if self.text else ''


# ---- What is recorded ----

@case
def a_wait_that_was_answered_leads_to_its_timer():
    check_built()
    with temporary_directory() as folder:
        path, source = os.path.join(folder, 'trace.weft'), os.path.join(folder, 'program.js')
        with open(source, 'w', encoding='utf-8') as file:
            file.write('async function child() { await new Promise(done => setTimeout(done, 50)); }\n'
                       'async function parent() { await child(); }\n'
                       'parent();\n')
        equal(run([WEFT, 'record', '-a', 'auto', '-o', path, 'node', source]).returncode, 0)
        tasks = {it['label']: it['task'] for it in json_lines(weft('dump', '--tasks', '--json', path).stdout) if it['kind'] in ('async', 'timer')}
        timer, = [task for label, task in tasks.items() if label.startswith('timer 50 ms')]
        fires = [it['time'] for it in json_lines(weft('dump', '--json', path).stdout) if (it['event'], it.get('task')) == ('switch', timer)]
        chain = weft('why', path, 'task:%d' % tasks['parent at program.js:2'], '--at', '@%d' % (fires[0] - 1000)).stdout
        assert re.search(r"parent at program.js:2' waits for async \d+ 'child at program.js:1' since .*\n.*"
                         r"child at program.js:1' waits for promise \d+ .*\n.* is resolved by timer \d+ 'timer 50 ms.*\n"
                         r".*end .*timer \d+ 'timer 50 ms.*' waits for its time, since ", chain), chain


@case
def an_async_function_is_one_task():
    trace = Trace('''const { setTimeout: sleep } = require('timers/promises');
async function leaf(n) {
  await sleep(n);
  await null;
  return n;
}
async function tree() {
  return await leaf(1) + await leaf(2);
}
tree();
''')
    equal(trace.outcomes('(leaf|tree) at program.js:[27]'), [
        ('leaf at program.js:2', 'fulfilled'), ('leaf at program.js:2', 'fulfilled'), ('tree at program.js:7', 'fulfilled')])
    equal(trace.pairs('try_read').count(('tree at program.js:7', 'leaf at program.js:2')), 2)
    equal(trace.pairs('read').count(('tree at program.js:7', 'leaf at program.js:2')), 2)
    equal(trace.pairs('try_read').count(('leaf at program.js:2', 'leaf at program.js:3')), 2)
    assert ('tree at program.js:7', 'leaf at program.js:2') in trace.pairs('create', other='child')
    assert any(task['label'] == 'timer 2 ms in leaf at program.js:2' and task['kind'] == 'timer' for task in trace.tasks), trace.tasks
    assert trace.messages.startswith('weft: node is recorded by the adapters node, thread and io: async functions'), trace.messages
    equal(trace.info['unseen'], [])


@case
def an_interval_that_stops_itself_is_due_no_more():
    trace = Trace('''let fired = 0;
const interval = setInterval(() => { if (++fired === 3) clearInterval(interval); }, 1);
''')
    interval, = [task for task in trace.tasks if (task['label'] or '').startswith('timer 1 ms')]
    equal(interval['outcome'], 'cancelled')
    equal(len([e for e in trace.events if e['event'] == 'tag' and e['task'] == interval['task'] and e.get('text') == 'deadline']), 3)


@case
def an_await_of_a_value_makes_no_task():
    trace = Trace('''async function value(n) { if (n) return await value(n - 1); await n; await n; await { then(done) { done(3); } }; }
async function passes(n) { return n ? passes(n - 1) : new Promise(done => setTimeout(done, 1)); }
async function main() { await 0; await value(2); await passes(2); }
main();
''')
    equal(sorted((task['label'], task['outcome']) for task in trace.tasks if task['kind'] == 'async'),
          [('main at program.js:3', 'fulfilled')] + [('passes at program.js:2', 'fulfilled')] * 3 + [('value at program.js:1', 'fulfilled')] * 3)
    equal(trace.pairs('try_read').count(('value at program.js:1', 'value at program.js:1')), 3)


@case
def a_promise_of_its_own_is_not_taken_for_the_function():
    trace = Trace('''const { setTimeout: sleep } = require('timers/promises');
async function f() { await sleep(1); const mine = new Promise(() => {}); await sleep(2); return mine === 0; }
async function g() { let go; const p = new Promise(x => go = x); await sleep(1); setTimeout(go, 1); await p; }
Promise.all([f(), g()]);
''')
    equal(trace.outcomes('[fg] at program.js:[23]'), [
        ('f at program.js:2', 'fulfilled'), ('f at program.js:2', 'fulfilled'), ('f at program.js:2', 'fulfilled'),
        ('g at program.js:3', 'fulfilled'), ('g at program.js:3', 'fulfilled'), ('g at program.js:3', 'fulfilled')])
    join, = [task['task'] for task in trace.tasks if task['kind'] == 'join']
    equal(len([e for e in trace.events if e['event'] == 'try_read' and e['task'] == join]), 2)


@case
def returned_promises_generators_and_then():
    trace = Trace('''const { setTimeout: sleep } = require('timers/promises');
async function inner() { await sleep(1); return 1; }
async function outer() { return inner(); }
async function* numbers() { for (let i = 0; i < 2; i++) { await sleep(1); yield i; } }
async function all() {
  await outer();
  for await (const n of numbers());
  await Promise.race([sleep(1), new Promise(() => {})]);
  await inner().then(x => x + 1);
}
all();
''')
    assert ('outer at program.js:3', 'inner at program.js:2') in trace.pairs('try_read'), trace.pairs('try_read')
    assert ('all at program.js:5', 'outer at program.js:3') in trace.pairs('try_read')
    equal(sorted(task['label'] for task in trace.tasks if task['kind'] == 'async' and task['outcome'] == 'fulfilled'), [
        'all at program.js:5', 'inner at program.js:2', 'inner at program.js:2', 'numbers at program.js:4', 'numbers at program.js:4',
        'outer at program.js:3'])
    then, = [task for task in trace.tasks if task['kind'] == 'then']
    equal((then['label'], then['outcome']), ('all at program.js:9', 'fulfilled'))
    equal(len([e for e in trace.events if e['event'] == 'wait_any']), 2)
    assert any(label == 'all at program.js:5' and (other or '').startswith('numbers at') for label, other in trace.pairs('try_read'))


@case
def a_promise_that_node_makes_is_no_function():
    trace = Trace('''const fs = require('fs/promises'), zero = { async close() { await 0; } };
async function load() { return await fs.readFile(__filename); }
const both = { async close() { await zero.close(); } };
load().then(() => both.close());
''')
    opens = {task['task'] for task in trace.tasks if task['kind'] == 'async' and re.match('open at promises', task['label'] or '')}
    equal(len(opens), 1, trace.tasks)
    waits = [(e['task'], e['source']) for e in trace.events if e['event'] == 'try_read']
    equal([pair for pair in waits if pair[::-1] in waits], [])
    assert ('close at program.js:3', 'close at program.js:1') in trace.pairs('try_read'), trace.pairs('try_read')


@case
def errors_have_readers():
    trace = Trace('''const { setTimeout: sleep } = require('timers/promises');
async function bad() { await sleep(1); throw new RangeError('too far'); }
async function careful() { try { await bad(); } catch { } await Promise.reject(1).catch(() => {}); }
careful();
''')
    assert [task['failed'] for task in trace.tasks if task.get('failed')] == ['RangeError: too far'], trace.tasks
    equal(trace.grave(), [])


# Three are told to stop, by a timer of the program, by one that fails, and by node's own timer.
ABORTED = '''const { setTimeout: sleep } = require('timers/promises');
const told = new AbortController();
async function query(signal) { await sleep(1e6, null, { signal }); }
async function part(n) { await sleep(n ? 1e6 : 2, null, { signal: told.signal }); told.abort(); throw new Error('disk full'); }
async function timed() { const it = new AbortController(); setTimeout(() => it.abort(), 1); await query(it.signal).catch(() => {}); }
(async () => {
  await timed();
  await Promise.all([part(0), part(1)]).catch(() => {});
  await query(AbortSignal.timeout(1)).catch(() => {});
  if (%s) await query(AbortSignal.abort());
})();
'''


@case
def who_is_told_to_stop_is_cancelled_by_who_says_so():
    trace = Trace(ABORTED % 'false')
    outcomes = sorted((task['label'], task['outcome']) for task in trace.tasks
                      if task['kind'] == 'async' and re.match('query|part', task['label'] or ''))
    equal(outcomes, [('part at program.js:4', 'cancelled'), ('part at program.js:4', 'failed'), ('query at program.js:3', 'cancelled'),
                     ('query at program.js:3', 'timed_out')])
    by = trace.pairs('cancel', other='target')
    assert ('timer 1 ms in timed at program.js:5', 'query at program.js:3') in by, by
    assert ('part at program.js:4', 'part at program.js:4') in by, by
    timers = {one for one, other in trace.pairs('time_out', other='target') if other == 'query at program.js:3'}
    assert len(timers) == 1 and all(label.startswith('timer 1 ms') for label in timers), timers
    equal([line for line in trace.text.splitlines() if 'Abort' in line], [])


@case
def to_be_told_to_stop_without_a_handler_is_a_failure():
    trace = Trace(ABORTED % 'true', status=1)
    assert re.search('error +failed .*uncaught exception.*AbortError: The operation was aborted', trace.first()), trace.text


@case
def requests_are_named_and_joined_to_their_connections():
    trace = Trace('''const http = require('http'), fs = require('fs/promises');
const server = http.createServer(async (request, response) => {
  await fs.readFile(__filename);
  response.end('x');
});
server.listen(0, '127.0.0.1', async () => {
  for (let i = 0; i < 2; i++)
    await new Promise(done => http.get({ port: server.address().port, host: '127.0.0.1', path: '/item/' + i + '?a=1', agent: false },
      response => response.resume().on('end', done)));
  server.close();
});
''')
    equal(trace.outcomes('GET /item/.'), [('GET /item/0', 'fulfilled'), ('GET /item/1', 'fulfilled')])
    creators = [one for one, other in trace.pairs('create', other='child') if re.fullmatch('GET /item/.', other or '')]
    assert len(creators) == 2 and all(label.startswith('tcp ') for label in creators), creators
    assert any(re.fullmatch('GET /item/.', one or '') for one, other in trace.pairs('create', other='child')), 'no child of a request'


# Asks a server for each list of headers, one after the other on one connection, and prints the contexts that the server got. What the server does for
# a request begins when it has come as a whole, in functions, timers and promises.
ASKER = '''const http = require('http'), agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const handled = text => new Promise(done => setTimeout(() => later(text).then(done), 1));
async function later(text) { await null; return text; }
const server = http.createServer((request, response) => {
  let text = '';
  console.log(request.headers.traceparent || 'none', request.headers.tracestate || 'none');
  request.on('data', part => text += part);
  request.on('end', () => handled(text).then(it => response.end(it)));
});
const ask = headers => new Promise(done => http.request({ port: server.address().port, host: '127.0.0.1', agent, method: 'POST', headers },
  response => response.resume().on('end', done)).end('body'));
server.listen(0, '127.0.0.1', async () => {
  for (const headers of %s)
    await ask(headers);
  if (%s)
    await (await fetch(`http://127.0.0.1:${server.address().port}/fetched`, { headers: { 'x-asked': 'traceparent' } })).text();
  agent.destroy();
  server.close();
  server.closeAllConnections && server.closeAllConnections();
});
'''


def of_digit(digit, flags='01'):
    return '00-%s-%s-%s' % (digit * 32, digit * 16, flags)


@case
def what_is_done_for_a_request_is_in_its_trace():
    trace = Trace(ASKER % (json.dumps([{'traceparent': of_digit('1')}, {'TraceParent': of_digit('2'), 'tracestate': 'v=1'}, {}]), 'false'))
    equal(trace.output, [of_digit('1'), 'none', of_digit('2'), 'v=1', 'none', 'none'])
    for name in ('POST /', 'later at program.js:3', 'timer 1 ms in program.js:2'):
        found = [span['traceId'] for span in trace.spans if span['name'] == name]
        equal((len(found), found[:2]), (3, ['1' * 32, '2' * 32]), name)
        assert found[2] not in found[:2], (name, found)
    creators = {one for one, other in trace.pairs('create', other='child') if (other or '').startswith('POST 127.0.0.1')}
    equal(creators, {'program.js:12'})
    equal([span.get('parentSpanId') for span in trace.spans if span['name'] == 'POST /'][:2], ['1' * 16, '2' * 16])
    equal([span.get('traceState') for span in trace.spans if span['name'] == 'POST /'][:2], [None, 'v=1'])


@case
def a_header_that_is_no_context_begins_no_trace():
    wrong = [{'traceparent': it} for it in ('', 'x', '00-%s-%s-01' % ('0' * 32, '1' * 16), [of_digit('1'), of_digit('1')])]
    trace = Trace(ASKER % (json.dumps(wrong + [{'constructor': 'x', 'traceparent': of_digit('3')}]), 'false'))
    found = [span['traceId'] for span in trace.spans if span['name'] == 'POST /']
    equal((len(found), [it for it in found if it in ('1' * 32, '3' * 32)]), (5, ['3' * 32]))


@case
def requests_are_sent_with_a_context_only_if_asked_to():
    text = ASKER % (json.dumps([{}, {'traceparent': of_digit('4')}]), 'true')
    equal(Trace(text).output, ['none', 'none', of_digit('4'), 'none', 'none', 'none'])
    equal(Trace(text, env={'WEFT_PROPAGATE': '0', 'TRACEPARENT': of_digit('5')}).output, ['none', 'none', of_digit('4'), 'none', 'none', 'none'])
    trace = Trace(text, env={'WEFT_PROPAGATE': '1', 'TRACEPARENT': of_digit('5', '03'), 'TRACESTATE': 'v=5'})
    first, second, fetched = trace.output[::2]
    equal(trace.output[1::2], ['v=5', 'none', 'v=5'])
    equal(second, of_digit('4'))
    clients = {span['spanId']: span for span in trace.spans if span['name'].startswith('POST 127.0.0.1') or span['name'].endswith('/fetched') and '127' in span['name']}
    equal(len(clients), 3)
    for sent in (first, fetched):
        version, trace_id, span_id, flags = sent.split('-')
        equal((version, trace_id, flags), ('00', '5' * 32, '03'))
        equal(clients[span_id]['parentSpanId'], '5' * 16)
    trace = Trace(text, env={'WEFT_PROPAGATE': '1', 'TRACEPARENT': ''})
    first, _, fetched = trace.output[::2]
    assert first[3:35] != fetched[3:35] and 'none' not in (first, fetched), trace.output


@case
def promises_are_not_kept():
    check_built()
    program = '''async function f() { return 1; }
(async () => { for (let i = 0; i < 200000; i++) await f(); gc(); console.log(process.memoryUsage().heapUsed < 15e6); })();'''
    with temporary_directory() as folder:
        result = weft('record', '-a', 'node', '-o', os.path.join(folder, 'trace.weft'), 'node', '--expose-gc', '-e', program)
        equal(result.stdout, 'true\n')


@case
def code_that_is_made_for_ever_is_forgotten():
    check_built()
    program = '''const vm = require('vm'), make = async from => { for (let i = from; i < from + 15000; i++)
  await vm.runInThisContext(`(async function f${i}() { await null; })`, {filename: `made${i}.js`})(); };
(async () => { await make(0); gc(); const before = process.memoryUsage().heapUsed; await make(15000); gc();
  console.log(process.memoryUsage().heapUsed - before < 2e6); })();'''
    with temporary_directory() as folder:
        path = os.path.join(folder, 'trace.weft')
        result = weft('record', '-a', 'node', '-o', path, 'node', '--expose-gc', '--no-compilation-cache', '-e', program)
        equal(result.stdout, 'true\n')
        assert '"f29999 at made29999.js:1"' in weft('dump', path).stdout


@case
def worker_threads_are_recorded():
    trace = Trace('''const { Worker, isMainThread, parentPort } = require('worker_threads');
async function work() { await null; await new Promise(done => setTimeout(done, 1)); parentPort.postMessage(1); }
if (isMainThread) new Worker(__filename); else work();
''')
    equal(trace.outcomes('work at program.js:2').count(('work at program.js:2', 'fulfilled')), 2)


@case
def generators_end():
    trace = Trace('''const { setTimeout: sleep } = require('timers/promises');
async function* plain(n) { for (let i = 0; i < n; i++) { await null; yield i; } }
async function* sleepy() { await sleep(1); yield 1; yield await 2; }
async function* both() { yield* plain(2); for await (const x of sleepy()) yield x; }
async function main() {
  for await (const x of plain(3));
  for await (const x of plain(3)) break;
  for await (const x of both());
}
main();
''')
    equal([task['label'] for task in trace.tasks if task['kind'] == 'async' and task['outcome'] != 'fulfilled'], [])
    assert {task['label'] for task in trace.tasks if task['kind'] == 'async'} >= {'plain at program.js:2', 'both at program.js:4'}, trace.tasks


def pool_events(trace):
    """How often tasks wait for libuv's threads, get one and give it back."""
    pools = {task['task'] for task in trace.tasks if task['label'] == "libuv's threads" and task['kind'] == 'pool'}
    return [len([e for e in trace.events if e['event'] == event and pools & {e.get('source'), e.get('resource')}])
            for event in ('try_read', 'acquire', 'release')]


@case
def requests_wait_for_the_threads_of_libuv():
    trace = Trace('''const crypto = require('crypto'), fs = require('fs');
for (let i = 0; i < 12; i++) crypto.pbkdf2('secret', 'salt', 100, 64, 'sha512', () => {});
for (let i = 0; i < 20; i++) fs.stat(__filename, () => {});
''', env={'UV_THREADPOOL_SIZE': '3'})
    equal(pool_events(trace), [29, 32, 32])
    equal(trace.outcomes('(fs|pbkdf2request) in .*').count(('fs in program.js:3', 'fulfilled')), 20)
    equal(pool_events(Trace("for (let i = 0; i < 4; i++) require('fs').stat('/', () => {});", env={'UV_THREADPOOL_SIZE': '4'})), [0, 0, 0])


@case
def long_requests_that_keep_the_threads_from_short_ones_are_named():
    """Where the trace shows that the threads had no processor, it is a hint."""
    program = '''const crypto = require('crypto'), fs = require('fs');
for (let i = 0; i < 8; i++) crypto.pbkdf2('secret', 'salt', %d, 64, 'sha512', () => {});
fs.stat(__filename, () => {});
'''
    trace = Trace(program % 500000)
    assert re.search(r"(warning|hint) +contention +pbkdf2request .* and 3 more keep libuv's threads from fs in program.js:3 for ", trace.text), trace.text
    assert 'keep libuv' not in Trace(program % 10).text


@case
def a_callback_that_never_ends_comes_before_what_waits_for_it():
    check_built()
    with temporary_directory() as folder:
        path, source = os.path.join(folder, 'trace.weft'), os.path.join(folder, 'program.js')
        with open(source, 'w', encoding='utf-8') as file:
            file.write('''const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));
let asked = 0;
async function ask() { await sleep(1); asked++; await sleep(1000000); }
async function parse() {
  while (asked < 8) await sleep(5);
  console.log('begins');
  for (const end = Date.now() + 1500; Date.now() < end;);
  process.kill(process.pid, 'SIGKILL');
}
Promise.all([parse(), ...Array.from({length: 8}, ask)]).then(() => {});
''')
        result = run([WEFT, 'record', '-a', 'auto', '-o', path, 'node', source])
        assert 'begins' in result.stdout, result
        found = weft('dump', '--problems', path).stdout.splitlines()
        assert re.match(r" *[0-9.]+ +warning +hog +.* 'parse at program.js:4' runs for .* without a pause", found[0]), found
        assert not [line for line in found if re.match(r' *[0-9.]+ +(warning|error)  ?unanswered', line)], found


@case
def half_of_the_threads_look_up_names():
    trace = Trace('''const dns = require('dns'), fs = require('fs');
for (let i = 0; i < 6; i++) dns.lookup('localhost', () => {});
fs.stat('/', () => {});
''', env={'UV_THREADPOOL_SIZE': '4'})
    labels = trace.labels()
    waiting = [labels[e['task']] for e in trace.events if e['event'] == 'try_read' and labels.get(e['source']) == "libuv's threads"]
    equal(waiting, ['dns localhost in program.js:2'] * 4)


@case
def jobs_without_a_callback_need_no_thread():
    trace = Trace('''const crypto = require('crypto');
setTimeout(() => { for (let i = 0; i < 8; i++) crypto.pbkdf2Sync('secret', 'salt', 1, 8, 'sha1'); }, 1);
''')
    equal(pool_events(trace), [0, 0, 0])
    equal([outcome for label, outcome in trace.outcomes('pbkdf2request .*')], ['fulfilled'] * 8)


@case
def an_uncaught_exception_is_of_no_descriptor():
    trace = Trace("require('fs').createReadStream('/nonexistent/file');", status=1)
    equal([(task['label'], task['failed'].split(':')[0]) for task in trace.tasks if task.get('failed')], [('uncaught exception', 'Error')])


@case
def to_wake_another_thread_is_no_question():
    trace = Trace('''const { Worker, isMainThread, parentPort } = require('worker_threads');
if (isMainThread) {
  let count = 0;
  const worker = new Worker(__filename).on('message', () => ++count < 20 ? worker.postMessage(1) : worker.terminate());
} else
  parentPort.postMessage(0), parentPort.on('message', () => parentPort.postMessage(1));
''')
    equal([pair for pair in trace.pairs('try_read') if pair == ('eventfd', 'eventfd')], [])


@case
def guesses_are_marked_and_conclude_nothing():
    trace = Trace('two_locks.js', env={'WEFT_NODE': 'guess'})
    assert len([task for task in trace.tasks if task['kind'] == 'guessed async']) >= 4, trace.tasks
    assert not [task for task in trace.tasks if task['kind'] == 'async']
    equal(trace.grave(), [])


@case
def guesses_have_no_stacks_unless_they_are_asked_for():
    def has_stacks(**variables):
        return any(found['event'] == 'stack' for found in Trace('setTimeout(() => {}, 1)', env=variables).events)
    assert has_stacks() and not has_stacks(WEFT_NODE='guess')
    assert has_stacks(WEFT_NODE='guess', WEFT_CATEGORIES='stack=info') and has_stacks(WEFT_NODE='guess', WEFT_LEVEL='info')


@case
def one_hook_records_more_than_its_memory_holds():
    trace = Trace('''async function deep(n) { await (n > 0 ? deep(n - 1) : new Promise(done => setTimeout(done, 1))); }
process.on('unhandledRejection', () => {});
deep(299);
for (const text of ['one', 'two', 'three'])
  Promise.reject(new Error(text));
''')
    deep = [task for task in trace.tasks if task['kind'] == 'async']
    equal([task['outcome'] for task in deep], ['fulfilled'] * 300)
    ids = sorted(task['task'] for task in deep)
    equal(sorted(task['parent'] for task in deep)[1:], ids[:-1])
    equal(trace.pairs('try_read').count(('deep at program.js:1', 'deep at program.js:1')), 300)
    equal(sorted(task['failed'] for task in trace.tasks if task.get('failed')), ['Error: one', 'Error: three', 'Error: two'])


@case
def slots_hold_what_a_map_holds():
    check_built()
    result = run(['node', '-e', '''
const Slots = require(process.argv[1]), slots = new Slots(), map = new Map();
let seed = 1;
const random = most => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % most;
for (let i = 0; i < 500000; i++) {
  const number = 1 + random(3000) + (random(3) === 0 ? 2 ** 40 : 0), what = random(3);
  if (what === 0) { slots.set(number, i); map.set(number, i); }
  if (what === 1) { slots.delete(number); map.delete(number); }
  if (slots.get(number) !== map.get(number)) throw new Error(number);
}''', os.path.join(BUILD, 'bindings', 'node', 'slots.js')])
    equal((result.returncode, result.stderr), (0, ''))


# ---- Faults and sound programs ----

FAULTS = {
    'lost_await.js': ('warning', 'unanswered wait', "async .* waits for promise .*reply at program.js:6"),
    'unresolved.js': ('warning', 'unanswered wait', 'waits for promise .*client at program.js:8'),
    'exhausted_pool.js': ('warning', 'unanswered wait', 'acquire at program.js'),
    'two_locks.js': ('warning', 'unanswered wait', 'lock at program.js'),
    'unhandled.js': ('error', 'failed', "charge at program.js.*card expired"),
    'blocked_by_atomics.js': ('warning', 'late timer', "while timer [0-9]+ 'timer 1 ms in.* was blocked for|ran for"),
    'blocked_by_child.js': ('warning', 'hog', 'build at program.js:8.* for '),
    'left_listeners.js': ('warning', 'leak', 'request at program.js:7.* adds ever more listeners .*MaxListenersExceededWarning: 11 cha'),
    'blocked_loop.js': ('warning', 'hog|late timer', 'report at program.js'),
}


def check_fault(name):
    severity, problem, sentence = FAULTS[name]
    for _ in range(int(os.environ.get('WEFT_RUNS') or 1)):
        trace = Trace(name, status=1 if name == 'unhandled.js' else 0)
        # On a busy machine, node's start may come before the fault.
        first = trace.first() if any(it in OF_TIME for it in problem.split('|')) else (trace.grave() or [''])[0]
        assert re.match(r'\s*\S+\s+%s\s+(%s)\s' % (severity, problem), first), name + '\n' + trace.text
        assert re.search(sentence, first), name + '\n' + trace.text


@case
def faults_are_the_first_problem():
    for name in FAULTS:
        check_fault(name)


@case
def a_worker_that_waits_for_the_thread_that_waits_for_it_is_a_problem():
    check_built()
    with temporary_directory() as folder:
        it = Hang(shutil.which('node'), os.path.join(PROGRAMS, 'waits_for_worker.js'), folder=folder, adapters='auto', waits=['condition in v8::internal'])
        assert "messages in waits_for_worker.js" in it.problems()[0]['sentence'] and it.problems()[0]['severity'] in ('warning', 'error'), it.problems()


@case
def the_wait_for_the_start_of_the_inspector_is_no_news():
    check_built()
    with temporary_directory() as folder:
        path = os.path.join(folder, 'trace.weft')
        weft('record', '-a', 'auto', '-o', path, 'node', '-e', 'setTimeout(() => {}, 10)')
        assert any('node::inspector::' in (task['label'] or '') for task in json_lines(weft('dump', '--tasks', '--json', path).stdout))
        for answer in (weft('why', path, status=None), weft('dump', '--problems', path)):
            assert 'inspector' not in answer.stdout, answer.stdout


@case
def sound_programs_have_no_problem():
    names = sorted(os.listdir(os.path.join(PROGRAMS, 'sound')))
    assert len(names) >= 9
    for name in names:
        trace = Trace('sound/' + name)
        assert not trace.grave(), name + '\n' + trace.text


# ---- Programs do the same ----

def both(arguments, input='', env=None, cwd=PROGRAMS):
    """The program alone and recorded; PIDs in warnings differ."""
    check_built()
    with temporary_directory() as folder:
        alone = run(['node', *arguments], input=input, env=env, cwd=cwd)
        recorded = run([WEFT, 'record', '-a', 'auto', '-o', os.path.join(folder, 'trace.weft'), 'node', *arguments],
                       input=input, env=env, cwd=cwd)
        recorded.stderr = ''.join(line for line in recorded.stderr.splitlines(True) if not line.startswith('weft: '))
        return [(re.sub(r'node:\d+\)', 'node:PID)', it.stdout), re.sub(r'node:\d+\)', 'node:PID)', it.stderr), it.returncode)
                for it in (alone, recorded)]


def check_same(*arguments, **how):
    alone, recorded = both(arguments, **how)
    assert alone == recorded, (arguments, alone, recorded)


@case
def programs_do_the_same():
    for name in sorted(os.listdir(os.path.join(PROGRAMS, 'same'))):
        check_same('same/' + name)


@case
def options_do_the_same():
    check_same('-e', 'console.log(process.argv.length); (async () => { await 1; throw new Error("e"); })()')
    check_same('-p', 'Promise.resolve(1)')
    check_same('-', input='(async () => { await null; console.log(__filename, process.env.NODE_OPTIONS); })()')
    check_same('-i', input='const p = (async () => { await 1; return 5; })();\nawait p\nError\nthrow new Error("x")\n')
    for options in (['--unhandled-rejections=warn'], ['--unhandled-rejections=strict'], ['--trace-uncaught'], ['--enable-source-maps'], ['--check']):
        check_same(*options, 'same/unhandled.js')
    check_same('--pending-deprecation', 'same/warnings.js')
    check_same('--throw-deprecation', 'same/seen.js')
    check_same('--no-addons', '-p', '1')
    check_same('--no-such-option')
    check_same('same/none.js')
    check_same('same/seen.js', env={'NODE_OPTIONS': '--stack-trace-limit=3 --no-warnings'})
    check_same('same/seen.js', env={'NODE_OPTIONS': ''})


@case
def it_can_be_left_out():
    text = 'async function f() { await null; await new Promise(done => setTimeout(done, 1)); }\nf();\n'
    assert Trace(text).outcomes('f at .*')
    assert not Trace(text, env={'WEFT_NODE': 'off'}).outcomes('f at .*')
    check_built()
    with temporary_directory() as folder:
        path = os.path.join(folder, 'trace.weft')
        weft('record', '-a', 'io', '-o', path, 'node', '-e', text)
        assert 'f at' not in weft('dump', path).stdout


main()
