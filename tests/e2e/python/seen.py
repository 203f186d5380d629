# SPDX-License-Identifier: ISC
# All that a program can see of what is loaded into it, before and after it imports asyncio.
import os
import sys


def show():
    print(*sys.modules, sep='\n')
    print(sys.path, sys.flags, sys.argv, sys.warnoptions, list(sys.path_importer_cache), sep='\n')
    print([str(it).split(' at ')[0] for it in sys.meta_path + sys.path_hooks])
    print(sys.exc_info(), sys.getprofile(), sys.gettrace(), sys.getrecursionlimit())


show()
import asyncio  # noqa: E402
show()
import concurrent.futures.thread  # noqa: E402, F401
show()
for name, value in sorted(os.environ.items()):
    if name not in ('_', 'LD_PRELOAD') and not name.startswith('WEFT_'):
        print(name, value)
print(sorted(vars(asyncio)), sorted(globals()))


async def main():
    task = asyncio.create_task(asyncio.to_thread(print, 'in a thread'))
    print(task.get_name(), type(task), type(asyncio.Lock()), repr(asyncio.Lock())[:23])
    await task
    raise KeyError('the end')
asyncio.run(main())
