/* SPDX-License-Identifier: ISC
 *
 * The tuple of a function and its arguments that a std::thread keeps.
 */
#ifndef WEFT_ADAPTERS_THREAD_TUPLE_H
#define WEFT_ADAPTERS_THREAD_TUPLE_H

#include <stddef.h>

/* Where the function is in an object of the class with that mangled name, if the object's base has
 * one word: its index among the object's words. 0: the class does not say, because its function is
 * an object itself, or an argument is of a class that is not known here. */
size_t weft__thread_function_in(const char *class_name);

#endif
