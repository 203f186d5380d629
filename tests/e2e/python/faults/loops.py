# SPDX-License-Identifier: ISC
# A cache with a lock, used by one loop after the other. The handlers of requests catch all errors.
import asyncio


class Cache:
    def __init__(self):
        self.lock, self.values = asyncio.Lock(), {}

    async def get(self, key):
        async with self.lock:
            await asyncio.sleep(0)
            return self.values.setdefault(key, len(self.values))


async def handle(cache, key):
    try:
        return await cache.get(key)
    except Exception:
        return None


async def serve(cache):
    print(await asyncio.gather(*(handle(cache, key) for key in range(3))))


shared = Cache()
asyncio.run(serve(shared))
asyncio.run(serve(shared))
