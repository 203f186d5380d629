/* SPDX-License-Identifier: ISC
 *
 * Writes a model as spans and metrics of OpenTelemetry: OTLP 1.x, as JSON or protobuf.
 *
 * Tasks and the spans in them become spans, edges become links, notes become events. The ids are
 * computed from the buffer's identity and the task's id, so that each export of a trace has the
 * same ones. docs/opentelemetry.md has the rules. Nothing here does I/O.
 */
#ifndef WEFT_OTLP_H
#define WEFT_OTLP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/model.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_otlp_format {
	WEFT_OTLP_JSON,     /* each message is one line */
	WEFT_OTLP_PROTOBUF, /* messages of a signal, one after the other, are one message */
	WEFT_OTLP_ZIPKIN,   /* of Zipkin, version 2: spans only, each message is a line with a list */
	WEFT_OTLP_FORMATS
};

enum weft_otlp_signal {
	WEFT_OTLP_TRACES,
	WEFT_OTLP_METRICS,
	WEFT_OTLP_SIGNALS
};

/* How spans are written that still run, as far as the trace shows. */
enum weft_otlp_pending {
	WEFT_OTLP_PENDING_NONE,     /* not at all */
	WEFT_OTLP_PENDING_OMIT_END, /* without the time of an end */
	WEFT_OTLP_PENDING_LOGFIRE,  /* a second span without a length, below the one that still runs */
	WEFT_OTLP_PENDINGS
};

/* "none" and so on; NULL for other numbers. */
const char *weft_otlp_pending_name(enum weft_otlp_pending pending);

struct weft_otlp_options {
	size_t size; /* sizeof(struct weft_otlp_options), or 0; members that an older header lacks are
					0 */
	enum weft_otlp_format format;
	enum weft_otlp_pending pending;
	bool folds;          /* only what a person would look at, not each promise */
	int64_t offset_ns;   /* add to the trace's times for ns since 1970 */
	const char *version; /* of the program that writes; NULL: none */
	/* How many tasks a stream keeps at one time, at most and by default (0) 2^20. */
	uint32_t tasks_max;
};

/* Receives the messages. */
struct weft_otlp_sink {
	/* A complete message with so many spans or data points: the request of OTLP's protocol, and a
	 * line in JSON. Returns 0, or a negative error, which ends the export. */
	int (*take)(void *context, enum weft_otlp_signal signal, const void *bytes, size_t size,
		uint32_t count);
	void *context;
};

struct weft_otlp_summary {
	uint64_t spans, events, links; /* that were written */
	uint64_t pending;              /* spans that still run and were left out */
	uint64_t dropped;              /* events and links that a span had no room for */
	uint64_t folded;               /* tasks that are in the span of another one, or in none */
};

/* Writes all spans. 0, WEFT_ERROR_MEMORY, or an error of the sink. */
int weft_otlp_write_spans(const struct weft_model *model, const struct weft_otlp_options *options,
	const struct weft_otlp_sink *sink, struct weft_otlp_summary *ret_summary);

/* ---- A program that runs ---- */

/* Writes each span when it ends, and forgets it: the memory is in proportion to the tasks that live
 * at one time. The ids are those that weft_otlp_write_spans() gives, where these do not depend on
 * what comes later. */
struct weft_otlp_stream;

/* Neither folding nor Zipkin's format: WEFT_ERROR_ARGUMENT. */
int weft_otlp_stream_create(const struct weft_otlp_options *options,
	const struct weft_otlp_sink *sink, struct weft_otlp_stream **ret_stream);
void weft_otlp_stream_destroy(struct weft_otlp_stream *stream);

/* Takes the next event of a trace in weft's format. The description is that of now. 0, or an error
 * of the sink. */
int weft_otlp_stream_add(struct weft_otlp_stream *stream, const struct weft_event *event,
	const struct weft_trace_description *trace);

/* Hands out the message that is being filled. */
int weft_otlp_stream_flush(struct weft_otlp_stream *stream);

/* The same; another stream has written what came so far. If events of that time were overwritten,
 * tasks that show no sign of life from now on are left out, because they may have ended then. */
int weft_otlp_stream_resume(struct weft_otlp_stream *stream);

/* No event will come: writes what has not ended, as the options say, and the last message. */
int weft_otlp_stream_finish(struct weft_otlp_stream *stream,
	const struct weft_trace_description *trace, struct weft_otlp_summary *ret_summary);

/* ---- Metrics ---- */

struct weft_otlp_label {
	const char *key, *value;
};

enum weft_otlp_metric_type {
	WEFT_OTLP_GAUGE,
	WEFT_OTLP_SUM,
	WEFT_OTLP_HISTOGRAM
};

/* A metric as it was at one time. */
struct weft_otlp_metric {
	uint32_t buffer;
	enum weft_otlp_metric_type type;
	bool is_monotonic;                     /* of a sum: it never falls */
	const char *name, *description, *unit; /* "": the program does not say */
	const struct weft_otlp_label *labels;
	size_t label_count;
	uint64_t start_unix_ns; /* when it began; 0: unknown */
	uint64_t time_ns;       /* on the trace's clock */
	struct weft_number value;
	/* If it is a histogram: cell i counts the values that are larger than those of the cells before
	 * it, and at most factor * 2^(first_exponent + i/8); the last one counts all others. */
	const uint64_t *cells;
	uint32_t cell_count;
	int first_exponent;
	double factor;
	double sum; /* of the values */
};

/* Writes the counters of the model, each at most once a second, and these metrics, of which those
 * of one buffer and name follow each other. As above; ret_points is the number of points. */
int weft_otlp_write_metrics(const struct weft_model *model, const struct weft_otlp_options *options,
	const struct weft_otlp_metric *metrics, size_t count, const struct weft_otlp_sink *sink,
	uint64_t *ret_points);

#ifdef __cplusplus
}
#endif
#endif
