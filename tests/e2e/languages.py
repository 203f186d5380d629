# SPDX-License-Identifier: ISC
"""Programs in other languages record by weft_ffi.h what a C program records by weft.h."""
import glob
import json
import os
import re
import shutil
import sys

from harness import BUILD, SOURCE, case, equal, json_lines, main, run, skip, temporary_directory, weft

HERE = os.path.join(SOURCE, 'tests', 'e2e')
WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Werror']


def library():
    found = glob.glob(os.path.join(BUILD, 'src', '**', 'libweft.so'), recursive=True)
    if not found:
        skip('there is no shared library')
    return found[0]


def events(*command):
    """The events that a program records, without their times and threads."""
    with temporary_directory() as folder:
        trace = os.path.join(folder, 'trace.weft')
        weft('record', '-o', trace, *command,
             env={'XDG_RUNTIME_DIR': folder, 'LD_LIBRARY_PATH': os.path.dirname(library())})
        assert 'losses      none' in weft('info', trace).stdout
        return [{key: value for key, value in event.items() if key not in ('time_ns', 'time', 'thread', 'offset')}
                for event in json_lines(weft('dump', '--json', trace).stdout)]


def built(folder, compiler, source, *flags):
    if not shutil.which(compiler):
        skip('%s is not installed' % compiler)
    program = os.path.join(folder, 'program')
    result = run([compiler, os.path.join(HERE, source), '-o', program, '-L', os.path.dirname(library()), *flags])
    assert result.returncode == 0, result.stderr
    return program


def expected():
    with temporary_directory() as folder:
        found = events(built(folder, 'gcc', 'languages_calls.c', '-std=c11', *WARNINGS, '-lweft',
                             '-I', os.path.join(SOURCE, 'include')))
    assert len(found) > 12, found
    return found


@case
def python_by_ctypes():
    equal(events(sys.executable, os.path.join(HERE, 'languages_calls.py'), library()), expected())


@case
def python_by_the_package():
    packages = os.path.join(BUILD, 'bindings', 'python')
    if not os.path.isdir(packages):
        skip('built without the package for Python: python3-dev is not installed')
    equal(events('env', 'PYTHONPATH=' + packages, sys.executable, os.path.join(HERE, 'languages_module.py')), expected())


@case
def rust():
    with temporary_directory() as folder:
        equal(events(built(folder, 'rustc', 'languages_calls.rs', '-O')), expected())


# ---- Each call ----

def all_calls():
    """(name, task, other arguments) of calls.def and the other calls that all languages have: each has values of its own."""
    with open(os.path.join(SOURCE, 'include', 'weft', 'calls.def'), encoding='utf-8') as file:
        found = re.findall(r'^WEFT__(EDGE|MESSAGE|STATEMENT|TEXT)\((\w+), (?!other|EVENT|event)', file.read(), re.MULTILINE)
    assert len(found) > 15, found
    calls = []
    for at, (shape, name) in enumerate(found):
        other = {'EDGE': 200 + at, 'MESSAGE': 2**61 + at, 'STATEMENT': None, 'TEXT': 'text %d' % at}[shape]
        calls.append((name, 100 + at, () if other is None else (other,)))
    return calls + [('fail', 300, (400, 'refused')), ('wait_any', 301, ((401, 402, 403),)), ('tag_value', 302, ('retry', -2)),
                    ('counter_add', 303, ('queue', 3)), ('counter_set', 304, ('queue', -7)), ('counter_add', 305, ('queue', -1))]


def quoted(value):
    return '"%s"' % value if isinstance(value, str) else str(value)


def c_lines(level):
    for name, task, others in all_calls():
        if name == 'wait_any':
            yield '{ const uint64_t list[] = {%s}; weft_at(WEFT_LEVEL_%s, weft_wait_any_as(%d, %d, list)); }' % (
                ', '.join(map(str, others[0])), level, task, len(others[0]))
        else:
            yield 'weft_at(WEFT_LEVEL_%s, weft_%s_as(%s));' % (level, name, ', '.join(map(quoted, (task, *others))))


