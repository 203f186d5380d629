/* SPDX-License-Identifier: ISC
 *
 * Metrics: counters, gauges and histograms whose values are always there, also while nothing is
 * recorded. Other processes read them at any time, without disturbing the program (`weft metrics`,
 * `weft top`, `weft agent`). weft.h's counters are simpler, and each change of them is an event of
 * the trace, too; these have a type, a unit and labels, and no events.
 *
 *     WEFT_METRIC_DEFINE(acked, .name = "tcp_acked", .type = WEFT_METRIC_COUNTER, .unit = "bytes",
 *         .help = "Bytes that the peer has acknowledged");
 *
 *     weft_metric acme = weft_metric_get(&acked,
 *         (const char *const[]){"pool", "eu", "customer", "acme"}, 2);
 *     weft_metric stream = weft_metric_child_n(acme, "stream", 1234567);
 *     weft_metric_add(stream, 1460);
 *     weft_metric_end(stream);
 *
 * Labels make levels, in the order in which they are given: the total of pool "eu" contains that of
 * its customer "acme". Levels stay until the program ends. Below the last one there may be any
 * number of children, which come and go; what a child counts, its level counts as well, and keeps.
 *
 * All functions may be called on any thread, and but for the first weft_metric_get() and
 * weft_metrics_reserve() in signal handlers. None waits or fails: where there is no room for
 * another level or child, the handle is that of the level above it, so that totals stay right; of a
 * gauge's child it is 0, and such a level cannot be set. The handle 0 counts nowhere. A forked
 * child begins with zeros.
 */
#ifndef WEFT_METRICS_H
#define WEFT_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_metric_kind {
	WEFT_METRIC_COUNTER = 1, /* only grows: its rate is what matters */
	WEFT_METRIC_GAUGE = 2,   /* grows and shrinks */
	WEFT_METRIC_HISTOGRAM =
		3, /* how often there was a value of each size: 8 steps for each power of 2 */
};

struct weft_metric_type {
	const char *name;
	enum weft_metric_kind type;
	const char *unit; /* the base unit as Prometheus writes it: "seconds", "bytes"; NULL: none */
	int8_t scale;     /* values are in `unit` times 10^scale: -9 for nanoseconds */
	/* A histogram tells values from 2^first_exponent to 2^last_exponent apart. Both 0: from 2^10 to
	 * 2^40, a microsecond to 18 minutes in ns. */
	uint8_t first_exponent, last_exponent;
	bool is_billable; /* of a counter: a `weft agent` adds it up over restarts, exactly */
	const char *help; /* a sentence; NULL: none */
};

#define WEFT_METRIC_DEFINE(id, ...) static const struct weft_metric_type id = {__VA_ARGS__}

/* A metric with its labels, or a child. */
typedef uint64_t weft_metric;

/* Texts of at most so many bytes: longer names have no metric, of longer labels the end is cut. Of
 * a child's label, key and value together may have WEFT_METRIC_CHILD_MAX. */
#define WEFT_METRIC_TEXT_MAX  255
#define WEFT_METRIC_CHILD_MAX 85
/* Labels of a level; further ones are left out, as are those with a key that was there before. */
#define WEFT_METRIC_PAIRS_MAX 8

struct weft_metric_value {
	int64_t value; /* of a counter or gauge; the count of a histogram */
	uint64_t sum;  /* of a histogram's values */
};

#define WEFT_METRIC_SHARDS 16

/* A bound on a counter, for one metric. The members after `most` are the library's. */
struct weft_limit {
	weft_metric counter;
	uint64_t most;
	uint64_t next[WEFT_METRIC_SHARDS];
};

#define WEFT_LIMIT(counter, most) \
	{                             \
		counter, most,            \
		{                         \
			0                     \
		}                         \
	}

#ifndef WEFT_DISABLED

/* The metric of a type with `pairs` labels, each a key and a value: the same labels in the same
 * order give the same metric. Two types of one name must be equal, else the second has none (0).
 * Texts are copied. Costs a search: keep the handle. Room: 512 levels in all. */
weft_metric weft_metric_get(
	const struct weft_metric_type *type, const char *const *labels, unsigned pairs);

/* Makes room for so many children alive at a time, 144 bytes each, which cost no memory before they
 * are used. Call it early: it makes system calls. 0, or an error of weft/error.h. */
