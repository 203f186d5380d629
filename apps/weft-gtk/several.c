/* SPDX-License-Identifier: ISC
 *
 * See several.h. Each file has a decoder, and these are merged by time. A file holds up the others
 * as long as it may still have an earlier event, which its next mark rules out. The writer of a
 * stream writes a mark every second, also while its program is idle. So a file that has not grown
 * for longer has no writer any more: it is complete, and holds up the others no longer. If it grows
 * later, because its writer was stopped or the disk was slow, all files have to be read again.
 */
#include "several.h"

#include <string.h>

#include <glib/gstdio.h>

#include "feed.h"
#include "opening.h"

#define QUIET_US 2000000
#define LOOK_US  500000 /* from one look for growth of complete files to the next */

/* Each file that grows takes a descriptor, of which a process may have 1024. */
#define FILES_MAX 512

struct part {
	struct feed feed;
	bool is_current; /* it was read to its end at some time */
	int error;       /* why it is left out */
};

struct several {
	char **paths;
	struct part *parts;
	size_t count;
	struct weft_decoder *merged;
	int64_t opened_us, looked_us, read_us; /* times, and how long it took to become current */
	bool is_current;
};

/* ---- Opening ---- */

/* The last component of a path. */
static const char *short_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static int merge(struct several *s)
{
	struct weft_decoder_part *parts = g_new0(struct weft_decoder_part, s->count);
	for (size_t i = 0; i < s->count; i++) {
		parts[i].decoder = s->parts[i].feed.decoder;
		parts[i].name = short_name(s->paths[i]);
	}
	int error = weft_decoder_create_merged(parts, s->count, &s->merged);
	g_free(parts);
	return error;
}

int several_open(char **paths, struct several **ret_several)
{
	struct several *s = g_new0(struct several, 1);
	size_t count = g_strv_length(paths);
	int error = count > FILES_MAX ? WEFT_ERROR_LIMIT : 0;
	s->paths = g_strdupv(paths);
	s->parts = g_new0(struct part, count);
	s->opened_us = s->looked_us = g_get_monotonic_time();
	while (s->count < count && !error) {
		error = feed_open(&s->parts[s->count].feed, s->paths[s->count]);
		s->count++;
	}
	if (!error)
		error = merge(s);
	if (error)
		several_close(s);
	else
		*ret_several = s;
	return error;
}

void several_close(struct several *s)
{
	if (!s)
		return;
	weft_decoder_destroy(s->merged);
	for (size_t i = 0; i < s->count; i++)
		feed_close(&s->parts[i].feed);
	g_free(s->parts);
	g_strfreev(s->paths);
	g_free(s);
}

/* ---- Reading ---- */

static bool is_complete(const struct part *p)
{
	return !p->feed.source;
}

static uint64_t mark_of(const struct part *p)
{
	return weft_decoder_mark(p->feed.decoder);
}

/* When the file was written last, on the monotonic clock. */
static int64_t written_us(const struct part *p)
{
	GStatBuf status;
	int64_t now_us = g_get_monotonic_time(), real_us = g_get_real_time();
	if (g_stat(p->feed.path, &status) != 0)
		return now_us;
	int64_t at_us = (int64_t)status.st_mtim.tv_sec * 1000000 + status.st_mtim.tv_nsec / 1000;
	return at_us < real_us ? now_us - (real_us - at_us) : now_us;
}

/* The others wait for a file no longer than it would take to read all again. */
static bool is_quiet(const struct several *s, const struct part *p)
{
	int64_t quiet_us = s->read_us > QUIET_US ? s->read_us : QUIET_US;
	return g_get_monotonic_time() - p->feed.grown_us > quiet_us;
}

/* An error leaves the file out: to the merged decoder, its events end. */
static int complete(struct part *p)
{
	p->error = feed_complete(&p->feed);
	return p->error == WEFT_ERROR_MEMORY ? p->error : WEFT_OK;
}

