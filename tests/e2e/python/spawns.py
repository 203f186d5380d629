# SPDX-License-Identifier: ISC
# Processes of multiprocessing, each with a loop of its own.
import asyncio
import multiprocessing
import sys


async def child(): await asyncio.sleep(0.001)


def run(): asyncio.run(child(), debug=False)


if __name__ == '__main__':
    context = multiprocessing.get_context(sys.argv[1])
    processes = [context.Process(target=run) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    print([process.exitcode for process in processes])
