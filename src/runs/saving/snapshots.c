/* SPDX-License-Identifier: ISC
 *
 * While the program runs, the rings of its processes are looked at every 20 ms for requests, for
 * events that fire a rule, and for processes that have ended, whose rings may be saved at once.
 *
 * A program may request snapshots in a loop. So each process gets at most one a second, and a run a
 * limited number. While requests would be skipped, the watcher does not listen, so that no program
 * holds its past for them.
 */
#include "runs/saving/snapshots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weft/source.h>
#include <weft/text.h>
#include <weft/watch.h>

#include "runs/directory/rings.h"
#include "runs/message.h"
#include "runs/saving/early.h"
#include "runs/saving/name.h"
#include "runs/saving/samples.h"
#include "runs/saving/save.h"
#include "runs/saving/values.h"

static const uint64_t SECOND_NS = 1000000000;
/* The run directory is read at most this often, and takes at most 1/20 of a processor's time. */
static const uint64_t SCAN_NS = 100000000;
static const uint64_t SCAN_SHARE = 20;

/* Bounds the mappings: one for each ring. */
static const size_t WATCHED_MAX = 256;

struct watched {
	struct weft__runs_ring ring;
	struct weft_watch *watch;
	struct weft__runs_values values;
	struct weft_follow *follow; /* NULL without rules */
	struct weft_triggers *triggers;
	uint32_t rules; /* number of the program's own rules that were added */
	uint64_t quiet_until_ns;
	unsigned number; /* number in the name of the last snapshot's file */
	bool has_left;   /* the process has ended, and nothing is added to its ring any more */
};

struct weft__runs_snapshots {
	const struct weft__runs_snapshot_options *options;
	struct watched *list;
	size_t count;
	uint64_t scan_ns; /* when to read the directory again */
	unsigned taken;
	uint64_t passed_over;
};

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

/* The processor's time that this thread has used: on a busy machine reading takes longer, which is
 * no reason to find rings later. */
static uint64_t used_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* Events tested at once. Signals are not passed on meanwhile. */
static const unsigned EVENTS_AT_ONCE = 100000;

static void close_watched(struct watched *w)
{
	weft_follow_close(w->follow);
	weft_triggers_destroy(w->triggers);
	weft_watch_close(w->watch);
	weft__runs_values_close(&w->values);
}

/* ---- Rules ---- */

static void ring_path(const struct weft__runs_snapshots *s, const struct weft__runs_ring *ring,
	char *path, size_t size)
{
	snprintf(path, size, "%s%s", s->options->directory, ring->name);
}

/* Follows the ring's events from its first rule on. */
static bool follow_it(struct weft__runs_snapshots *s, struct watched *w)
{
	char path[PATH_MAX + NAME_MAX + 1];
	if (w->follow)
		return true;
	ring_path(s, &w->ring, path, sizeof(path));
	if (!w->triggers && weft_triggers_create(&w->triggers))
		return false;
	struct weft_ring_check check;
	int fd = weft_source_open_ring(path, w->ring.pid, WEFT_RING_WRITE, &check);
	if (fd < 0)
		return false;
	int error = weft_follow_open_descriptor(fd, &w->follow);
	close(fd);
	return error == 0;
}

int weft__runs_follow_rules(
	struct weft_triggers *triggers, struct weft_follow *follow, unsigned most)
{
	struct weft_event event;
	int status = WEFT_OK;
	while (most-- && (status = weft_follow_next(follow, &event)) == WEFT_OK) {
		int error = weft_triggers_take(triggers, &event);
		if (error)
			return error;
	}
	/* Before the low-water mark no event can come any more. */
	if (status == WEFT_AGAIN && weft_follow_mark(follow) != UINT64_MAX)
		weft_triggers_pass(triggers, weft_follow_mark(follow));
	return status;
}

static void report_rule(
	const struct watched *w, struct weft_slice rule, size_t at, const char *what)
{
	struct weft_text text = {0};
	weft_text_add_quoted(&text, rule.bytes, rule.size);
	weft__runs_report("process %d: weft_trigger: %s; at character %zu of %.*s", (int)w->ring.pid,
		what, at + 1, (int)text.size, text.size ? text.bytes : "");
	weft_text_finish(&text);
}

