# SPDX-License-Identifier: ISC
"""The images that the lab boots: Xen, Linux, and root file systems for dom0 and for a guest of Linux.

They are made of Debian's packages, which apt-get downloads, and which are unpacked, not installed. All is kept below
$XDG_CACHE_HOME/weft/xen (~/.cache/weft/xen): images are made again if this file changes, or if `apt-get update` has found
newer packages.
"""
import glob
import gzip
import hashlib
import lzma
import os
import platform
import re
import shutil
import stat
import struct
import subprocess
import tempfile

CACHE = os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'weft', 'xen')
PACKAGES = ['xen-hypervisor-4.17-amd64', 'xen-utils-4.17', 'xen-utils-common', 'xenstore-utils', 'libxenmisc4.17',
            'libxenstore4', 'libxencall1', 'libxendevicemodel1', 'libxenevtchn1', 'libxenforeignmemory1',
            'libxengnttab1', 'libxenhypfs1', 'libxentoolcore1', 'libxentoollog1', 'libyajl2', 'busybox-static']
KERNEL = 'linux-image-amd64'  # depends on the present one
KEPT = 3  # older images
MODULES = ['xen-privcmd', 'xenfs', 'xen-evtchn', 'xen-gntdev', 'xen-gntalloc', 'virtio_ring', 'virtio',
           'virtio_pci_legacy_dev', 'virtio_pci_modern_dev', 'virtio_pci', 'virtio_blk']
TOOLS = ['usr/lib/xen-4.17/bin/' + name for name in ('xl', 'xenstored', 'xenconsoled', 'xen-init-dom0', 'xentrace')]
TOOLS += ['usr/bin/xenstore', 'usr/lib/xen-4.17/bin/libxl-save-helper']
GUEST_MODULES = ['xen-privcmd', 'xenfs', 'xen-gntalloc']
GUEST_LIBRARIES = ['libxengnttab.so.1', 'libxenstore.so.4', 'libxencall.so.1']  # libweft loads them
XENSTORE_NAMES = ['xenstore-' + name for name in ('read', 'write', 'ls', 'list', 'rm', 'watch', 'exists', 'chmod')]


# ---- Packages ----

def missing():
    """Why no lab can run here, or None."""
    if platform.machine() != 'x86_64':
        return 'the lab is for x86-64'
    for program, package in (('qemu-system-x86_64', 'qemu-system-x86'), ('apt-get', 'apt'), ('dpkg-deb', 'dpkg')):
        if not shutil.which(program):
            return '%s is not installed' % package
    return None


