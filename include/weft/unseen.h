/* SPDX-License-Identifier: ISC
 *
 * A trace says what is not in it: libraries, programs and threads whose calls the adapters
 * could not record. struct weft_trace_buffer has these facts as text.
 *
 * Nothing here allocates, locks or does I/O. Texts are the caller's; slices borrow them.
 */
#ifndef WEFT_UNSEEN_H
#define WEFT_UNSEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/event.h>
#include <weft/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds, by the rows of unseen.def. */
enum weft_unseen_kind {
#define UNSEEN(id, key, before, after) WEFT_UNSEEN_##id,
#include <weft/unseen.def>
#undef UNSEEN
	WEFT_UNSEEN_KINDS /* of a newer recorder */
};

struct weft_unseen {
	enum weft_unseen_kind kind;
	struct weft_slice key, what; /* `what`: the path of a file, and so on */
	const char *before, *after;  /* the words around it; "" if the kind is unknown */
	uint32_t buffer, buffers;    /* the first of the buffers that have the fact; their number */
};

/* The title that a process has given itself last, among the facts of its buffer: what `ps` shows
 * of "postgres: checkpointer". Empty: none. `facts` may be NULL. */
struct weft_slice weft_unseen_title(const char *facts);

/* The title that a buffer's process has given itself last, else its program's name; maybe empty. */
struct weft_slice weft_trace_process_name(const struct weft_trace_buffer *buffer);

/* Takes the next fact from the text of one buffer, at which `*at` begins. False at its end. */
bool weft_unseen_next(const char **at, struct weft_unseen *ret_fact);

/* Writes "library /lib/x.so, loaded with RTLD_DEEPBIND: its calls are not recorded". At most `size`
 * bytes with the NUL; returns the full length. */
size_t weft_unseen_sentence(const struct weft_unseen *fact, char *text, size_t size);

enum {
	WEFT_UNSEEN_MAX = 64,
	WEFT_UNSEEN_SENTENCE_BYTES = 1280
};

/* The facts of several buffers, each once. */
struct weft_unseen_list {
	struct weft_unseen list[WEFT_UNSEEN_MAX];
	uint32_t count;
	uint32_t
		more; /* that the list has no room for; a fact of several buffers counts once for each */
};

/* Adds the facts of one more buffer. Begin with a list of zeros. `facts` may be NULL. */
void weft_unseen_add(struct weft_unseen_list *list, const char *facts, uint32_t buffer);

/* A program of that name is recorded after all: it calls libweft itself. Facts about a file of that
 * name are removed. */
void weft_unseen_drop(struct weft_unseen_list *list, const char *program);

/* The facts of a whole trace. */
void weft_unseen_collect(struct weft_unseen_list *ret_list, const struct weft_trace_buffer *buffers,
	uint32_t buffer_count);

#ifdef __cplusplus
}
#endif
#endif
