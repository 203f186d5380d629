# SPDX-License-Identifier: ISC
# A client whose reader thread ends futures and sets an event of the loop by itself, which asyncio forbids. Something else wakes the loop.
import asyncio
import queue
import threading


class Client:
    def __init__(self, loop):
        self.loop, self.pending, self.requests, self.closed = loop, {}, queue.Queue(), asyncio.Event()
        threading.Thread(target=self.read, name='reader').start()

    def read(self):
        for number in iter(self.requests.get, None):
            self.pending.pop(number).set_result(number * 2)
            self.loop.call_soon_threadsafe(lambda: None)
        self.closed.set()
        self.loop.call_soon_threadsafe(lambda: None)

    async def ask(self, number):
        future = self.pending[number] = self.loop.create_future()
        self.requests.put(number)
        return await future


async def main():
    client = Client(asyncio.get_running_loop())
    print([await client.ask(number) for number in range(3)])
    client.requests.put(None)
    await client.closed.wait()


asyncio.run(main())