def cplusplus_lines(level):
    at = '{net, weft::level::%s}' % level.lower()
    for name, task, others in all_calls():
        texts = ['{%s}' % ', '.join('weft::task{%d}' % it for it in other) if isinstance(other, tuple) else
                 'weft::task{%d}' % other if isinstance(other, int) and 200 <= other < 500 else quoted(other) for other in others]
        yield 'weft::task{%d}.%s(%s);' % (task, name, ', '.join([*texts, at]))


def python_lines(level):
    for name, task, others in all_calls():
        arguments = [repr(other) for other in others] + ['task=%d' % task, 'category=net', 'level=weft.LEVEL_' + level]
        yield 'weft.%s(%s)' % ('tag' if name == 'tag_value' else name, ', '.join(arguments))


def ocaml_lines(level):
    for name, task, others in all_calls():
        texts = ['[|%s|]' % '; '.join(map(str, other)) if isinstance(other, tuple) else
                 '(Weft.keep "%s")' % other if name in ('tag_value', 'counter_add', 'counter_set') and isinstance(other, str) else
                 '(%d)' % other if isinstance(other, int) else quoted(other) for other in others]
        yield 'let () = Weft.%s net Weft.%s %d %s' % (name, level.lower(), task, ' '.join(texts))


def written(folder, name, head, lines, tail=()):
    """A program that makes each call at two levels, of which one is recorded."""
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as file:
        file.write('\n'.join([*head, *lines('WARNING'), *lines('DEBUG'), *tail, '']))
    return path


def every_call_in_c():
    with temporary_directory() as folder:
        head = ['#define WEFT_CATEGORY net', '#include <weft/weft.h>', 'WEFT_CATEGORY_DEFINE(net, "net", "connections");', 'int main(void) {']
        path = written(folder, 'calls.c', head, c_lines, ['return 0; }'])
        found = events(built(folder, 'gcc', path, '-std=c11', *WARNINGS, '-lweft', '-I', os.path.join(SOURCE, 'include')))
    names = {name for name, _, _ in all_calls()}
    assert len(found) >= len(names) + 2, found
    return found


@case
def every_call_by_python():
    packages = os.path.join(BUILD, 'bindings', 'python')
    if not os.path.isdir(packages):
        skip('built without the package for Python: python3-dev is not installed')
    with temporary_directory() as folder:
        path = written(folder, 'calls.py', ['import weft', "net = weft.Category('net', 'connections')"], python_lines)
        equal(events('env', 'PYTHONPATH=' + packages, sys.executable, path), every_call_in_c())


@case
def every_call_by_cplusplus():
    with temporary_directory() as folder:
        head = ['#include <weft/weft.hpp>', 'inline weft::category net{"net", "connections"};', 'int main() {']
        path = written(folder, 'calls.cpp', head, cplusplus_lines, ['}'])
        equal(events(built(folder, 'g++', path, '-std=c++17', *CPLUSPLUS, '-lweft')), every_call_in_c())


@case
def every_call_by_ocaml():
    packages = os.path.join(BUILD, 'bindings', 'ocaml', 'dune', 'install', 'default', 'lib')
    if not shutil.which('ocamlfind') or not os.path.isdir(packages):
        skip('built without the packages for OCaml')
    libraries = os.path.dirname(library())
    environment = {'OCAMLPATH': packages, 'LIBRARY_PATH': libraries, 'LD_LIBRARY_PATH': libraries,
                   'CAML_LD_LIBRARY_PATH': os.path.join(packages, 'stublibs')}
    for compiler in ('ocamlopt', 'ocamlc'):
        with temporary_directory() as folder:
            path = written(folder, 'calls.ml', ['let net = Weft.category "net" "connections"'], ocaml_lines)
            result = run(['ocamlfind', compiler, '-package', 'weft', '-linkpkg', path, '-o', path[:-3]], env=environment)
            equal(result.returncode, 0, result.stderr)
            equal(events('env', *('%s=%s' % it for it in environment.items()), path[:-3]), every_call_in_c())


CPLUSPLUS = ['-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Wconversion', '-Werror', '-I', os.path.join(SOURCE, 'include')]


def cplusplus(compiler):
    for standard in ('-std=c++17', '-std=c++20'):
        with temporary_directory() as folder:
            equal(events(built(folder, compiler, 'languages_calls.cpp', standard, *CPLUSPLUS, '-O2', '-lweft')),
                  expected())


@case
def cplusplus_by_gcc():
    cplusplus('g++')