static void add_rule(const struct watched *w, struct weft_slice rule)
{
	struct weft_trigger_error wrong;
	char copy[WEFT_TRIGGER_RULE_MAX_BYTES]; /* the program may change the text meanwhile */
	size_t size = rule.size < sizeof(copy) ? rule.size : sizeof(copy);
	memcpy(copy, rule.bytes, size);
	if (weft_triggers_add(w->triggers, copy, size, &wrong) == WEFT_ERROR_ARGUMENT)
		report_rule(w, (struct weft_slice){copy, size}, wrong.offset, wrong.message);
}

static void take_rules(struct weft__runs_snapshots *s, struct watched *w)
{
	struct weft_slice rule;
	if (s->options->rule_count && !w->follow && follow_it(s, w))
		for (unsigned i = 0; i < s->options->rule_count; i++)
			add_rule(w, (struct weft_slice){s->options->rules[i], strlen(s->options->rules[i])});
	for (; weft_watch_rule(w->watch, w->rules, &rule) && follow_it(s, w); w->rules++)
		add_rule(w, rule);
}

/* Tests the rules: how often they have fired, and the first that did. */
static uint64_t test_rules(
	struct weft__runs_snapshots *s, struct watched *w, struct weft_slice *ret_rule)
{
	take_rules(s, w);
	if (!w->follow)
		return 0;
	weft__runs_follow_rules(w->triggers, w->follow, EVENTS_AT_ONCE);
	return weft_triggers_fired(w->triggers, ret_rule);
}

/* ---- Samples ---- */

static void describe_samples(
	const struct weft__runs_snapshots *s, const struct watched *w, bool is_growing)
{
	struct weft_buffer_sampling sampling;
	if (!s->options->sampler)
		return;
	sampling = s->options->sampler->sampling;
	sampling.is_growing = is_growing && !sampling.denied;
	weft_watch_add_samples(w->watch, &sampling);
}

/* A process that has become another program by exec has several rings, the last one in the end.
 * What was before a ring belongs to the one before. */
bool weft__runs_snapshots_add_samples(
	struct weft__runs_snapshots *s, pid_t process, const struct weft_buffer_sampling *samples)
{
	struct weft_buffer_sampling left = *samples;
	bool is_found = false;
	for (size_t i = s->count; i > 0; i--) {
		const struct watched *w = &s->list[i - 1];
		if (w->ring.pid != process)
			continue;
		left.count = weft_watch_add_samples(w->watch, &left);
		is_found = true;
	}
	return is_found;
}

static bool add_samples(struct weft__runs_snapshots *s, const struct watched *w, bool has_ended)
{
	const struct weft__runs_sampler *sampler = s->options->sampler;
	return !sampler || !sampler->add || sampler->add(sampler->context, s, w->ring.pid, has_ended);
}

static bool awaits_samples(struct weft__runs_snapshots *s, const struct watched *w)
{
	const struct weft__runs_sampler *sampler = s->options->sampler;
	return sampler && sampler->awaits_ends && !add_samples(s, w, true);
}

/* ---- Snapshots ---- */

/* FILE.snapshot-N.weft */
static char *name_snapshot(const char *file, unsigned number)
{
	char *name = NULL;
	const char *slash = strrchr(file, '/');
	const char *suffix = strrchr(slash ? slash : file, '.');
	if (!suffix || suffix == file || suffix[-1] == '/')
		suffix = file + strlen(file);
	int length = asprintf(&name, "%.*s.snapshot-%u%s", (int)(suffix - file), file, number, suffix);
	return length < 0 ? NULL : name;
}

static void report_reason(const char *file, struct weft_slice reason)
{
	struct weft_text text = {0};
	char copy[1024]; /* the program may change the text meanwhile */
	size_t size = reason.size < sizeof(copy) ? reason.size : sizeof(copy);
	if (size) {
		memcpy(copy, reason.bytes, size);
		weft_text_add_quoted(&text, copy, size);
	}
	weft__runs_report("snapshot %s%s%.*s", weft__runs_shown(file), text.size ? ": " : "",
		(int)text.size, text.size ? text.bytes : "");
	weft_text_finish(&text);
}

/* The next free name beside the trace. The caller frees it. */
static char *choose_file(const struct weft__runs_snapshots *s, struct watched *w)
{
	bool is_programs = w->ring.pid == s->options->program;
	char *trace = weft__runs_name_file(s->options->output, &w->ring, is_programs), *file = NULL;
	do {
		free(file);
		file = trace ? name_snapshot(trace, ++w->number) : NULL;
	} while (file && access(file, F_OK) == 0);
	free(trace);
	return file;
}

