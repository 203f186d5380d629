# SPDX-License-Identifier: ISC
# A pool of processes. The first argument: `killed`, where a worker is killed and its result never comes; or `sound`.
import hashlib
import multiprocessing
import os
import signal
import sys


def work(number):
    if number == 2 and sys.argv[1] == 'killed':
        os.kill(os.getpid(), signal.SIGKILL)
    hashlib.pbkdf2_hmac('sha256', b'', b'', 20000)  # meanwhile the pool's threads let go of the global lock many times
    return number


print(os.getpid(), flush=True)
with multiprocessing.get_context('fork').Pool(3) as pool:
    print(pool.map(work, range(24), chunksize=1))
