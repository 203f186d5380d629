# SPDX-License-Identifier: ISC
# __import__ and functions for tracing and profiling are the program's own, and see no import and no function of others.
import builtins
import sys

names, original = [], builtins.__import__


def note(name, *args):
    names.append(name)
    return original(name, *args)


def see(frame, event, argument):
    if event in ('call', 'c_call'):
        code = frame.f_code
        seen.add((event, code.co_filename, code.co_name, argument.__qualname__ if event == 'c_call' else None))
    return see


seen = set()
builtins.__import__ = note
if sys.argv[1:] == ['trace']:
    sys.settrace(see)
else:
    sys.setprofile(see)
import asyncio  # noqa: E402
lock, queue, event = asyncio.Lock(), asyncio.Queue(2), asyncio.Event()


async def take():
    async with lock:
        await asyncio.sleep(0)
    return await queue.get()


async def main():
    await asyncio.sleep(0.001)
    tasks = [asyncio.create_task(take()) for _ in range(2)]
    for _ in range(9):  # until both wait, on a machine of any speed
        await asyncio.sleep(0)
    queue.put_nowait(1)
    queue.put_nowait(2)
    print(await asyncio.gather(*tasks))
asyncio.run(main())
sys.setprofile(None)
sys.settrace(None)
print(*names, sep='\n')
for it in sorted(it for it in seen if it[0] == 'call' and 'importlib' not in it[1]):
    print(*it)