/* The snapshot says which rule took it. One without is still worth having. */
static void add_alert(
	const struct watched *w, const struct weft_trace_alert *alert, void **bytes, size_t *size)
{
	int error = weft_watch_add_alert(bytes, size, alert);
	if (error)
		weft__runs_report("the next snapshot of process %d does not say which rule fired: %s",
			(int)w->ring.pid, weft_error_text(error));
}

static void save(struct weft__runs_snapshots *s, struct watched *w, void *bytes, size_t size,
	struct weft_slice reason)
{
	char *file = choose_file(s, w);
	if (file && weft__runs_save_copy(bytes, size, w->values.metrics, file))
		report_reason(file, reason);
	free(file);
}

static bool is_quiet(const struct weft__runs_snapshots *s, const struct watched *w)
{
	return s->taken >= s->options->limit || now_ns() < w->quiet_until_ns;
}

/* Takes one snapshot for all requests until it is complete and for the `fired` rules, of which the
 * first gave the alert. */
static void take_snapshot(struct weft__runs_snapshots *s, struct watched *w,
	struct weft_slice reason, uint64_t fired, const struct weft_trace_alert *alert)
{
	void *bytes;
	size_t size;
	add_samples(s, w, false);
	int error = weft_watch_copy(w->watch, &bytes, &size);
	weft_watch_listen(w->watch, 0);
	s->passed_over += weft_watch_answer(w->watch) + fired;
	/* A failure counts as a snapshot, otherwise a damaged ring would cause a message at each
	 * look. */
	s->taken++;
	s->passed_over--;
	w->quiet_until_ns = now_ns() + SECOND_NS;
	if (error) {
		weft__runs_report(
			"no snapshot of process %d: %s", (int)w->ring.pid, weft_error_text(error));
		return;
	}
	if (fired)
		add_alert(w, alert, &bytes, &size);
	save(s, w, bytes, size, reason);
	weft_watch_free(bytes, size);
}

static void look_at_watched(struct weft__runs_snapshots *s, struct watched *w)
{
	struct weft_slice reason, rule;
	weft_watch_note_end(w->watch, 0);
	if (!s->options->limit)
		return;
	uint32_t requests = weft_watch_requests(w->watch, &reason);
	uint64_t fired = test_rules(s, w, &rule);
	if (fired && !requests && !is_quiet(s, w))
		weft_watch_hold(w->watch, WEFT_WATCH_HOLD_MAX_NS); /* until take() answers */
	if (is_quiet(s, w)) {
		s->passed_over += fired;
		if (requests)
			s->passed_over += weft_watch_answer(w->watch);
		return;
	}
	if (requests || fired)
		take_snapshot(
			s, w, requests ? reason : rule, fired, fired ? weft_triggers_alert(w->triggers) : NULL);
	else
		weft_watch_listen(w->watch, 2 * SECOND_NS);
}

const struct weft__runs_ring *weft__runs_snapshots_ring(
	const struct weft__runs_snapshots *s, size_t number)
{
	return number < s->count ? &s->list[number].ring : NULL;
}

bool weft__runs_snapshots_is_quiet(const struct weft__runs_snapshots *s)
{
	for (size_t i = 0; i < s->count && s->taken < s->options->limit; i++)
		if (is_quiet(s, &s->list[i]))
			return true;
	return false;
}

/* A process that has become another program by exec has several rings: the last one is that into
 * which it records. */
void weft__runs_snapshots_take(
	struct weft__runs_snapshots *s, pid_t pid, const struct weft_trace_alert *alert)
{
	const struct weft_slice rule = {alert->rule, strlen(alert->rule)};
	struct watched *w = NULL;
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].ring.pid == pid)
			w = &s->list[i];
	if (!w || is_quiet(s, w))
		s->passed_over++;
	else
		take_snapshot(s, w, rule, 1, alert);
}

/* ---- Metrics ---- */

/* Into the ring, from which it is saved. */
static void add_values(const struct weft__runs_snapshots *s, const struct watched *w)
{
	char path[PATH_MAX + NAME_MAX + 1];
	ring_path(s, &w->ring, path, sizeof(path));
	if (!weft__runs_ring_is_running(s->options->directory, &w->ring))
		weft__runs_values_add(path, &w->ring, &w->values);
}

/* The process has ended; a request that it made at its end is still answered. */
static void look_last(struct weft__runs_snapshots *s, struct watched *w)
{
	look_at_watched(s, w);
	describe_samples(s, w, false);
	add_values(s, w);
	close_watched(w);
}

