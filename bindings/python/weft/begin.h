/* SPDX-License-Identifier: ISC
 *
 * The functions that the adapters find in weft-python.so by their names. They are called with the
 * interpreter's lock, while no exception is set, and leave none.
 */
#ifndef WEFT_PYTHON_BEGIN_H
#define WEFT_PYTHON_BEGIN_H

#include "python.h"

PyMODINIT_FUNC PyInit__weft(void);

/* Records asyncio, all of which is loaded. False, and why. */
__attribute__((visibility("default"))) bool weft_python_begin(char *ret_error, size_t size);

/* Records thread pools, too: concurrent.futures.thread is about to be imported. */
__attribute__((visibility("default"))) void weft_python_begin_pools(void);

#endif