/* WEFT_OK if the file has grown or is complete now, WEFT_AGAIN, or an error. */
static int read_part(struct several *s, struct part *p)
{
	int status = feed_read(&p->feed, mark_of(p) == 0);
	if (status == WEFT_END)
		return WEFT_ERROR_STATE;
	if (status != WEFT_AGAIN)
		return status;
	if (!p->is_current)
		p->feed.grown_us = written_us(p);
	p->is_current = true;
	return is_quiet(s, p) ? complete(p) : WEFT_AGAIN;
}

static int read_all(struct several *s)
{
	int result = WEFT_AGAIN;
	for (size_t i = 0; i < s->count; i++) {
		int status = is_complete(&s->parts[i]) ? WEFT_AGAIN : read_part(s, &s->parts[i]);
		if (status < 0)
			return status;
		if (status == WEFT_OK)
			result = WEFT_OK;
	}
	return result;
}

/* ---- Up to the ends of all files ---- */

/* Before the decoders begin, no file has a mark: then all are read at the same pace. */
static bool is_behind(const struct part *p, const struct part *other)
{
	uint64_t mark_ns = mark_of(p), other_ns = mark_of(other);
	return mark_ns != other_ns ? mark_ns < other_ns : p->feed.size < other->feed.size;
}

/* The file that holds up the others; NULL: all are complete. */
static struct part *find_holder(const struct several *s)
{
	struct part *holder = NULL;
	for (size_t i = 0; i < s->count; i++) {
		struct part *p = &s->parts[i];
		if (!is_complete(p) && (!holder || is_behind(p, holder)))
			holder = p;
	}
	return holder;
}

static bool find_current(struct several *s)
{
	for (size_t i = 0; i < s->count && !s->is_current; i++)
		if (!is_complete(&s->parts[i]) && !s->parts[i].is_current)
			return false;
	if (!s->is_current)
		s->read_us = g_get_monotonic_time() - s->opened_us;
	return s->is_current = true;
}

/* Until all files have been read to their ends, reads only the one that holds up the others, so
 * that few events are kept in memory. If that one is at its end, so are the others, nearly. */
static int go_on(struct several *s)
{
	struct part *holder = find_current(s) ? NULL : find_holder(s);
	int status = holder ? read_part(s, holder) : WEFT_AGAIN;
	return status == WEFT_AGAIN ? read_all(s) : status;
}

/* ---- Events ---- */

int several_next(struct several *s, struct weft_event *ret_event)
{
	int status;
	while ((status = weft_decoder_next(s->merged, ret_event)) == WEFT_AGAIN) {
		status = go_on(s);
		if (status != WEFT_OK)
			break;
	}
	return status;
}

int several_look(struct several *s)
{
	GStatBuf status;
	int64_t now_us = g_get_monotonic_time();
	if (now_us - s->looked_us < LOOK_US)
		return 0;
	s->looked_us = now_us;
	for (size_t i = 0; i < s->count; i++) {
		const struct part *p = &s->parts[i];
		if (is_complete(p) && g_stat(p->feed.path, &status) == 0 &&
			(uint64_t)status.st_size != p->feed.size)
			return WEFT_ERROR_STATE;
	}
	return 0;
}

struct weft_decoder *several_decoder(const struct several *s)
{
	return s->merged;
}

int64_t several_size(const struct several *s)
{
	int64_t sum = 0;
	for (size_t i = 0; i < s->count; i++)
		sum += (int64_t)s->parts[i].feed.size + 1;
	return sum;
}

bool several_is_current(const struct several *s)
{
	return s->is_current;
}

void several_add_damage(const struct several *s, GString *lines)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct part *p = &s->parts[i];
		if (p->error)
			opening_add_left_out(lines, p->feed.path, p->error);
		else
			opening_add_damage(lines, p->feed.path, weft_decoder_diagnostics(p->feed.decoder));
	}
	opening_add_damage(lines, "", weft_decoder_diagnostics(s->merged));
}