int weft_metrics_reserve(uint32_t children);

/* Freestanding programs: memory for the values, at least 16 KiB, aligned to 64 bytes, before the
 * first weft_metric_get(). Elsewhere the system gives the memory, and this is
 * WEFT_ERROR_UNSUPPORTED. */
int weft_metrics_use(void *memory, size_t bytes);

/* A new child of a level or of another child: a stream, a request. The second has a number as its
 * label. A histogram has no children. */
weft_metric weft_metric_child(weft_metric parent, const char *key, const char *value);
weft_metric weft_metric_child_n(weft_metric parent, const char *key, uint64_t value);

/* Ends a child; what a gauge's child had is taken from its levels. Changes after it count nowhere.
 * No effect on a level. */
void weft_metric_end(weft_metric child);

/* Adds to a counter. */
void weft_metric_add(weft_metric counter, uint64_t count);

/* Changes a gauge, or sets it. A level's gauge is the sum of what was set there and in the levels
 * below it; do not set a level that has children. If two threads set one gauge at a time, it has
 * either value, or one of both. */
void weft_metric_change(weft_metric gauge, int64_t change);
void weft_metric_set(weft_metric gauge, int64_t value);

/* Counts a value in a histogram. */
void weft_metric_record(weft_metric histogram, uint64_t value);

/* Points out that now the metric, of whatever kind, had a value, or a counter a change, that is
 * worth a look: readers show it, its time and the running task beside the metric, until there is
 * another one. Histograms keep the largest value of about the last ten seconds by themselves. Of a
 * child, it is its level's. */
void weft_metric_exemplar(weft_metric metric, uint64_t value);

/* The present value, with all levels below. False: the handle has none. */
bool weft_metric_read(weft_metric metric, struct weft_metric_value *ret_value);

/* True if the counter stays within the limit when `count` more is added, which is the caller's
 * part. Threads that ask at the same time do not see each other's count yet: together they may
 * exceed the limit, by at most what all but one of them add after an answer. */
bool weft_limit_allows(struct weft_limit *limit, uint64_t count);

/* For the adapters of programs that nobody changed. A metric is got without a system call, and its
 * values are private until they are shared, which needs weft__metrics_prepare() at the process's
 * start. A forked child shares its own. */
weft_metric weft__metric_get_private(
	const struct weft_metric_type *type, const char *const *labels, unsigned pairs);
void weft__metrics_prepare(void);
void weft__metrics_share(void);

#else

static inline weft_metric weft_metric_get(
	const struct weft_metric_type *type, const char *const *labels, unsigned pairs)
{
	(void)type, (void)labels, (void)pairs;
	return 0;
}
static inline int weft_metrics_reserve(uint32_t children)
{
	return (void)children, 0;
}
static inline int weft_metrics_use(void *memory, size_t bytes)
{
	return (void)memory, (void)bytes, 0;
}
static inline weft_metric weft_metric_child(weft_metric parent, const char *key, const char *value)
{
	return (void)parent, (void)key, (void)value, (weft_metric)0;
}
static inline weft_metric weft_metric_child_n(weft_metric parent, const char *key, uint64_t value)
{
	return (void)parent, (void)key, (void)value, (weft_metric)0;
}
static inline void weft_metric_end(weft_metric child)
{
	(void)child;
}
static inline void weft_metric_add(weft_metric counter, uint64_t count)
{
	(void)counter, (void)count;
}
static inline void weft_metric_change(weft_metric gauge, int64_t change)
{
	(void)gauge, (void)change;
}
static inline void weft_metric_set(weft_metric gauge, int64_t value)
{
	(void)gauge, (void)value;
}
static inline void weft_metric_record(weft_metric histogram, uint64_t value)
{
	(void)histogram, (void)value;
}
static inline void weft_metric_exemplar(weft_metric metric, uint64_t value)
{
	(void)metric, (void)value;
}
static inline bool weft_metric_read(weft_metric metric, struct weft_metric_value *ret_value)
{
	return (void)metric, (void)ret_value, false;
}
/* Without values there is nothing to limit. */
static inline bool weft_limit_allows(struct weft_limit *limit, uint64_t count)
{
	return (void)limit, (void)count, true;
}

#endif /* WEFT_DISABLED */

#ifdef __cplusplus
}
#endif
#endif