/* ---- Finding rings ---- */

static bool is_known(const struct weft__runs_snapshots *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->list[i].ring.name, name) == 0)
			return true;
	return false;
}

/* A ring that is still being made is found again by the next scan. */
static void add_watched(struct weft__runs_snapshots *s, const struct weft__runs_ring *ring)
{
	char path[PATH_MAX + NAME_MAX + 1];
	struct weft_ring_check check;
	struct weft_watch *watch;
	ring_path(s, ring, path, sizeof(path));
	struct watched *list = realloc(s->list, (s->count + 1) * sizeof(*list));
	if (!list)
		return;
	s->list = list;
	int fd = weft_source_open_ring(path, ring->pid, WEFT_RING_WRITE, &check);
	if (fd < 0)
		return;
	const bool is_made =
		!s->options->sampler || weft__runs_samples_make_room(fd, &s->options->sampler->sampling);
	if (is_made && weft_watch_open_descriptor(fd, &watch) == 0) {
		list[s->count] =
			(struct watched){.ring = *ring, .watch = watch, .values = WEFT__RUNS_NO_VALUES};
		describe_samples(s, &list[s->count++], true);
	}
	close(fd);
}

static bool has_left(
	struct weft__runs_snapshots *s, const struct watched *w, const struct weft__runs_rings *rings)
{
	for (size_t i = 0; i < rings->count; i++)
		if (rings->list[i].is_running && strcmp(rings->list[i].name, w->ring.name) == 0)
			return false;
	return !awaits_samples(s, w);
}

/* Samples are added to any ring of the list, which is therefore not changed before. */
static void forget_ended(struct weft__runs_snapshots *s, const struct weft__runs_rings *rings)
{
	size_t kept = 0;
	for (size_t i = 0; i < s->count; i++)
		s->list[i].has_left = has_left(s, &s->list[i], rings);
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].has_left)
			look_last(s, &s->list[i]);
		else
			s->list[kept++] = s->list[i];
	s->count = kept;
}

/* Returns the processor's time at which scanning ended: saving does not count. */
static uint64_t scan_now(struct weft__runs_snapshots *s, bool *ret_more)
{
	struct weft__runs_rings rings;
	*ret_more = false;
	if (weft__runs_rings_find(s->options->directory, s->options->program, &rings)) {
		forget_ended(s, &rings);
		for (size_t i = 0; i < rings.count && s->count < WATCHED_MAX; i++) {
			const struct weft__runs_ring *ring = &rings.list[i];
			if (!ring->is_failure && ring->is_running && !is_known(s, ring->name))
				add_watched(s, ring);
		}
		for (size_t i = 0; i < s->count; i++)
			weft__runs_values_follow(&s->list[i].values, s->options->directory, &s->list[i].ring);
		uint64_t end = used_ns();
		if (s->options->early)
			*ret_more = weft__runs_early_save(s->options->early, &rings);
		weft__runs_rings_finish(&rings);
		return end;
	}
	return used_ns();
}

static void scan(struct weft__runs_snapshots *s)
{
	bool has_more;
	uint64_t start = used_ns(), end = scan_now(s, &has_more);
	uint64_t pause = (end - start) * SCAN_SHARE;
	s->scan_ns = now_ns() + (has_more ? 0 : pause > SCAN_NS ? pause : SCAN_NS);
}

/* ---- While the program runs ---- */

struct weft__runs_snapshots *weft__runs_snapshots_create(
	const struct weft__runs_snapshot_options *options)
{
	struct weft__runs_snapshots *s = calloc(1, sizeof(*s));
	if (s)
		s->options = options;
	return s;
}

void weft__runs_snapshots_look(struct weft__runs_snapshots *s)
{
	if (now_ns() >= s->scan_ns)
		scan(s);
	for (size_t i = 0; i < s->count; i++)
		look_at_watched(s, &s->list[i]);
	if (s->options->looks)
		s->options->looks(s->options->context, s);
}

void weft__runs_snapshots_destroy(struct weft__runs_snapshots *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		look_last(s, &s->list[i]);
	if (s->passed_over)
		weft__runs_report(
			"%llu more request%s for a snapshot: at most one a second is answered, and %u in all",
			(unsigned long long)s->passed_over, s->passed_over == 1 ? "" : "s", s->options->limit);
	free(s->list);
	free(s);
}
