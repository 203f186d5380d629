# SPDX-License-Identifier: ISC
# An audit hook of the program sees no event of others.
import sys

events = []
sys.addaudithook(lambda event, values: events.append((event, *(it for it in values if isinstance(it, str)))))
import asyncio  # noqa: E402


async def main():
    lock = asyncio.Lock()
    async with lock:
        await asyncio.to_thread(int)
asyncio.run(main())
for event in list(events):
    print(*event)
