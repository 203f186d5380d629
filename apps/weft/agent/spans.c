/* SPDX-License-Identifier: ISC
 *
 * See spans.h. The thread that looks for programs adds them at the head of the list; the one that
 * reads takes out those that have ended.
 */
#include "spans.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weft/follow.h>
#include <weft/otlp.h>

#include "agent/capture.h"
#include "agent/search.h"
#include "agent/sent.h"
#include "cli/cli.h"

#define PROGRAMS_MAX    256
#define TASKS_MAX       (1u << 17)               /* of a program, that are kept at one time */
#define SEARCH_FURTHEST 8                        /* see agent/search.h */
#define PAUSE_NS        (20 * UINT64_C(1000000)) /* between two looks at all rings */
#define FLUSH_NS        UINT64_C(1000000000)
#define LAST_TURNS      64        /* before the thread ends: programs that go on do not keep it */
#define TURN_EVENTS     (1 << 16) /* of a program, before it is the next one's turn */

struct followed {
	struct followed *next;
	struct agent_spans *spans;
	struct weft_follow *follow;
	struct weft_otlp_stream *stream;
	struct weft_otlp_sink sink; /* of the stream */
	char name[64];
	pid_t pid;
	ino_t inode;
	dev_t device;
	struct weft__agent_point read;
	struct weft__agent_point resume; /* what was sent by another agent; its ticks are 0: nothing */
	uint64_t seen, repeated;         /* events; those of them that another agent has counted */
	uint64_t counted;                /* by that agent: read or lost */
	bool is_after_kill;              /* nobody knows that number */
	bool has_ended;
};

struct agent_spans {
	bool folds; /* --spans requests */
	struct push *push;
	struct weft__agent_search search; /* of the thread that looks */
	const struct weft__agent *agent;
	bool is_full; /* it was reported */
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct followed *first;
	size_t count;
	struct weft__agent_sent sent;
	bool is_closing;
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- One program ---- */

/* Spans that were sent before are made again, because the rest needs it, and left out. */
static int take(
	void *context, enum weft_otlp_signal signal, const void *bytes, size_t size, uint32_t count)
{
	const struct followed *f = context;
	return f->resume.ticks ? 0 : push_send(f->spans->push, signal, bytes, size, count);
}

static const struct weft_trace_buffer *buffer_of(const struct followed *f)
{
	return weft_trace_buffer_at(
		weft_follow_describe(f->follow)->buffers, weft_follow_describe(f->follow)->buffer_count, 0);
}

static void note_read(struct followed *f, const struct weft_event *event)
{
	/* A switch that repeats a thread's state after a loss was not recorded. */
	if (event->type == WEFT_EVENT_SWITCH && event->is_rundown)
		return;
	f->seen++;
	if (event->ticks > f->read.ticks)
		f->read = (struct weft__agent_point){.ticks = event->ticks};
	f->read.events += event->ticks == f->read.ticks;
}

static bool is_sent(const struct followed *f)
{
	return f->read.ticks < f->resume.ticks ||
		   (f->read.ticks == f->resume.ticks && f->read.events <= f->resume.events);
}

/* All up to here was sent by another agent. */
static int resume(struct followed *f)
{
	const int error = weft_otlp_stream_resume(f->stream);
	f->resume.ticks = 0;
	return error;
}

static int add_event(struct followed *f, const struct weft_event *event)
{
	int error = 0;
	note_read(f, event);
	if (f->resume.ticks && !is_sent(f))
		error = resume(f);
	else if (f->resume.ticks)
		f->repeated = f->seen;
	return error ? error : weft_otlp_stream_add(f->stream, event, weft_follow_describe(f->follow));
}

/* WEFT_OK: there is more; WEFT_AGAIN: not now; WEFT_END; or an error. */
static int read_events(struct followed *f, unsigned most)
{
	struct weft_event event;
	int status = WEFT_OK;
	for (unsigned i = 0; i < most && status == WEFT_OK; i++) {
		status = weft_follow_next(f->follow, &event);
		if (status == WEFT_OK)
			status = add_event(f, &event);
	}
	if (status == WEFT_AGAIN && f->resume.ticks == WEFT__AGENT_SENT_UNKNOWN && resume(f))
		return WEFT_ERROR_MEMORY;
	return status;
}

/* An earlier agent may have read some that were overwritten since, or counted them as lost. */
static uint64_t count_lost(const struct followed *f, enum weft_loss cause)
{
	const uint64_t lost = weft_follow_describe(f->follow)->losses[cause];
	const uint64_t known = f->counted > f->repeated ? f->counted - f->repeated : 0;
	if (cause != WEFT_LOSS_OVERWRITTEN)
		return lost;
	return lost > known ? lost - known : 0;
}

/* The program's own counts are for the agent that sees its end. */
static void report_losses(const struct followed *f, bool is_end)
{
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++) {
		const bool is_own = cause == WEFT_LOSS_OVERWRITTEN || cause == WEFT_LOSS_STALLED;
		const uint64_t lost = count_lost(f, (enum weft_loss)cause);
		if (lost && (is_end || is_own))
			cli_inform("%s, process %d: %s%" PRIu64 " events lost (%s)", f->name, (int)f->pid,
				f->is_after_kill && cause == WEFT_LOSS_OVERWRITTEN ? "up to " : "", lost,
				weft_loss_name((enum weft_loss)cause));
	}
}

