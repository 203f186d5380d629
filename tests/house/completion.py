# SPDX-License-Identifier: ISC
"""Completion of weft's command line: each shell offers the commands, options, values, traces and PIDs that exist."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import BUILD, DATA, WEFT, case, equal, main, run, skip, temporary_directory, weft  # noqa: E402

FOLDER = os.path.join(BUILD, 'completions')
SUBJECT = os.path.join(BUILD, 'tests', 'follow-subject')
COMMANDS = re.findall(r'^  ([a-z]+) ', weft('--help').stdout, re.MULTILINE)
GENERAL = {'--help', '--version'}


def options_of(command):
    return set(re.findall(r'(?<![\w-])--[a-z][a-z-]*', weft(command, '--help').stdout))


def bash(words, **options):
    """The completions of bash for the last word; COMP_WORDS is divided at = as bash does."""
    divided = [part for word in words for part in re.split('(=)', word) if part or not word]
    line = ' '.join("'%s'" % word for word in [WEFT, *divided])
    ask = ('source "$0"; COMP_WORDS=(%s); COMP_CWORD=%d; _weft; printf "%%s\\n" "${COMPREPLY[@]}"' % (line, len(divided)))
    return answer(['bash', '-c', ask, os.path.join(FOLDER, 'weft')], **options)


def fish(words, **options):
    """The completions of fish: lines of a word, and a tab and a description."""
    ask = 'source %s; complete -C "%s %s"' % (os.path.join(FOLDER, 'weft.fish'), WEFT, ' '.join(words))
    return {line.split('\t')[0] for line in answer(['fish', '--no-config', '-c', ask], **options)}


# Types a line and a tab into an interactive zsh, in which each word that is added to the completions is printed as <WORD>.
ZSH = r'''
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "source $1/begin $2"
while zpty -r shell line && [[ $line != *READY* ]]; do :; done
zpty -w -n shell "$3"$'\t'
zpty -w -n shell $'\C-u'"exit"$'\n'
while zpty -r shell line; do print -r -- $line; done
'''
ZSH_BEGIN = r'''
PS1= PS2=
fpath=($1 $fpath)
autoload -Uz compinit
compinit -D -u
bindkey '^I' complete-word
compadd() {
	local -a __found
	# With these options, compadd stores words elsewhere, and adds none.
	[[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] || builtin compadd -O __found "$@"
	print -lr -- '<'${^__found}'>'
	builtin compadd "$@"
}
# Before that, the terminal interprets a tab instead of passing it on.
zle-line-init() { print READY }
zle -N zle-line-init
'''


def zsh(words, **options):
    """The completions of zsh."""
    with temporary_directory() as folder:
        with open(os.path.join(folder, 'begin'), 'w', encoding='utf-8') as file:
            file.write(ZSH_BEGIN)
        lines = answer(['zsh', '-f', '-c', ZSH, 'zsh', folder, FOLDER, ' '.join([WEFT, *words])], **options)
    return set(re.findall(r'<([^<>\n]+)>', '\n'.join(lines)))


def answer(command, **options):
    result = run(command, **options)
    assert result.returncode == 0, result.stderr
    return set(result.stdout.splitlines()) - {''}


def shells():
    """The shells that are installed; the others are printed."""
    found = []
    for ask in (bash, fish, zsh):
        if shutil.which(ask.__name__):
            found.append(ask)
        else:
            print('# %s is not installed' % ask.__name__, flush=True)
    return found


def complete(*words, **options):
    """The completions of the last word in each shell."""
    return {ask.__name__: ask(words, **options) for ask in shells()}


def every_shell_offers(words, expected, **options):
    for shell, found in complete(*words, **options).items():
        equal(sorted(found ^ expected), [], '%s: %s' % (shell, ' '.join(words)))


@case
def commands():
    assert COMMANDS
    for ask in shells():
        found = ask([''])
        assert set(COMMANDS) <= found and found - set(COMMANDS) <= GENERAL, (ask.__name__, found)
    every_shell_offers(['re'], {'record', 'render'})


@case
def options():
    for command in COMMANDS:
        for shell, found in complete(command, '--').items():
            equal(sorted({option.rstrip('=') for option in found}), sorted(options_of(command)), '%s: %s' % (shell, command))


@case
def values_of_options():
    every_shell_offers(['render', '--theme', ''], {'light', 'dark', 'safe', 'safe-dark'})
    every_shell_offers(['render', '--format', 'p'], {'png', 'pdf'})
    every_shell_offers(['serve', '--group-by', ''], {'auto', 'thread', 'process', 'host', 'none'})
    every_shell_offers(['export', '--to', ''], {'chrome', 'collapsed', 'ctf', 'otlp', 'otlp-json', 'perfetto', 'pprof', 'sqlite', 'zipkin'})
    equal(bash(['render', '--theme=sa']), {'safe', 'safe-dark'})
    equal(bash(['dump', '--story', '']), set())


@case
def the_values_are_those_that_weft_takes():
    trace = os.path.join(DATA, 'traces', 'mirage-arp-good.ctf')
    for option in ('--theme', '--group-by'):
        for value in bash(['render', option, '']):
            weft('render', trace, '--format', 'svg', '-o', '-', option, value)


@case
def traces_and_folders():
    with temporary_directory() as folder:
        for name in ('a.weft', 'b.weft.zst', 'c.sexp', 'notes.txt'):
            open(os.path.join(folder, name), 'w', encoding='utf-8').close()
        os.mkdir(os.path.join(folder, 'traces'))
        equal(bash(['dump', ''], cwd=folder), {'a.weft', 'b.weft.zst', 'c.sexp', 'traces'})
        equal(bash(['dump', 'n'], cwd=folder), {'notes.txt'})
        equal(bash(['dump', '--json', 'a'], cwd=folder), {'a.weft'})
        equal(bash(['render', 'a.weft', '-o', 'n'], cwd=folder), {'notes.txt'})
        if shutil.which('zsh'):
            assert {'a.weft', 'b.weft.zst', 'c.sexp', 'traces'} <= zsh(['dump', ''], cwd=folder)
        if shutil.which('fish'):
            equal(fish(['dump', 'a'], cwd=folder), {'a.weft'})


@case
def programs_and_their_arguments():
    with temporary_directory() as folder:
        open(os.path.join(folder, 'input.txt'), 'w', encoding='utf-8').close()
        assert 'cat' in bash(['record', 'ca']) and 'cat' in bash(['record', '-o', 'x.weft', '--', 'ca'])
        equal(bash(['record', '--stream', 'cat', 'in'], cwd=folder), {'input.txt'})
        equal(bash(['run', 'weft', '--stream'], cwd=folder), set())
        if shutil.which('fish'):
            assert 'cat' in fish(['record', 'ca'])
            equal(fish(['record', 'cat', 'in'], cwd=folder), {'input.txt'})


@case
def programs_that_record():
    with temporary_directory() as folder:
        environment = {'XDG_RUNTIME_DIR': folder}
        program = subprocess.Popen([WEFT, 'record', '-o', folder + '/trace.weft', SUBJECT], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, **environment))
        try:
            pid = program.stdout.readline().strip()
            for words in (['ctl', ''], ['record', '-p', ''], ['tail', pid[:1]], ['view', '--no-fold', pid[:1]]):
                for shell, found in complete(*words, cwd=folder, env=environment).items():
                    assert pid in found, '%s: %s: %s' % (shell, ' '.join(words), found)
            every_shell_offers(['ctl', pid, ''], {'status', 'set', 'snapshot', 'rundown', 'start', 'stop'}, cwd=folder, env=environment)
            every_shell_offers(['ctl', pid, 'sn'], {'snapshot'}, cwd=folder, env=environment)
        finally:
            program.communicate()
        assert pid not in bash(['tail', ''], cwd=folder, env=environment)


@case
def nothing_for_an_unknown_command():
    every_shell_offers(['nonsense', '--'], set())


main()
