# SPDX-License-Identifier: ISC
"""A user's first commands on a Debian 12 that has nothing but git and make: `make demo`, `make install`,
and a program of the user's own, as in README.

It needs root and debootstrap. $XDG_CACHE_HOME/weft/bare (~/.cache/weft/bare) keeps the unchanged bare system, the packages that
the commands need, and the files that tools/install-packages added to the system: a layer over it, which is made again
from the bare system if that script changes. The first run downloads about 250 MB, later runs nothing. Each run starts with these
two layers below an empty one of its own; where the kernel mounts no layers, with a copy of the bare system. If this machine has ccache, its compilers use it with this machine's cache of objects. In
`make check-all` the objects are already there, because the plain build has the same sources, options and compilers.

Commands that mount file systems run in mount and PID namespaces of their own, which end with this program,
however it ends: no mount remains, and removing the copy cannot reach into /dev or /proc.
"""
import fcntl
import functools
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import BUILD, SOURCE, case, main, run, skip  # noqa: E402
from tree import read, tracked  # noqa: E402

RELEASE = 'bookworm'
CACHE = os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'weft', 'bare')
BASE = os.path.join(CACHE, RELEASE)
ARCHIVES = os.path.join(CACHE, 'archives')
ROOT = os.path.join(BUILD, 'bare')  # not a temporary folder: what a killed run left is removed by the next
INSTALLER = os.path.join('tools', 'install-packages')
KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'
NAMESPACES = ['setpriv', '--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--fork', '--kill-child']
UNREACHABLE = re.compile(r'(Failed to fetch|Unable to fetch|Temporary failure resolving|Could not connect).*')
# The environment of a user's shell, without this machine's compilers or folders.
ENVIRONMENT = {'PATH': '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'HOME': '/root', 'LC_ALL': 'C'}
PROXIES = ('http_proxy', 'https_proxy', 'ftp_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY')

ENTER = r'''
set -eu
root=$1 archives=$2 objects=$4 layers=$5
[ -z "$layers" ] || mount -t overlay -o "$layers" overlay "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"
mount --bind "$archives" "$root/var/cache/apt/archives"
[ -z "$objects" ] || mount --bind "$objects" "$root/opt/ccache/objects"
exec chroot "$root" /bin/sh -exc "$3"
'''

# A compiler of the bare system by this machine's ccache; not found before the compiler is installed.
LENT = '''#!/bin/sh
[ -x /usr/bin/%(compiler)s ] || exit 127
exec /opt/ccache/%(loader)s --library-path /opt/ccache /opt/ccache/ccache /usr/bin/%(compiler)s "$@"
'''

STEPS = {}  # what each step printed


def settings():
    """The Debian mirror of this machine's apt, and the configuration with which another apt can reach it."""
    if not shutil.which('apt-get'):
        skip('this is not a Debian system')
    lines = run(['apt-get', 'indextargets', '--format', '$(ORIGIN)|$(LABEL)|$(CODENAME)|$(REPO_URI)',
                 'Created-By: Packages']).stdout.splitlines()
    found = [line.split('|') for line in lines]
    mirrors = [uri for origin, label, codename, uri in found if origin == label == 'Debian' and codename == RELEASE]
    mirrors += [uri for origin, label, _, uri in found if origin == label == 'Debian']
    mirrors = [uri for uri in mirrors if re.match('(https?|file):', uri)]
    if not mirrors:
        skip('apt has no mirror of Debian (run apt-get update)')
    lines = run(['apt-config', 'dump', '--no-empty', '--format', '%F "%v";%n', 'Acquire']).stdout.splitlines()
    kept = [line for line in lines
            if re.match(r'Acquire::(https?::|ftp::|Check-|Retries)', line) and 'Auto-Detect' not in line]
    return mirrors[0], kept


def in_namespaces(command, log, **options):
    """Runs a command in mount and PID namespaces of its own; returns its exit status. Its output goes to the log."""
    with open(log, 'w', encoding='utf-8') as file:
        return subprocess.run([*NAMESPACES, *command], stdin=subprocess.DEVNULL, stdout=file,
                              stderr=subprocess.STDOUT, **options).returncode


def text_of(log):
    with open(log, encoding='utf-8', errors='replace') as file:
        return file.read()


def last_line(log):
    return (text_of(log).strip() or 'it says nothing').splitlines()[-1]


def debootstrap():
    """Makes the cached bare system, atomically."""
    mirror, configuration = settings()
    new, log = BASE + '.new', BASE + '.log'
    shutil.rmtree(new, ignore_errors=True)
    include = ['git', 'make'] + (['ca-certificates'] if mirror.startswith('https') else [])
    environment = dict(os.environ, DEBIAN_FRONTEND='noninteractive')
    for scheme, proxy in re.findall(r'Acquire::(https?)::Proxy "(.*)";', '\n'.join(configuration)):
        environment.setdefault(scheme + '_proxy', proxy)
    status = in_namespaces(['debootstrap', '--variant=minbase', '--force-check-gpg', '--keyring=' + KEYRING,
                            '--include=' + ','.join(include), RELEASE, new, mirror], log, env=environment)
    if status:
        skip('debootstrap from %s failed: %s' % (mirror, last_line(log)))
    with open(os.path.join(new, 'etc', 'apt', 'apt.conf.d', '99machine'), 'w', encoding='utf-8') as file:
        file.write('\n'.join(configuration) + '\n')
    # Without fsync: after a power cut the system is simply made again.
    with open(os.path.join(new, 'etc', 'dpkg', 'dpkg.cfg.d', 'fast'), 'w', encoding='utf-8') as file:
        file.write('force-unsafe-io\n')
    if in_namespaces(['chroot', new, 'sh', '-ec', 'apt-get update; apt-get clean'], log,
                     env=dict(environment, PATH=ENVIRONMENT['PATH'])):
        skip('apt-get update in the bare system failed: %s' % last_line(log))
    os.rename(new, BASE)


class System:
    """A bare system in which commands run. Its own files are in `files`: all of them, or those that differ from the
    folders of `layers`, of which the first is on top."""

    def __init__(self, folder, layers):
        self.files, self.layers = os.path.join(folder, 'files'), layers
        self.root = self.files
        self.mount_options = ''
        if layers:
            work, self.root = os.path.join(folder, 'work'), os.path.join(folder, 'root')
            for path in (self.files, work, self.root):
                os.makedirs(path)
            self.mount_options = 'lowerdir=%s,upperdir=%s,workdir=%s' % (':'.join(layers), self.files, work)
        else:
            os.makedirs(folder)
            subprocess.run(['cp', '-a', BASE, self.files], check=True)

    def run(self, commands, log, environment, objects=''):
        """Runs shell lines as root; returns the exit status. Their output goes to the log."""
        command = ['sh', '-c', ENTER, 'sh', self.root, ARCHIVES, commands, objects, self.mount_options]
        return in_namespaces(command, log, env=environment)


def can_mount_layers():
    """False where the kernel or the file systems of the cache and the build do not allow it."""
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        system = System(folder, [BASE])
        return run([*NAMESPACES, 'mount', '-t', 'overlay', '-o', system.mount_options, 'overlay', system.root]).returncode == 0


def packages():
    """The layer that tools/install-packages made; makes it, atomically, if there is none of this script and this system."""
    made = os.stat(BASE)
    text = '%d %d %s' % (made.st_ino, made.st_mtime_ns, read(INSTALLER))
    layer = os.path.join(CACHE, 'packages-' + hashlib.sha256(text.encode()).hexdigest()[:16])
    if not os.path.exists(layer):
        for old in glob.glob(os.path.join(CACHE, 'packages*')):
            shutil.rmtree(old)
        folder = os.path.join(CACHE, 'packages')
        system = System(folder, [BASE])
        script = os.path.join(system.files, 'install-packages')
        shutil.copy(os.path.join(SOURCE, INSTALLER), script)
        log = os.path.join(BUILD, 'bare-packages.log')
        expect_success(system.run('/install-packages build', log, user_environment()), log, 'tools/install-packages build')
        os.remove(script)
        os.rename(system.files, layer)
        shutil.rmtree(folder)
    return layer


@functools.cache
def system():
    """The system of this run."""
    return System(ROOT, [packages(), BASE] if can_mount_layers() else [])


def check_machine():
    if os.geteuid() != 0:
        skip('only root can change into the root of another system')
    os.environ['PATH'] += ':/usr/sbin:/sbin'  # root by su has not always got them
    for tool in ('debootstrap', 'unshare', 'setpriv'):
        if not shutil.which(tool):
            skip('%s is not installed' % tool)
    if not os.path.exists(KEYRING):
        skip('debian-archive-keyring is not installed')
    denied = run([*NAMESPACES, 'true'])
    if denied.returncode:
        skip('no namespaces of mounts here: %s' % denied.stderr.strip())


def lock_cache():
    """Locks the package cache until this program ends, because other checkouts use it, too."""
    try:
        os.makedirs(os.path.join(ARCHIVES, 'partial'), exist_ok=True)
        lock = os.open(os.path.join(CACHE, 'lock'), os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        skip('nothing can be kept in %s: %s' % (CACHE, error.strerror))
    fcntl.flock(lock, fcntl.LOCK_EX)


def sources():
    """Copies the files that git tracks, as they are in the working tree now."""
    listed = run(['git', 'ls-files', '-z'], cwd=SOURCE)
    paths = listed.stdout.split('\0') if listed.returncode == 0 else tracked()
    return [path for path in paths if os.path.isfile(os.path.join(SOURCE, path))]


def copy_sources(folder):
    for path in sources():
        copy = os.path.join(folder, path)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy(os.path.join(SOURCE, path), copy)


def lend_ccache():
    """Gives the bare system this machine's ccache, in a folder of its own with the libraries that it needs. ccache
    compares the contents of sources and headers, and size and time of the compiler, which are those of its package."""
    ccache = shutil.which('ccache')
    if not ccache:
        return
    folder = os.path.join(system().files, 'opt', 'ccache')
    os.makedirs(os.path.join(folder, 'bin'))
    os.mkdir(os.path.join(folder, 'objects'))
    libraries = re.findall(r'(/\S+) \(0x', run(['ldd', ccache]).stdout)
    for path in [ccache, *libraries]:
        shutil.copy(path, folder)
    loader = next(os.path.basename(path) for path in libraries if os.path.basename(path).startswith('ld-'))
    for compiler in ('cc', 'gcc', 'clang-14'):
        script = os.path.join(folder, 'bin', compiler)
        with open(script, 'w', encoding='utf-8') as file:
            file.write(LENT % {'loader': loader, 'compiler': compiler})
        os.chmod(script, 0o755)


def user_environment():
    return dict(ENVIRONMENT, **{proxy: os.environ[proxy] for proxy in PROXIES if proxy in os.environ})


def expect_success(status, log, commands):
    text = text_of(log)
    lost = UNREACHABLE.search(text)
    if status and lost:
        skip('the mirror of Debian is out of reach: ' + lost.group(0))
    assert status == 0, 'exit %d of\n%s\n%s' % (status, commands, text[-20000:])
    return text


def step(name, commands):
    """Runs shell lines as a user in the bare system; returns their output."""
    log = os.path.join(BUILD, 'bare-%s.log' % name)
    environment, objects = user_environment(), ''
    if os.path.exists(os.path.join(system().files, 'opt', 'ccache')):
        objects = run(['ccache', '--get-config', 'cache_dir']).stdout.strip()
        os.makedirs(objects, exist_ok=True)
        environment.update({name: value for name, value in os.environ.items() if name.startswith('CCACHE_')},
                           CCACHE_DIR='/opt/ccache/objects', PATH='/opt/ccache/bin:' + ENVIRONMENT['PATH'])
    STEPS[name] = expect_success(system().run(commands, log, environment, objects), log, commands)
    return STEPS[name]


def needs(name):
    if name not in STEPS:
        skip('%s did not succeed before' % name)


def block(language):
    """The block of docs/use.md in that language."""
    return re.search(r'^```%s\n(.*?)^```$' % language, read('docs/use.md'), re.DOTALL | re.MULTILINE).group(1)


@case
def make_demo():
    check_machine()
    lock_cache()
    if not os.path.exists(BASE):
        debootstrap()
    copy_sources(os.path.join(system().files, 'srv', 'weft'))
    lend_ccache()
    text = step('demo', 'cd /srv/weft; make demo')
    assert 'The picture: /srv/weft/build/demo/demo.png' in text, text[-3000:]
    assert 'The same as a page for a browser:' in text, text[-3000:]


@case
def make_install():
    needs('demo')
    text = step('install', 'cd /srv/weft; make install; mv /srv/weft /srv/moved; weft --version; ldconfig -p;'
                'ls /usr/local/share/doc/weft /usr/local/share/man/man1')
    assert re.search(r'libweft\.so\.0 .*/usr/local/lib/\S+-linux-gnu/libweft\.so\.0', text), text[-3000:]
    assert 'LICENSE' in text and 'weft.1' in text, text[-3000:]


@case
def a_program_of_the_users_own():
    needs('install')
    line = re.search(r'`(cc hello\.c .*?)`', read('README.md')).group(1)
    text = step('hello', 'mkdir /srv/hello; cd /srv/hello; cp /srv/moved/examples/hello.c .; %s; ./a.out;'
                'weft record -o hello.weft ./a.out; weft dump hello.weft' % line)
    assert text.count('Hello, world.\n') == 2, text
    assert 'label     task=1 text="say hello"' in text, text


@case
def a_program_in_python():
    needs('install')
    text = step('python', 'cd /srv; weft record -o chat.weft -- python3 -m weft moved/examples/chat.py; weft info chat.weft')
    tasks = re.search(r'^tasks +(\d+):', text, re.MULTILINE)
    assert tasks and int(tasks.group(1)) > 5, text[-3000:]


@case
def a_meson_subproject():
    """CMake and a C++ compiler are missing, because a project in C need not have them."""
    needs('demo')
    folder = os.path.join(system().files, 'srv', 'project')
    copy_sources(os.path.join(folder, 'subprojects', 'weft'))
    files = {'meson.build': block('meson'), 'subprojects/weft.wrap': block('ini'),
             'main.c': read('examples/hello.c')}
    for path, text in files.items():
        with open(os.path.join(folder, path), 'w', encoding='utf-8') as file:
            file.write(text)
    text = step('subproject', 'cd /srv/project; ! command -v cmake; ! command -v c++; meson setup build'
                ' --force-fallback-for=weft; ninja -C build program; build/program')
    assert 'Hello, world.\n' in text, text[-3000:]


try:
    shutil.rmtree(ROOT, ignore_errors=True)
    main()
finally:
    shutil.rmtree(ROOT, ignore_errors=True)
