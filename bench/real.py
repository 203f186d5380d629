# SPDX-License-Identifier: ISC
"""Opening the trace of a real program, redis-server that answers 200,000 requests, as bench_open opens random ones.

    WEFT_BUILD=build-bench python3 bench/real.py
"""
import os
import subprocess
import tempfile

from adapters import BUILD, WEFT, Missing, need, run, server, wait_for

REQUESTS = 200000


def record(folder):
    need('redis-server', 'redis-benchmark')
    path, socket = os.path.join(folder, 'redis.weft'), os.path.join(folder, 'redis')
    ask = ['redis-cli', '-s', socket]
    command = [WEFT, 'record', '-a', 'io', '--stream', '-o', path, '--', 'redis-server', '--port', '0', '--unixsocket', socket, '--save', '']
    with server(command, None, lambda _: run([*ask, 'shutdown', 'nosave'])) as process:
        wait_for([*ask, 'ping'])
        process.stdout.close()
        run(['redis-benchmark', '-s', socket, '-t', 'get', '-n', str(REQUESTS), '-c', '20', '-q'])
    return path


def main():
    with tempfile.TemporaryDirectory(prefix='weft-bench-') as folder:
        os.environ.update(XDG_RUNTIME_DIR=folder, WEFT_ADAPTERS='')
        try:
            path = record(folder)
        except Missing as reason:
            print('a real program is not measured: %s' % reason)
            return
        subprocess.run([os.path.join(BUILD, 'bench', 'bench_open'), path], check=True)


main()
