/* SPDX-License-Identifier: ISC
 *
 * Trace contexts: which request, of which program, a task works for. A context is passed from
 * program to program as W3C Trace Context describes it (https://www.w3.org/TR/trace-context-2/), in
 * an HTTP header for example. With it, readers join what several programs recorded, and tasks are
 * exported under ids that other programs know.
 *
 *     struct weft_context remote, own;
 *     weft_context_parse(header, strlen(header), &remote); "00-4bf92f3577b3…-00f067aa0ba902b7-01"
 *     weft_context_start(&remote, &own);                        the current task is a span of that
 * trace
 *
 *     char header[WEFT_CONTEXT_TEXT];
 *     weft_context_print(&own, header);                         for a request to another program
 *
 * Tasks that a task with a context creates belong to it without further calls.
 *
 * All functions may be called on any thread, also in signal handlers. None blocks, allocates, locks
 * or sets errno. While nothing is recorded, a new context is its parent, so that a program passes
 * on what it received.
 */
#ifndef WEFT_CONTEXT_H
#define WEFT_CONTEXT_H

#include <weft/weft.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_context_flag {
	WEFT_CONTEXT_SAMPLED = 1, /* the trace's first program wants it to be kept */
	WEFT_CONTEXT_RANDOM = 2,  /* at least the last 7 bytes of the trace id are random */
};

struct weft_context {
	uint64_t trace_high, trace_low; /* the trace id, of which the first byte is the highest one of
									   trace_high; both 0: no context */
	uint64_t span;                  /* the span id; 0: no context */
	/* The header `tracestate` as it was received, of which up to 512 bytes are recorded. The
	 * program's memory, and for the program to pass on. */
	const char *state;
	uint32_t state_size;
	uint8_t flags; /* enum weft_context_flag, and others as they were received */
	uint8_t reserved[3];
};

/* Bytes of a `traceparent` with its NUL, and of "TRACEPARENT=" and one. */
#define WEFT_CONTEXT_TEXT     56
#define WEFT_CONTEXT_VARIABLE 68

/* Names and values that go with a trace from program to program, in the header `baggage`
 * (https://www.w3.org/TR/baggage/), of which a program passes on what it received. */
struct weft_baggage_member {
	const char *key, *value; /* in the header; the value as it stands there, percent-encoded */
	uint32_t key_size, value_size;
};

/* As many bytes of it are read and recorded; W3C's limit. */
#define WEFT_BAGGAGE_BYTES 8192

#ifndef WEFT_DISABLED

/* Reads a `traceparent` of `size` bytes. False, and no context, if it is not valid. Spaces and tabs
 * around it are allowed, as is what later versions of the format add at its end. */
bool weft_context_parse(const char *text, size_t size, struct weft_context *ret_context);

/* The context in the environment variable TRACEPARENT, which programs that start others set. False,
 * and no context, if there is none. */
bool weft_context_from_environment(struct weft_context *ret_context);

/* Writes a `traceparent` with its NUL. Returns its length; 0 without a context. */
size_t weft_context_print(const struct weft_context *context, char ret_text[WEFT_CONTEXT_TEXT]);

/* Writes "TRACEPARENT=" and that, for the environment of a program that is to be started. */
size_t weft_context_print_variable(
	const struct weft_context *context, char ret_text[WEFT_CONTEXT_VARIABLE]);

/* The next member of a header `baggage` of `size` bytes. *at is 0 at first. What is no valid member
 * is left out. False after the last one. */
bool weft_baggage_next(
	const char *text, size_t size, size_t *at, struct weft_baggage_member *ret_member);

/* How many of the bytes are to be passed on where there is room for so many: the whole header, or
 * its first members, as many as fit there and into WEFT_BAGGAGE_BYTES. */
size_t weft_baggage_size(const char *text, size_t size, size_t room);

/* Records the header as a mark `baggage` of the current task, at level debug; of a long one, the
 * beginning. */
#define weft_baggage_record(text, size) \
	weft_ffi_baggage_record(&WEFT__OWN_CATEGORY, WEFT__LEVEL_OR(WEFT_LEVEL_DEBUG), text, size)

/* The task is a span of the trace of `parent`, or, without a context or with NULL, of a new trace.
 * Records that, and sets the new context for the task. `ret_context` may be NULL. */
#define weft_context_start(parent, ret_context) \
	weft_context_start_as(WEFT_TASK_CURRENT, parent, ret_context)
#define weft_context_start_as(task, parent, ret_context) \
	weft_ffi_context_start(                              \
		&WEFT__OWN_CATEGORY, WEFT__LEVEL_OR(WEFT_LEVEL_INFO), task, parent, ret_context)

/* A part of the current task is a span: weft_begin(name) with a context, which is set.
 * weft_context_end is weft_end, and sets the context that was current before. */
