/* SPDX-License-Identifier: ISC
 *
 * A profile: lists of calls, each with a weight, such as the time that was spent there, and the
 * number of times. They are added one after the other, from whatever source, and are then drawn as
 * a flame graph, or written for other programs.
 *
 * A profile belongs to one thread at a time. Nothing here does I/O.
 */
#ifndef WEFT_PROFILE_H
#define WEFT_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include <weft/canvas.h>
#include <weft/event.h>
#include <weft/stats.h>
#include <weft/text.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_profile;

struct weft_profile_options {
	size_t size; /* sizeof(struct weft_profile_options), or 0; members that an older header lacks
					are 0 */
	const char *counted;  /* a plural in "s": "waits" */
	const char *weighed;  /* what the weights, which are ns, are times of: "waiting" */
	uint64_t duration_ns; /* that the profile covers */
};

int weft_profile_create(
	const struct weft_profile_options *options, struct weft_profile **ret_profile);
void weft_profile_destroy(struct weft_profile *profile);

/* Adds calls, the innermost first, as the event `stack` has them: "say_hello (hello.c:12) ← main
 * (hello.c:20)". `leaf` is below the innermost one, as "[lock]"; "": nothing is. 0,
 * WEFT_ERROR_MEMORY or WEFT_ERROR_LIMIT. */
int weft_profile_add(struct weft_profile *profile, struct weft_slice calls, struct weft_slice leaf,
	uint64_t weight_ns, uint64_t count);

/* The sums. */
uint64_t weft_profile_weight(const struct weft_profile *profile);
uint64_t weft_profile_count(const struct weft_profile *profile);

/* Where threads waited: the rows of statistics by stack, with the kind of what was waited for below
 * the calls. The profile borrows nothing. 0 or WEFT_ERROR_MEMORY. */
int weft_profile_create_waits(const struct weft_stats *stats, struct weft_profile **ret_profile);

/* The same of what they ran: the samples of a model, in the range of the options and without their
 * hidden tasks. 0 or WEFT_ERROR_MEMORY. */
int weft_profile_create_samples(const struct weft_model *model,
	const struct weft_stats_options *range, struct weft_profile **ret_profile);

/* Writes a sentence about a profile of waits or samples: "Where threads waited: 702 ms in 454
 * waits, within 168 ms from 1 s". `from_ns` is the begin of its range, from the begin of the trace
 * on. At most `size` bytes with the NUL; returns the length without it. */
size_t weft_profile_describe(
	const struct weft_profile *profile, uint64_t from_ns, char *buffer, size_t size);

/* Compares a profile with another one, perhaps of an earlier trace, which may be destroyed then:
 * pictures show what grew and what shrank, and collapsed stacks have two numbers. In pictures its
 * times are scaled to this profile's duration, if both durations are known. Once for each profile.
 * 0, WEFT_ERROR_MEMORY or WEFT_ERROR_LIMIT. */
int weft_profile_compare(struct weft_profile *profile, const struct weft_profile *before);

/* Appends collapsed stacks, as tools for flame graphs read them: a line for each list of functions,
 * "main;say_hello;[lock] 1200", the outermost first, with its weight; in a comparison with the one
 * before, not scaled, and its own. 0 or WEFT_ERROR_MEMORY. */
int weft_profile_write_collapsed(const struct weft_profile *profile, struct weft_text *text);

/* Appends pprof's profile.proto, without its compression by gzip. 0 or WEFT_ERROR_MEMORY. */
int weft_profile_write_pprof(const struct weft_profile *profile, struct weft_text *text);

struct weft_profile_picture {
	size_t size;  /* sizeof(struct weft_profile_picture), or 0; members that an older header lacks
					 are 0 */
	double width; /* logical pixels */
	const char *title;            /* the heading; may be NULL */
	const char *detail;           /* the line below it; may be NULL */
	const struct weft_font *font; /* NULL: weft_font_builtin */
};

/* Draws functions as boxes, the outermost at the top, each as wide as its share of the weight, over
 * those that it called. The height of the canvas is set to what they need. 0 or WEFT_ERROR_MEMORY.
 */
int weft_profile_draw(const struct weft_profile *profile,
	const struct weft_profile_picture *picture, struct weft_canvas *canvas);

#ifdef __cplusplus
}
#endif
#endif
