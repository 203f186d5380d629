/* SPDX-License-Identifier: ISC
 *
 * Writes events in the formats of other tools.
 *
 * An exporter takes events as a decoder gives them and hands finished bytes to its caller: it never
 * opens a file, prints or exits. It belongs to one thread at a time. Its memory is bounded, however
 * long the trace is; that for Chrome is in proportion to the number of tasks.
 */
#ifndef WEFT_EXPORT_H
#define WEFT_EXPORT_H

#include <stddef.h>
#include <stdint.h>

#include <weft/error.h>
#include <weft/event.h>
#include <weft/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- CTF 1.8: a directory with a file "metadata" and a file "thread_N" a thread ----
 *
 *     weft_export_ctf_create → add … add → finish → destroy
 *
 * Every event becomes a CTF event with the name, the fields and the time that `weft dump --json`
 * shows. Text keeps its bytes, UTF-8 or not; a NUL, which CTF strings cannot hold, is written as
 * C0 80. Tasks are signed there, so that "no task" is -1. */

/* Receives the bytes. */
struct weft_export_ctf_sink {
	/* Appends to the directory's file `name`, which the first call for a name creates. "metadata"
	 * comes last, because readers do not accept a directory without it, so an unfinished export is
	 * not mistaken for a whole one. Returns 0, or a negative error, which ends the export. */
	int (*append)(void *context, const char *name, const void *bytes, size_t size);
	void *context;
};

struct weft_export_ctf_summary {
	uint64_t events, packets, bytes;
	uint64_t
		late_times; /* events after about 2262, moved to the last time that CTF readers accept */
};

struct weft_export_ctf;

int weft_export_ctf_create(
	const struct weft_export_ctf_sink *sink, struct weft_export_ctf **ret_export);
void weft_export_ctf_destroy(struct weft_export_ctf *ctf);

/* Adds the next event in time order, from a trace with that description. WEFT_ERROR_ARGUMENT if it
 * is earlier than the one before or has an unknown thread or type. After an error only destroy is
 * allowed. */
int weft_export_ctf_add(struct weft_export_ctf *ctf, const struct weft_event *event,
	const struct weft_trace_description *description);

/* Writes events that are held back, and the metadata. `description` is the decoder's at the end. */
int weft_export_ctf_finish(
	struct weft_export_ctf *ctf, const struct weft_trace_description *description);

/* A summary of what was written so far. */
struct weft_export_ctf_summary weft_export_ctf_summarize(const struct weft_export_ctf *ctf);

/* ---- Chrome's trace event format, JSON: one file, for Perfetto's UI and chrome://tracing ----
 *
 *     weft_export_chrome_create → add … add → finish → destroy
 *
 * Tasks are asynchronous slices, activations are slices of threads, edges are flows, and counters,
 * notes and names are what the format has for them. Each event keeps its own fields beside that, so
 * that weft reads the same trace again: docs/formats.md. */

/* Receives the bytes. */
struct weft_export_chrome_sink {
	/* Appends. Returns 0, or a negative error, which ends the export. */
	int (*append)(void *context, const void *bytes, size_t size);
	void *context;
};

struct weft_export_chrome;

int weft_export_chrome_create(
	const struct weft_export_chrome_sink *sink, struct weft_export_chrome **ret_export);
void weft_export_chrome_destroy(struct weft_export_chrome *chrome);

/* Adds the next event in time order, from a trace with that description. WEFT_ERROR_ARGUMENT if it
 * is earlier than the one before or has an unknown type. After an error only destroy is allowed. */
int weft_export_chrome_add(struct weft_export_chrome *chrome, const struct weft_event *event,
	const struct weft_trace_description *description);

/* Writes what is held back, and the end. `description` is the decoder's at the end. */
int weft_export_chrome_finish(
	struct weft_export_chrome *chrome, const struct weft_trace_description *description);

#ifdef __cplusplus
}
#endif
#endif
