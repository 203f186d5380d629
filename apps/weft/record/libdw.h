/* SPDX-License-Identifier: ISC
 *
 * libdw, which is loaded when it is needed: loading it would make each command of weft begin 0.3 ms
 * later.
 */
#ifndef WEFT_RECORD_LIBDW_H
#define WEFT_RECORD_LIBDW_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the functions of these names. False if one is missing, as where libdw is not installed. It
 * is never unloaded. */
bool libdw_find(const char *const *names, size_t count, void **ret_functions);

/* For a list FUNCTIONS(F): the members of a struct with a pointer to each, and their names. */
#define LIBDW_POINTER(name) __typeof__(name) *name;
#define LIBDW_NAME(name)    #name,

#endif
