/* SPDX-License-Identifier: ISC
 *
 * Python: has it load what records asyncio.
 */
#ifndef WEFT_ADAPTERS_PYTHON_H
#define WEFT_ADAPTERS_PYTHON_H

/* Before main. Does nothing in other programs. */
void weft__hooks_python_begin(void);

#endif
