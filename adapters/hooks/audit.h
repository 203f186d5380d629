/* SPDX-License-Identifier: ISC
 *
 * Python's audit hooks.
 */
#ifndef WEFT_ADAPTERS_AUDIT_H
#define WEFT_ADAPTERS_AUDIT_H

#include <stdbool.h>

/* Finds a function of Python, or of another loaded library; false: there is none. */
bool weft__hooks_audit_find(void *library, const char *name, void *ret_function);

/* Has Python call `see`, with an event's name and its values, a tuple. Before main. False: this
 * program is not Python. */
bool weft__hooks_audit_begin(void (*see)(const char *event, void *values));

#endif
