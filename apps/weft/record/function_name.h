/* SPDX-License-Identifier: ISC
 *
 * The name of a function as a person writes it, from that of its symbol.
 */
#ifndef WEFT_RECORD_FUNCTION_NAME_H
#define WEFT_RECORD_FUNCTION_NAME_H

#include <stddef.h>

/* Loads the C++ runtime, by which names of C++ are read, if it is installed. It is never unloaded.
 */
void function_names_load(void);

/* Writes "queue::push" for "_ZN5queue4pushEi", and "read" for "read@GLIBC_2.2.5"; what does not fit
 * into `room` bytes is left out. */
void function_name(char *ret_name, size_t room, const char *symbol);

#endif