/* How far the events were read. */
static struct weft__agent_point point_of(const struct followed *f)
{
	const uint64_t *losses = weft_follow_describe(f->follow)->losses;
	struct weft__agent_point point = f->read;
	point.recorded = f->seen + losses[WEFT_LOSS_OVERWRITTEN] + losses[WEFT_LOSS_STALLED];
	return point;
}

/* Writes what had not ended when the program did. */
static void finish(struct followed *f, int status)
{
	struct weft_otlp_summary summary;
	if (f->resume.ticks && f->resume.ticks != WEFT__AGENT_SENT_UNKNOWN)
		resume(f);
	if (status == WEFT_END)
		status = weft_otlp_stream_finish(f->stream, weft_follow_describe(f->follow), &summary);
	if (status < 0)
		cli_error("%s, process %d: %s", f->name, (int)f->pid, weft_error_text(status));
	report_losses(f, true);
	f->has_ended = true;
}

static void destroy(struct followed *f)
{
	weft_otlp_stream_destroy(f->stream);
	weft_follow_close(f->follow);
	free(f);
}

/* ---- The thread that reads ---- */

static void note(struct agent_spans *s, const struct followed *f, struct weft__agent_point point)
{
	struct weft__agent_sent_ring ring = {.pid = f->pid, .point = point};
	memcpy(ring.uuid, buffer_of(f)->uuid, sizeof(ring.uuid));
	if (!weft__agent_sent_set(&s->sent, &ring))
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
}

/* Takes out and frees those that have ended. */
static void drop_ended(struct agent_spans *s)
{
	pthread_mutex_lock(&s->lock);
	for (struct followed **at = &s->first; *at;) {
		struct followed *f = *at;
		if (!f->has_ended) {
			at = &f->next;
			continue;
		}
		note(s, f, (struct weft__agent_point){.ticks = WEFT__AGENT_SENT_ALL});
		*at = f->next;
		s->count--;
		destroy(f);
	}
	pthread_mutex_unlock(&s->lock);
}

/* True if a program has more events now. */
static bool read_all(struct agent_spans *s, bool flushes)
{
	bool has_more = false;
	pthread_mutex_lock(&s->lock);
	struct followed *f = s->first;
	pthread_mutex_unlock(&s->lock);
	for (; f; f = f->next) {
		int status = read_events(f, TURN_EVENTS);
		has_more = has_more || status == WEFT_OK;
		if (flushes && (status == WEFT_OK || status == WEFT_AGAIN) &&
			weft_otlp_stream_flush(f->stream))
			status = WEFT_ERROR_MEMORY;
		if (status != WEFT_OK && status != WEFT_AGAIN)
			finish(f, status);
	}
	drop_ended(s);
	return has_more;
}

/* True: the thread ends. */
static bool pause_or_close(struct agent_spans *s)
{
	const uint64_t until_ns = now_ns() + PAUSE_NS;
	const struct timespec until = {.tv_sec = (time_t)(until_ns / UINT64_C(1000000000)),
		.tv_nsec = (long)(until_ns % UINT64_C(1000000000))};
	pthread_mutex_lock(&s->lock);
	if (!s->first && !s->is_closing)
		pthread_cond_wait(&s->changed, &s->lock);
	else if (!s->is_closing)
		pthread_cond_timedwait(&s->changed, &s->lock, &until);
	const bool is_closing = s->is_closing;
	pthread_mutex_unlock(&s->lock);
	return is_closing;
}

static void *run(void *context)
{
	struct agent_spans *s = context;
	uint64_t flushed = now_ns();
	for (bool is_closing = false; !is_closing;) {
		const bool flushes = now_ns() - flushed >= FLUSH_NS;
		if (flushes)
			flushed = now_ns();
		if (!read_all(s, flushes))
			is_closing = pause_or_close(s);
	}
	for (unsigned turn = 0; turn < LAST_TURNS && read_all(s, true); turn++)
		continue;
	return NULL;
}

/* ---- Finding programs ---- */

