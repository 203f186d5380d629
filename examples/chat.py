# SPDX-License-Identifier: ISC
"""A chat room in asyncio that is slow. Why?

    python3 -m weft -o chat.weft examples/chat.py && weft view chat.weft

Three people talk. A person who says something waits until all others have it, and the room passes on one message at a
time. The trace shows what each task waits for: dave reads slowly, his inbox is full, and the task that waits for room in it
has the lock that all others want.
"""
import asyncio

INBOX = 1
SAYINGS = ('hello', 'who is there?', 'it is slow today', 'good bye')


class Room:
    def __init__(self):
        self.inboxes = {}
        self.lock = asyncio.Lock()

    async def say(self, name, text):
        async with self.lock:
            for other, inbox in self.inboxes.items():
                if other != name:
                    await inbox.put((name, text))


async def talk(room, name):
    for text in SAYINGS:
        await room.say(name, text)
        await asyncio.sleep(0)


async def read(room, name, pace):
    for _ in range((len(room.inboxes) - 1) * len(SAYINGS)):
        await room.inboxes[name].get()
        await asyncio.sleep(pace)


async def main():
    room = Room()
    paces = {'anna': 0, 'ben': 0, 'dave': 0.004}
    room.inboxes = {name: asyncio.Queue(INBOX) for name in paces}
    async with asyncio.TaskGroup() as group:
        for name, pace in paces.items():
            group.create_task(read(room, name, pace), name=name + ' reads')
            group.create_task(talk(room, name), name=name)
    print('all have read all')


asyncio.run(main())
