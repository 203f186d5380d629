/* SPDX-License-Identifier: ISC
 *
 * Result codes of the reading half: 0, a positive iterator state, or a negative error.
 *
 * Recording calls return nothing; they count what they lose (see weft.h).
 */
#ifndef WEFT_ERROR_H
#define WEFT_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* Results of iterators (`…_next`), beside negative errors. */
enum weft_status {
	WEFT_OK = 0,    /* one more item is returned */
	WEFT_END = 1,   /* there are no more items */
	WEFT_AGAIN = 2, /* no item now: feed more bytes, wait, or finish */
};

/* Each error: code, number, text. */
#define WEFT_ERRORS(X)                                                          \
	X(MEMORY, -1, "out of memory")                                              \
	X(ARGUMENT, -2, "argument out of range")                                    \
	X(SYSTEM, -3, "system call failed (see errno)")                             \
	X(FORMAT, -4, "not in a format that weft knows")                            \
	X(EMPTY, -5, "no bytes")                                                    \
	X(DAMAGED, -6, "no intact event")                                           \
	X(LIMIT, -7, "more than this build can hold")                               \
	X(STATE, -8, "called at the wrong time")                                    \
	X(UNSUPPORTED, -9, "not supported by this build")                           \
	X(COMPRESSED, -10, "compressed in a way which this build was made without") \
	X(CANCELED, -11, "stopped because it was asked to")                         \
	X(SIZE, -12, "holds more bytes than its reader allows")

enum weft_error {
#define X(name, number, text) WEFT_ERROR_##name = number,
	WEFT_ERRORS(X)
#undef X
};

/* The text of a code; never NULL. Static storage. */
const char *weft_error_text(int code);

#ifdef __cplusplus
}
#endif
#endif
