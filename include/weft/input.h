/* SPDX-License-Identifier: ISC
 *
 * Opens a trace with one call: its bytes, a decoder that has all of them, and a second thread that
 * helps it.
 *
 * An input owns all three. It belongs to one thread at a time.
 */
#ifndef WEFT_INPUT_H
#define WEFT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/decoder.h>
#include <weft/source.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_input;

struct weft_input_options {
	size_t size; /* sizeof(struct weft_input_options), or 0; members that an older header lacks are
					0 */
	uint64_t max_bytes; /* see weft_source_open_limited(); 0: the default limit */
	/* Opens what is no file. 0 and a source, or NULL for a path that is a file; or an error. `open`
	 * may be NULL. */
	int (*open)(void *context, const char *path, struct weft_source **ret_source);
	void *context;
	uint64_t hz; /* see weft_decoder_set_hz(); 0: unknown */
	/* Several hosts keep their own wall clocks; no messages between them are looked for. */
	bool no_align;
	/* Traces of hosts and boots that did not record at the same time are one trace, too. */
	bool at_any_time;
};

/* Opens the trace at `path`, "-" for standard input. `options` may be NULL. Returns when all of it
 * has arrived and its decoder is finished, so that weft_decoder_next() may be called. 0 or an error
 * of weft_source_open() and weft_decoder_finish(). */
int weft_input_open(
	const char *path, const struct weft_input_options *options, struct weft_input **ret_input);

/* The same for an open source, of which the input takes ownership, even after an error. Of the
 * options, which may be NULL, `max_bytes` has no effect: the source has its bytes. */
int weft_input_open_source_with(struct weft_source *source,
	const struct weft_input_options *options, struct weft_input **ret_input);

/* Whether a file's events are in the trace, or why not. */
enum weft_input_fit {
	WEFT_INPUT_OPEN,
	WEFT_INPUT_UNREADABLE,  /* `error` says why, and `reason` for WEFT_ERROR_SYSTEM */
	WEFT_INPUT_NO_BOOT,     /* it does not name the boot that its clock counts from */
	WEFT_INPUT_OTHER_BOOT,  /* its clock counts from another boot than that of `other` */
	WEFT_INPUT_SAME_BUFFER, /* it is a part of the same buffer as `other`, such as a snapshot */
	WEFT_INPUT_NO_COUNTER,  /* it is Xen's own trace, and no other has readings of its counter */
};

struct weft_input_file {
	const char *path;
	enum weft_input_fit fit;
	int error, reason; /* of the library; errno */
	const char *other; /* a path, or NULL */
	uint32_t part;     /* its number in the merged decoder, if it is open */
	uint32_t host;     /* the number of its host, see weft_input_host() */
	struct weft_source *source;
	struct weft_decoder *decoder; /* NULL: the file is left out */
};

/* Opens several files as one trace on one clock: a buffer for each file, in the order in which the
 * programs started. This needs files that name the boot of their machine. Those of one boot have
 * one clock; those of others, if they recorded at the same time, are aligned by messages between
 * them. Xen's own trace fits to those of guests, or of programs of dom0 that read the processor's
 * counter. Files that cannot be read, or that do not fit to most of the others, are left out; the
 * caller checks each with weft_input_file(). One file alone always fits. Returns 0 or
 * WEFT_ERROR_MEMORY; the decoder is NULL if all files were left out. */
int weft_input_open_files(const char *const *paths, size_t count,
	const struct weft_input_options *options, struct weft_input **ret_input);

/* The files that weft_input_open_files() was called with, in another order; 0 for other inputs. */
size_t weft_input_file_count(const struct weft_input *input);
const struct weft_input_file *weft_input_file(const struct weft_input *input, size_t number);

/* The hosts of a trace of several, and what is known of their clocks. */
struct weft_input_host {
	const char *name; /* "beta", or "beta (boot 1f0e…)" if two have that name */
	uint8_t boot_id[16];
	enum weft_alignment alignment;
	uint64_t error_ns; /* if that is BOUNDED: of its times, against those of the first host */
	int64_t moved_ns;  /* against its own wall clock, in the middle of its record */
	double drift;      /* by which that grows; the clock is fast if it is below 0 */
	double drift_error;
	uint64_t pairs;   /* of a cause and an effect, of which the other one is of another host */
	uint64_t bend_ns; /* by which they contradict each other */
	bool may_be_more; /* if ONE_SIDED: else less */
	bool is_aligned;  /* false: because of `no_align` */
	/* It is placed by what both hosts' time services knew of their error, as too few pairs bound
	 * its clock. */
	bool has_wall_error;
};

/* 0 for a trace of one host. The first one's clock is that of the trace. */
size_t weft_input_host_count(const struct weft_input *input);
const struct weft_input_host *weft_input_host(const struct weft_input *input, size_t number);

/* The time on the trace's clock at which the clock of the file's host showed `own_ns`, and the
 * other way round. */
uint64_t weft_input_trace_time(
	const struct weft_input *input, const struct weft_input_file *file, uint64_t own_ns);
uint64_t weft_input_own_time(
	const struct weft_input *input, const struct weft_input_file *file, uint64_t time_ns);

/* Writes how the host's clock was placed: "moved by +3.20 ms ± 80.0 us, drift +12.0 ± 0.3 ppm, from
 * 212 pairs". At most `size` bytes with the NUL; returns the full length without it. */
size_t weft_input_explain_host(const struct weft_input_host *host, char *text, size_t size);

/* Writes why a file is left out: "its clock counts from another boot than that of a.weft, …"; "" if
 * it is open. At most `size` bytes with the NUL; returns the full length without it. */
size_t weft_input_explain(const struct weft_input_file *file, char *text, size_t size);

/* Names a file that begins with these bytes, for which there was WEFT_ERROR_FORMAT, such as "a
 * Chrome trace, JSON: ui.perfetto.dev opens it". A string that is never freed; NULL: unknown. At
 * most the first 4,096 bytes are examined. */
const char *weft_input_recognize(const void *bytes, size_t size);

void weft_input_close(struct weft_input *input);

/* The parts of an input, valid as long as it exists. */
struct weft_source *weft_input_source(const struct weft_input *input);
struct weft_decoder *weft_input_decoder(const struct weft_input *input);

/* The second thread, to be lent to work on the model; NULL if there is none, because the trace is
 * small or there is only one processor. */
const struct weft_help *weft_input_help(const struct weft_input *input);

/* Like weft_decoder_build_model(), _summary() and _range(), with less memory: bytes of a file that
 * were decoded are released to the system. */
int weft_input_build_model(
	struct weft_input *input, const struct weft_progress *progress, struct weft_model **ret_model);
int weft_input_build_summary(
	struct weft_input *input, const struct weft_progress *progress, struct weft_model **ret_model);
int weft_input_build_range(struct weft_input *input, const struct weft_range *range,
	const struct weft_progress *progress, struct weft_model **ret_model);

#ifdef __cplusplus
}
#endif
#endif