static bool is_known(struct agent_spans *s, const struct stat *status)
{
	for (const struct followed *f = s->first; f; f = f->next)
		if (f->inode == status->st_ino && f->device == status->st_dev)
			return true;
	return false;
}

static int make_stream(struct followed *f)
{
	f->sink = (struct weft_otlp_sink){take, f};
	const struct weft_otlp_options options = {.size = sizeof(options),
		.format = WEFT_OTLP_PROTOBUF,
		.folds = f->spans->folds,
		.version = WEFT_VERSION,
		.tasks_max = TASKS_MAX,
		.offset_ns = weft_follow_describe(f->follow)->clock.offset_ns};
	return weft_otlp_stream_create(&options, &f->sink, &f->stream);
}

/* The lock is held. */
static bool add(struct agent_spans *s, struct followed *f)
{
	const struct weft__agent_sent_ring *sent = weft__agent_sent_find(&s->sent, buffer_of(f)->uuid);
	const char *name = buffer_of(f)->process;
	if (sent && sent->point.ticks == WEFT__AGENT_SENT_ALL)
		return false;
	if (sent) {
		f->resume = sent->point;
		f->counted = sent->point.recorded;
		f->is_after_kill = sent->point.ticks == WEFT__AGENT_SENT_UNKNOWN;
	}
	snprintf(f->name, sizeof(f->name), "%s", *name ? name : "?");
	note(s, f, (struct weft__agent_point){.ticks = WEFT__AGENT_SENT_UNKNOWN});
	weft__agent_sent_write(&s->sent);
	f->next = s->first;
	s->first = f;
	s->count++;
	pthread_cond_broadcast(&s->changed);
	return true;
}

static void follow(struct agent_spans *s, pid_t pid, int fd, const struct stat *status)
{
	struct followed *f = calloc(1, sizeof(*f));
	if (!f)
		return;
	*f = (struct followed){
		.spans = s, .pid = pid, .inode = status->st_ino, .device = status->st_dev};
	bool good = !weft_follow_open_descriptor(fd, &f->follow) && !make_stream(f);
	pthread_mutex_lock(&s->lock);
	good = good && add(s, f);
	pthread_mutex_unlock(&s->lock);
	if (!good)
		destroy(f);
}

static bool has_counters(const struct weft__agent *agent, pid_t pid)
{
	const struct weft__agent_regions *regions = &agent->ledger.regions;
	for (size_t i = 0; i < regions->count; i++)
		if (regions->list[i]->pid == pid && !regions->list[i]->is_dead)
			return true;
	return false;
}

static void on_process(void *context, pid_t pid)
{
	struct agent_spans *s = context;
	struct stat status;
	int fd = !s->agent || has_counters(s->agent, pid) ? weft__agent_ring_find(pid) : -1;
	if (fd < 0)
		return;
	pthread_mutex_lock(&s->lock);
	bool is_wanted = fstat(fd, &status) == 0 && !is_known(s, &status);
	const bool is_full = s->count == PROGRAMS_MAX;
	pthread_mutex_unlock(&s->lock);
	if (is_wanted && is_full && !s->is_full) {
		cli_error("%d programs record: the spans of others are not sent", PROGRAMS_MAX);
		s->is_full = true;
	}
	if (is_wanted && !is_full)
		follow(s, pid, fd, &status);
	close(fd);
}

void agent_spans_find(struct agent_spans *s, const struct weft__agent *agent)
{
	s->agent = agent;
	weft__agent_search_run(&s->search, on_process, s);
}

/* ---- Beginning and end ---- */

static bool start_thread(struct agent_spans *s)
{
	sigset_t all, before;
	pthread_condattr_t attributes;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&s->thread, NULL, run, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		cli_error("no thread that reads: %s", strerror(error));
	return !error;
}

struct agent_spans *agent_spans_start(const struct push_options *options, bool folds)
{
	struct agent_spans *s = calloc(1, sizeof(*s));
	if (!s) {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return NULL;
	}
	s->folds = folds;
	s->search.furthest = SEARCH_FURTHEST;
	if (push_open(options, &s->push)) {
		if (weft__agent_sent_open(&s->sent, options->spool) && start_thread(s))
			return s;
		push_close(s->push);
	}
	weft__agent_sent_close(&s->sent);
	free(s);
	return NULL;
}

void agent_spans_stop(struct agent_spans *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->is_closing = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	push_hurry(s->push);
	push_close(s->push);
	while (s->first) {
		struct followed *f = s->first;
		s->first = f->next;
		note(s, f, f->resume.ticks ? f->resume : point_of(f));
		if (!f->resume.ticks)
			report_losses(f, false);
		destroy(f);
	}
	weft__agent_sent_write(&s->sent);
	weft__agent_sent_close(&s->sent);
	weft__agent_search_finish(&s->search);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