def output(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if result.returncode:
        raise RuntimeError('%s: %s' % (' '.join(command), result.stderr.strip()))
    return result.stdout


def kernel_package():
    names = re.findall(r'Depends: (linux-image-\S+)', output('apt-cache', 'depends', KERNEL))
    if not names:
        raise RuntimeError('apt-cache knows no %s' % KERNEL)
    return names[0]


def versions():
    """The versions that apt-get would download. It takes seconds to tell them, so they are kept until its lists change."""
    lists = ' '.join('%s %d' % (path, os.stat(path).st_mtime_ns) for path in sorted(glob.glob('/var/lib/apt/lists/*')))
    kept = os.path.join(CACHE, 'versions-' + hashlib.sha256(lists.encode()).hexdigest()[:16])
    if not os.path.exists(kept):
        for old in glob.glob(os.path.join(CACHE, 'versions-*')):
            os.remove(old)
        found = re.findall(r'Candidate: (\S+)', output('apt-cache', 'policy', *PACKAGES, KERNEL))
        write(CACHE, os.path.basename(kept), ' '.join(found).encode())
    with open(kept, encoding='utf-8') as file:
        return file.read()


def unpack(root):
    with tempfile.TemporaryDirectory(prefix='weft-xen-') as folder:
        output('apt-get', 'download', *PACKAGES, kernel_package(), cwd=folder)
        for package in glob.glob(folder + '/*.deb'):
            output('dpkg-deb', '--extract', package, root)


# ---- Images ----

class Archive:
    """A cpio archive in the form that Linux unpacks at its start. Several of them may follow each other."""

    def __init__(self):
        self.parts, self.seen = [], set()

    def entry(self, name, mode, content=b'', links=1):
        name = name.encode() + b'\0'
        fields = (len(self.seen), mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(name), 0)
        header = b'070701' + b''.join(b'%08X' % field for field in fields) + name
        for part in (header, content):
            self.parts.append(part + b'\0' * (-len(part) % 4))

    def folder(self, path):
        if path and path not in self.seen:
            self.folder(os.path.dirname(path))
            self.seen.add(path)
            self.entry(path, stat.S_IFDIR | 0o755)

    def add(self, path, content, mode=0o644):
        path = path.lstrip('/')
        self.folder(os.path.dirname(path))
        if path not in self.seen:
            self.seen.add(path)
            self.entry(path, stat.S_IFREG | mode, content)

    def copy(self, path, source):
        with open(source, 'rb') as file:
            self.add(path, file.read(), 0o755 if os.access(source, os.X_OK) else 0o644)

    def link(self, path, target):
        path = path.lstrip('/')
        self.folder(os.path.dirname(path))
        if path not in self.seen:
            self.seen.add(path)
            self.entry(path, stat.S_IFLNK | 0o777, target.encode())

    def bytes(self):
        ended = Archive()
        ended.entry('TRAILER!!!', 0)
        return b''.join(self.parts + ended.parts)


def libraries(program, folders=''):
    """The libraries that the loader finds for a program."""
    lines = output('ldd', program, env=dict(os.environ, LD_LIBRARY_PATH=folders))
    absent = re.findall(r'(\S+) => not found', lines)
    if absent:
        raise RuntimeError('%s needs %s' % (program, ', '.join(absent)))
    return re.findall(r'(/\S+) \(0x', lines)


def add_program(archive, name, source, folders=''):
    archive.copy('bin/' + name, source)
    with open(source, 'rb') as file:
        is_dynamic = name.endswith('.so') or b'/ld-linux' in file.read(65536)
    for library in libraries(source, folders) if is_dynamic else []:
        # A program names its loader by path; other libraries are searched in one folder.
        loader = os.path.basename(library).startswith('ld-linux')
        archive.copy('lib64/' + os.path.basename(library) if loader else 'lib/' + os.path.basename(library), library)


def decompressed_kernel(path):
    """The ELF file in a bzImage. Linux would take seconds to decompress itself in the emulator."""
    with open(path, 'rb') as file:
        image = file.read()
    offset, size = struct.unpack_from('<II', image, 0x248)
    begin = (image[0x1f1] + 1) * 512 + offset
    return lzma.LZMADecompressor().decompress(image[begin:begin + size])


def only(pattern):
    found = glob.glob(pattern, recursive=True)
    if not found:
        raise RuntimeError('no file %s in the packages' % pattern)
    return found[0]


def system(root, tools, modules):
    """The root file system of dom0, or of a guest: a shell, these tools and modules, and XenStore's commands."""
    archive = Archive()
    for folder in ('proc', 'sys', 'dev', 'run', 'out', 'tmp', 'lab'):
        archive.folder(folder)
    archive.copy('bin/busybox', os.path.join(root, 'bin/busybox'))
    archive.link('bin/sh', 'busybox')
    for tool in tools:
        add_program(archive, os.path.basename(tool), os.path.join(root, tool), library_folders(root))
    for name in XENSTORE_NAMES:
        archive.link('bin/' + name, 'xenstore')
    # pthread_cancel loads it by name.
    archive.copy('lib/libgcc_s.so.1', '/lib/x86_64-linux-gnu/libgcc_s.so.1')
    for number, module in enumerate(modules):
        archive.copy('modules/%02d-%s' % (number, module), only('%s/lib/modules/**/%s.ko' % (root, module)))
    return archive


def library_folders(root):
    return ':'.join({os.path.dirname(path) for path in glob.glob(root + '/usr/lib/**/*.so.*', recursive=True)})


def dom0_archive(root):
    archive = system(root, TOOLS, MODULES)
    for folder in ('etc/xen', 'var/lib/xen', 'var/log/xen'):
        archive.folder(folder)
    archive.link('var/run', '/run')
    archive.add('etc/xen/xl.conf', b'')
    archive.link('usr/lib/xen-4.17/bin', '/bin')
    return archive


def guest_archive(root):
    archive = system(root, ['usr/bin/xenstore'], GUEST_MODULES)
    for name in GUEST_LIBRARIES:
        library = only('%s/usr/lib/**/%s' % (root, name))
        for path in [library, *libraries(library, library_folders(root))]:
            archive.copy('lib/' + os.path.basename(path), path)
    return archive


def make_images(folder):
    with tempfile.TemporaryDirectory(prefix='weft-xen-') as root:
        unpack(root)
        # QEMU does not decompress it.
        with gzip.open(only(root + '/boot/xen-*.gz')) as file:
            write(folder, 'xen', file.read())
        write(folder, 'linux', decompressed_kernel(only(root + '/boot/vmlinuz-*')))
        output('strip', os.path.join(folder, 'linux'))
        write(folder, 'dom0.cpio', dom0_archive(root).bytes())
        write(folder, 'guest.cpio', guest_archive(root).bytes())


def write(folder, name, content):
    with open(os.path.join(folder, name), 'wb') as file:
        file.write(content)


def images():
    """The folder with xen, linux, dom0.cpio and guest.cpio, which is made once. Call this with the lab's lock."""
    with open(os.path.abspath(__file__), 'rb') as file:
        folder = os.path.join(CACHE, hashlib.sha256(file.read() + versions().encode()).hexdigest()[:16])
    if not os.path.exists(folder):
        # Other versions of this file may be in use beside it.
        for old in sorted(glob.glob(os.path.join(CACHE, '[0-9a-f]' * 16 + '*')), key=os.path.getmtime)[:-KEPT]:
            shutil.rmtree(old)
        shutil.rmtree(folder + '.new', ignore_errors=True)
        os.makedirs(folder + '.new')
        make_images(folder + '.new')
        os.rename(folder + '.new', folder)
    return folder
