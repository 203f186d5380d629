# SPDX-License-Identifier: ISC
"""A web server of aiohttp, and clients that load it.

    aiohttp_load.py server                                 prints its port, serves until a client asks it to stop, and
                                                           prints the processor time that it took
    aiohttp_load.py client PORT REQUESTS CLIENTS [PATH]    prints what was answered, and then how many requests a second
"""
import asyncio
import collections
import sys
import time

import aiohttp
from aiohttp import web


def routes():
    lock = asyncio.Lock()
    stopped = asyncio.Event()
    table = web.RouteTableDef()

    @table.get('/plain')
    async def plain(request):
        return web.Response(text='plain')

    @table.get('/sleep')
    async def sleep(request):
        await asyncio.sleep(0.001)
        return web.Response(text='slept')

    @table.get('/locked')
    async def locked(request):
        async with lock:
            await asyncio.sleep(0)
        return web.Response(text='locked')

    @table.get('/thread')
    async def thread(request):
        return web.Response(text=await asyncio.to_thread(str.upper, 'thread'))

    @table.get('/broken')
    async def broken(request):
        raise ValueError('broken')

    @table.post('/echo')
    async def echo(request):
        return web.Response(body=await request.read())

    @table.get('/stop')
    async def stop(request):
        stopped.set()
        return web.Response(text='stopping')

    return table, stopped


async def serve():
    table, stopped = routes()
    app = web.Application()
    app.add_routes(table)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, '127.0.0.1', 0)
    await site.start()
    print(site._server.sockets[0].getsockname()[1], flush=True)
    begin = time.process_time()
    await stopped.wait()
    print(time.process_time() - begin, flush=True)
    await runner.cleanup()


PATHS = ('plain', 'plain', 'sleep', 'locked', 'thread', 'echo', 'broken')


async def ask(session, path):
    if path == 'echo':
        async with session.post('/echo', data=b'x' * 10000) as answer:
            return path, answer.status, len(await answer.read())
    async with session.get('/' + path) as answer:
        return path, answer.status, len(await answer.read())


async def load(port, requests, clients, paths):
    answers, numbers = collections.Counter(), iter(range(requests))

    async def client(session):
        for number in numbers:
            answers[await ask(session, paths[number % len(paths)])] += 1
    async with aiohttp.ClientSession('http://127.0.0.1:%d' % port) as session:
        begin = time.monotonic()
        await asyncio.gather(*(client(session) for _ in range(clients)))
        seconds = time.monotonic() - begin
        await session.get('/stop')
    print(sorted(answers.items()))
    print(requests / seconds)


if sys.argv[1] == 'server':
    asyncio.run(serve())
else:
    asyncio.run(load(*map(int, sys.argv[2:5]), sys.argv[5:] or PATHS))
