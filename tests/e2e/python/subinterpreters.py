# SPDX-License-Identifier: ISC
# asyncio in interpreters beside the first one, whose objects no other interpreter may use.
import asyncio
try:
    import _interpreters as si
    run = si.exec
except ImportError:
    import _xxsubinterpreters as si
    run = si.run_string
CODE = '''
import asyncio
async def f():
    lock = asyncio.Lock()
    async with lock:
        await asyncio.sleep(0.001)
    print('done')
asyncio.run(f())
'''
exec(CODE)
for _ in range(3):
    i = si.create()
    run(i, CODE)
    si.destroy(i)
exec(CODE)
