# SPDX-License-Identifier: ISC
# Two tasks that take two locks in different orders.
import asyncio


async def transfer(one, other):
    async with one:
        await asyncio.sleep(0.01)
        async with other:
            print('done')


async def main():
    a, b = asyncio.Lock(), asyncio.Lock()
    asyncio.create_task(transfer(a, b), name='one'), asyncio.create_task(transfer(b, a), name='other')
    await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})

asyncio.run(main())
