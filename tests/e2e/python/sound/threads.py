# SPDX-License-Identifier: ISC
# Threads that use loops as asyncio allows it, and loops that do not run.
import asyncio
import concurrent.futures
import threading


def in_a_thread(function, *arguments):
    thread = threading.Thread(target=function, args=arguments)
    thread.start()
    return thread


def fill():
    """Another thread gives the loop its first callback, before it runs."""
    loop = asyncio.new_event_loop()
    future = loop.create_future()
    in_a_thread(loop.call_soon, future.set_result, 1).join()
    loop.run_until_complete(future)
    loop.close()


async def serve():
    loop, ready, items = asyncio.get_running_loop(), asyncio.Event(), asyncio.Queue()

    def work():
        loop.call_soon_threadsafe(ready.set)
        for number in range(10):
            asyncio.run_coroutine_threadsafe(items.put(number), loop).result()
    thread = in_a_thread(work)
    await ready.wait()
    print([await items.get() for _ in range(10)])
    await asyncio.to_thread(thread.join)


async def rest():
    """A loop in a thread, while another one runs."""
    await asyncio.to_thread(lambda: asyncio.run(asyncio.sleep(0)))


class Cache:
    """Has a lock for each loop."""
    def __init__(self):
        self.lock = asyncio.Lock()

    async def get(self):
        async with self.lock:
            await asyncio.sleep(0)


async def share():
    cache = Cache()
    await asyncio.gather(cache.get(), cache.get())


fill()
for main in (serve, rest, share, share):
    asyncio.run(main())
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    list(pool.map(lambda _: asyncio.run(asyncio.sleep(0)), range(4)))
