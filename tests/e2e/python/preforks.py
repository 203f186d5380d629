# SPDX-License-Identifier: ISC
# A server that loads its program, forks its workers and waits for them, as gunicorn does.
import asyncio
import os
import sys


async def answer(reader, writer):
    writer.write(await reader.readline())
    await writer.drain()
    writer.close()


async def work(number):
    server = await asyncio.start_server(answer, '127.0.0.1', 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b'%d\n' % number)
    line = await reader.readline()
    writer.close()
    server.close()
    return int(line)


def fork(number):
    pid = os.fork()
    if not pid:
        os._exit(asyncio.run(work(number)))
    return pid


workers = [fork(number) for number in (3, 4)]
print([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in workers])
sys.exit(5)