@case
def cplusplus_by_clang():
    cplusplus('clang++-14')


@case
def cplusplus_waits_for_any_and_receives():
    body = ('int main() { const weft::task list[] = {weft::here.create(), weft::here.create()};'
            'weft::here.wait_any({list[1], list[0]}); list[0].wait_any(list, 2); list[0].send(5); list[1].receive(5); }')
    with temporary_directory() as folder:
        source = os.path.join(folder, 'any.cpp')
        with open(source, 'w', encoding='utf-8') as file:
            file.write('#include <weft/weft.hpp>\n' + body)
        shown = events(built(folder, 'g++', source, '-std=c++17', *CPLUSPLUS, '-lweft'))
        equal([(event['task'], event['source']) for event in shown if event['event'] == 'wait_any'],
              [(None, 2), (None, 1), (1, 1), (1, 2)])
        equal([(event['event'], event['task'], event['key']) for event in shown if 'key' in event],
              [('send', 1, 5), ('receive', 2, 5)])


@case
def cplusplus_spans_inherit_their_context():
    body = ('int main() { const weft_context remote{1, 2, 3, nullptr, 0, 1, {}}; const weft::task task = weft::here.create();'
            'weft::activation running{task}; { weft::traced_span request{"request", remote};'
            '{ weft::traced_span query{"query"}; weft::here.note(query.header()); }'
            'weft::here.note(request.header()); weft::traced_span quiet{"quiet", weft::level::debug}; weft::here.note(quiet.header()); }'
            'if (weft::current_context().span != 0) weft::here.note("still current"); weft::traced_span top{"top"}; }')
    for compiler in ('g++', 'clang++-14'):
        with temporary_directory() as folder:
            source = os.path.join(folder, 'traced.cpp')
            with open(source, 'w', encoding='utf-8') as file:
                file.write('#include <weft/context.hpp>\n' + body)
            shown = events(built(folder, compiler, source, '-std=c++17', *CPLUSPLUS, '-lweft'))
            request, query, top = (event['fields'] for event in shown if event['event'] == 'mark')
            equal((request['trace_id'], request['parent_span_id']), ('00000000000000010000000000000002', '0000000000000003'))
            equal((query['trace_id'], query['parent_span_id']), (request['trace_id'], request['span_id']))
            assert top['trace_id'] != request['trace_id'] and 'parent_span_id' not in top, top
            headers = ['00-%s-%s-01' % (event['trace_id'], event['span_id']) for event in (query, request, request)]
            equal([event['text'] for event in shown if event['event'] == 'note'], headers)
            equal([event['name'] for event in shown if event['event'] == 'begin'], ['request', 'query', 'top'])


METRICS = r'''
#include <cstdio>
#include <string>
#include <weft/metrics.hpp>

inline weft::family<weft::counter> acked{"tcp_acked", {"bytes", "Bytes that were acknowledged", 0, true}};
static weft::family<weft::gauge> streams{"streams"};
static weft::family<weft::histogram> latency{"latency", {"seconds", "", -9}};

int main()
{
	const std::string pool = "eu and more";
	const weft::counter eu = acked.get({{"pool", std::string_view(pool).substr(0, 2)}});
	const weft::counter acme = acked.get({{"pool", "eu"}, {"customer", "acme"}});
	const weft::gauge open = streams.get({{"customer", "acme"}});
	if (weft_metrics_reserve(10) != 0)
		return 1;
	acked.add();
	{
		weft::child<weft::counter> stream{acme, "stream", 1234567}, named{stream, "part", "body"};
		stream.add(10);
		named.add(5);
		if (stream.value() != 15 || named.value() != 5)
			return 2;
	}
	weft::child<weft::gauge> first{open, "stream", 1}, second{open, "stream", 2};
	first.set(7);
	second.change(3);
	first = std::move(second);
	{
		const weft::child<weft::gauge> ends = std::move(second);
	}
	latency.record(3000000);
	latency.record(1000000);
	weft::limit limit{acme, 20};
	if (!limit.allows(5) || limit.allows(6) || weft::counter().value() != 0)
		return 3;
	std::printf("%d %d %d %d %d %d\n", static_cast<int>(acked.value()), static_cast<int>(eu.value()), static_cast<int>(acme.value()),
		static_cast<int>(streams.value()), static_cast<int>(latency.count()), static_cast<int>(latency.sum()));
	return 0;
}
'''