#define weft_context_begin(name, parent, ret_context)                                          \
	do {                                                                                       \
		static uint64_t weft__cache;                                                           \
		weft__context_begin(WEFT__IS_ON(BEGIN), WEFT__CACHE(name), name, parent, ret_context); \
	} while (0)
#define weft_context_end(outer) weft__context_end(WEFT__IS_ON(END), outer)

/* The thread's current task works for this context from now on; NULL: for none. Without a current
 * task, or while nothing is recorded, the thread does. */
void weft_context_set(const struct weft_context *context);

/* The context for which the thread's current task, or the thread without one, works; without the
 * state. False, and no context, if none was set, and if since then one was set for more than some
 * 1,000 other tasks. */
bool weft_context_current(struct weft_context *ret_context);

/* Lets readers of OpenTelemetry, such as eBPF profilers, see from outside which trace and span each
 * thread works for: by the mapping OTEL_CTX (OTEP 4719) and the thread-local otel_thread_ctx_v1
 * (OTEP 4947). False if that fails, or if another library does so already. It makes system calls. A
 * forked child does not publish; call it there, too. `service`: the name of the service, up to 255
 * bytes. */
bool weft_context_publish(const char *service);

/* Three random numbers from which all later ids are made: in a freestanding program before the
 * first id, because ids are made from the clock otherwise, and not called random; elsewhere after a
 * restore from an image from which other copies of the process may go on. */
void weft_context_seed(const uint64_t seeds[3]);

/* The same for other languages; the parameters that all these calls have are in weft_ffi.h. */
void weft_ffi_context_start(struct weft_category *category, unsigned level, uint64_t task,
	const struct weft_context *parent, struct weft_context *ret_context);
void weft_ffi_baggage_record(
	struct weft_category *category, unsigned level, const char *text, size_t size);
/* The macros call these. */
void weft__context_begin(bool is_on, uint64_t *cache, const char *name,
	const struct weft_context *parent, struct weft_context *ret_context) WEFT__DIRECT;
void weft__context_end(bool is_on, const struct weft_context *outer) WEFT__DIRECT;
/* For the span that the current task began last. */
void weft_ffi_context_begin(struct weft_category *category, unsigned level,
	const struct weft_context *parent, struct weft_context *ret_context);

#else

static inline void weft__context_none(struct weft_context *ret_context)
{
	static struct weft_context none; /* not const, for C++ */
	if (ret_context)
		*ret_context = none;
}
static inline bool weft_context_parse(
	const char *text, size_t size, struct weft_context *ret_context)
{
	(void)text;
	(void)size;
	weft__context_none(ret_context);
	return false;
}
static inline bool weft_context_from_environment(struct weft_context *ret_context)
{
	weft__context_none(ret_context);
	return false;
}
static inline size_t weft_context_print(
	const struct weft_context *context, char ret_text[WEFT_CONTEXT_TEXT])
{
	(void)context;
	ret_text[0] = 0;
	return 0;
}
static inline size_t weft_context_print_variable(
	const struct weft_context *context, char ret_text[WEFT_CONTEXT_VARIABLE])
{
	(void)context;
	ret_text[0] = 0;
	return 0;
}
static inline bool weft_baggage_next(
	const char *text, size_t size, size_t *at, struct weft_baggage_member *ret_member)
{
	static struct weft_baggage_member none; /* not const, for C++ */
	(void)text;
	(void)size;
	(void)at;
	*ret_member = none;
	return false;
}
static inline size_t weft_baggage_size(const char *text, size_t size, size_t room)
{
	(void)text;
	return size <= room && size <= WEFT_BAGGAGE_BYTES ? size : 0; /* no part of a member */
}
static inline void weft_context_set(const struct weft_context *context)
{
	(void)context;
}
static inline bool weft_context_publish(const char *service)
{
	(void)service;
	return false;
}
static inline bool weft_context_current(struct weft_context *ret_context)
{
	weft__context_none(ret_context);
	return false;
}
#define weft_context_seed(seeds)        WEFT__UNUSED(seeds)
#define weft_baggage_record(text, size) WEFT__UNUSED(text, size)
#define weft_context_start(parent, ret_context) \
	(WEFT__UNUSED(parent), weft__context_none(ret_context))
#define weft_context_start_as(task, parent, ret_context) \
	(WEFT__UNUSED(task, parent), weft__context_none(ret_context))
#define weft_context_begin(name, parent, ret_context) \
	(WEFT__UNUSED(name, parent), weft__context_none(ret_context))
#define weft_context_end(outer) WEFT__UNUSED(outer)

#endif /* WEFT_DISABLED */

#ifdef __cplusplus
}
#endif

#endif
