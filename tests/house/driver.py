# SPDX-License-Identifier: ISC
"""playwright-core, the only download of the tests besides Debian's packages, is pinned by its hash."""
import http.server
import io
import json
import os
import re
import shutil
import sys
import tarfile
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from browser import PINNED, install_driver  # noqa: E402
from npm_packages import packages  # noqa: E402
from harness import Skip, case, equal, main, skip  # noqa: E402

LOCK = os.path.join(PINNED, 'package-lock.json')


def other_contents(version):
    """A package of the same name and version, as npm's registry would send it."""
    text = json.dumps({'name': 'playwright-core', 'version': version}).encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode='w:gz') as tar:
        entry = tarfile.TarInfo('package/package.json')
        entry.size = len(text)
        tar.addfile(entry, io.BytesIO(text))
    return packed.getvalue()


class Registry(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        address = 'http://127.0.0.1:%d' % self.server.server_port
        version = self.server.version
        self.server.asked.append(self.path)
        if self.path.endswith('.tgz'):
            answer, kind = other_contents(version), 'application/octet-stream'
        else:
            dist = {'tarball': address + '/playwright-core/-/playwright-core-%s.tgz' % version}
            answer = json.dumps({'name': 'playwright-core', 'dist-tags': {'latest': version}, 'versions': {
                version: {'name': 'playwright-core', 'version': version, 'dist': dist}}}).encode()
            kind = 'application/json'
        self.send_response(200)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@case
def the_lock_has_hashes_and_no_host():
    for folder in 'npm', 'otlp_npm', 'devtools_npm':
        lock = os.path.join(os.path.dirname(PINNED), folder, 'package-lock.json')
        found = packages(lock)
        assert found, 'nothing is pinned'
        for path, integrity in found.items():
            assert re.fullmatch(r'sha512-[A-Za-z0-9+/]{86}==', integrity or ''), '%s: %s' % (path, integrity)
        with open(lock, encoding='utf-8') as file:
            assert '"resolved"' not in file.read()


@case
def other_contents_are_refused():
    if not shutil.which('npm'):
        skip('npm is not installed')
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Registry)
    with open(LOCK, encoding='utf-8') as file:
        server.version = json.load(file)['packages']['node_modules/playwright-core']['version']
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix='weft-driver-') as folder:
        try:
            install_driver(folder, ['--registry=http://127.0.0.1:%d' % server.server_port, '--noproxy=127.0.0.1',
                                    '--cache=' + os.path.join(folder, 'cache'), '--fetch-retries=0'])
        except AssertionError as error:
            assert 'other contents than are pinned' in str(error), error
        except Skip as reason:
            raise AssertionError('npm failed otherwise: %s' % reason) from reason
        else:
            raise AssertionError('installed: %s' % os.listdir(folder))
        finally:
            server.shutdown()
            server.server_close()
        assert not os.path.exists(os.path.join(folder, 'node_modules', 'playwright-core'))
    equal([path for path in server.asked if path.endswith('.tgz')][:1],
          ['/playwright-core/-/playwright-core-%s.tgz' % server.version], 'what npm asked for')


main()