def with_metrics(folder, compiler, *flags):
    source = os.path.join(folder, 'metrics.cpp')
    with open(source, 'w', encoding='utf-8') as file:
        file.write(METRICS)
    return built(folder, compiler, source, *CPLUSPLUS, *flags)


@case
def cplusplus_counts_in_metrics():
    for compiler in ('g++', 'clang++-14'):
        with temporary_directory() as folder:
            program = with_metrics(folder, compiler, '-std=c++17', '-lweft')
            trace = os.path.join(folder, 'trace.weft')
            shown = weft('record', '-o', trace, program, env={'XDG_RUNTIME_DIR': folder, 'LD_LIBRARY_PATH': os.path.dirname(library())})
            equal(shown.stdout, '16 15 15 3 2 4000000\n')
            found = {(it['counter'], *it.get('labels', {}).values()): it for it in json.loads(weft('info', '--json', trace).stdout)['metrics']}
            equal({key: it['value'] for key, it in found.items()},
                  {('tcp_acked',): 16, ('tcp_acked', 'eu'): 15, ('tcp_acked', 'eu', 'acme'): 15, ('streams',): 0, ('streams', 'acme'): 0,
                   ('latency',): 2})
            equal((found['tcp_acked',]['type'], found['tcp_acked',]['unit'], found['latency',]['unit']), ('counter', 'bytes', 'seconds'))


@case
def cplusplus_metrics_compile_to_nothing():
    with temporary_directory() as folder:
        disabled = with_metrics(folder, 'g++', '-std=c++20', '-DWEFT_DISABLED')  # needs no library; its values are all 0
        equal(run([disabled]).returncode, 2)


@case
def cplusplus_disabled_needs_no_library():
    body = ('int main() { weft::task t = weft::here.create(); weft::activation a{t}; weft::moment m; '
            'static weft::mark k{"k", "n"}; t.mark(k, 1); t.label("x"); weft::band b{WEFT_BAND_GC}; '
            'weft::traced_span s{"s"}; return weft::is_enabled() || !s.header().empty() || weft_baggage_size("a=1,b=2", 7, 5); }')
    for compiler in ('g++', 'clang++-14'):
        with temporary_directory() as folder:
            source = os.path.join(folder, 'disabled.cpp')
            with open(source, 'w', encoding='utf-8') as file:
                file.write('#include <weft/context.hpp>\n' + body)
            program = built(folder, compiler, source, '-std=c++17', '-DWEFT_DISABLED', *CPLUSPLUS)
            equal(run([program]).returncode, 0)


def refused(compiler, body):
    """The messages about a function's body."""
    if not shutil.which(compiler):
        skip('%s is not installed' % compiler)
    text = ('#include <weft/metrics.hpp>\nstruct odd {};\nvoid f(const char *text);\n'
            'void f(const char *text)\n{\n(void)text;\n%s\n}\n' % body)
    result = run([compiler, '-std=c++17', *CPLUSPLUS, '-fsyntax-only', '-x', 'c++', '-'], input=text)
    assert result.returncode != 0, 'compiles: ' + body
    return result.stderr


@case
def cplusplus_says_what_is_wrong():
    for compiler in ('g++', 'clang++-14'):
        for body, message in (
                ('static weft::mark m{"m", "key"}; weft::here.mark(m, odd());', 'a value of a mark is an integer'),
                ('static weft::mark m{"m", "key"}; weft::here.mark(m);', 'one value for each of its names'),
                ('static weft::mark m{"m"}; weft::here.mark(m, 1);', 'one value for each of its names'),
                ('static weft::mark m{text, "key"};', 'names of a weft::mark are string literals'),
                ('weft::name n{text};', 'a weft::name is a string literal'),
                ('static char room[9]; weft::name n{room};', 'delete'),
                ('weft::family<int> f{"f"};', 'a family is of weft::counter'),
                ('weft::child<weft::histogram> c{weft::histogram(), "k", text};', 'a histogram has no children')):
            stderr = refused(compiler, body)
            assert message in stderr, '%s: %s\n%s' % (compiler, body, stderr)


main()
