/* SPDX-License-Identifier: ISC
 *
 * See loading.h. The thread and its creator both hold a reference; the last one to release it frees
 * the struct, so neither waits for the other.
 */
#include "loading.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include <glib.h>

#include <weft/input.h>

#include "opening.h"
#include "parts.h"

struct loading {
	char **paths; /* ends with NULL */
	pid_t pid;
	bool is_prepared; /* also make the first picture */
	bool is_followed;
	struct read_part *part; /* what is read; NULL: all */
	atomic_int holders;
	atomic_bool is_unwanted;
	atomic_bool is_read;
	_Atomic uint64_t events;
	_Atomic unsigned percent; /* progress of reading, then of laying out */
	GMutex mutex;             /* protects the members below */
	GCond ended;
	bool has_ended;
	void (*done)(struct loading *, void *);
	void *context;
	/* Owned by the thread until it has ended. */
	struct weft_model *model;
	struct weft_viewer_prepared *prepared;
	char *error, *damage, *left_out, *hosts;
	char **shown;
};

static void let_go(struct loading *loading)
{
	if (atomic_fetch_sub(&loading->holders, 1) > 1)
		return;
	weft_viewer_prepared_destroy(loading->prepared);
	weft_model_destroy(loading->model);
	g_free(loading->error);
	g_free(loading->damage);
	g_free(loading->left_out);
	g_free(loading->hosts);
	g_strfreev(loading->shown);
	g_strfreev(loading->paths);
	g_free(loading->part);
	g_mutex_clear(&loading->mutex);
	g_cond_clear(&loading->ended);
	g_free(loading);
}

struct input {
	struct loading *loading;
	struct weft_input *opened;
	struct weft_ring_check check;
	char *reason; /* of an error, if it is about one of several files; or NULL */
};

static bool is_wanted(const struct loading *loading)
{
	return !atomic_load_explicit(&loading->is_unwanted, memory_order_relaxed);
}

static void set_part(struct loading *loading, double part)
{
	atomic_store_explicit(&loading->percent, (unsigned)(part * 100), memory_order_relaxed);
}

static bool step(void *context, double part)
{
	const struct input *input = context;
	uint64_t events = weft_decoder_events(weft_input_decoder(input->opened));
	atomic_store_explicit(&input->loading->events, events, memory_order_relaxed);
	set_part(input->loading, part);
	return is_wanted(input->loading);
}

static bool lay_out_step(void *context, double part)
{
	struct loading *loading = context;
	atomic_store_explicit(&loading->is_read, true, memory_order_relaxed);
	set_part(loading, part);
	return is_wanted(loading);
}

static int make_model(struct input *input)
{
	struct loading *loading = input->loading;
	const struct weft_progress reading = {step, input, NULL};
	int error = loading->part ? parts_build(loading->part, input->opened, &reading, &loading->model)
							  : weft_input_build_model(input->opened, &reading, &loading->model);
	if (error || !loading->is_prepared)
		return error;
	struct weft_progress progress = {lay_out_step, loading, weft_input_help(input->opened)};
	error = weft_viewer_prepare(loading->model, &progress, &loading->prepared);
	if (!error)
		loading->model = NULL;
	return error;
}

static int open_one(struct input *input)
{
	struct weft_source *source;
	int error =
		opening_source(input->loading->paths[0], input->loading->pid, &source, &input->check);
	return error ? error : opening_input(source, &input->opened);
}

static int open_trace(struct input *input)
{
	char **paths = input->loading->paths;
	if (!opening_is_several(paths))
		return open_one(input);
	return opening_files(paths, &input->opened, &input->reason);
}

/* Chooses a part of a trace that is too large, unless it is known what to read. */
static void choose_part(struct loading *loading)
{
	const bool is_file = !loading->pid && !opening_is_several(loading->paths);
	if (is_file && !loading->part && !loading->is_followed)
		loading->part = parts_choose(loading->paths[0]);
}

static int read_trace(struct input *input)
{
	choose_part(input->loading);
	int error = open_trace(input);
	return error ? error : make_model(input);
}

static void describe_files(struct loading *loading, const struct weft_input *input)
{
	loading->damage = opening_all_damage(input);
	loading->left_out = opening_left_out(input);
	loading->hosts = opening_hosts(input);
	if (opening_is_several(loading->paths))
		loading->shown = opening_shown(input);
}

static char *error_sentence(const struct input *input, int error, int system_error)
{
	const char *path = input->loading->paths[0];
	if (input->reason)
		return g_strdup(input->reason);
	return g_strdup_printf("%s: %s", strcmp(path, "-") == 0 ? "standard input" : path,
		opening_reason(error, system_error, &input->check));
}

static gboolean notify(void *context)
{
	struct loading *loading = context;
	/* loading_abandon() is called only in this thread, the main loop's. */
	if (!atomic_load(&loading->is_unwanted))
		loading->done(loading, loading->context);
	let_go(loading);
	return G_SOURCE_REMOVE;
}

static void *load(void *context)
{
	struct loading *loading = context;
	struct input input = {.loading = loading};
	int error = read_trace(&input);
	if (error)
		loading->error = error_sentence(&input, error, errno);
	else
		describe_files(loading, input.opened);
	weft_input_close(input.opened);
	g_free(input.reason);
	g_mutex_lock(&loading->mutex);
	loading->has_ended = true;
	bool is_awaited = loading->done != NULL;
	g_cond_broadcast(&loading->ended);
	g_mutex_unlock(&loading->mutex);
	if (is_awaited)
		g_idle_add(notify, loading);
	else
		let_go(loading);
	return NULL;
}

struct loading *loading_start(const struct loading_request *request)
{
	struct loading *loading = g_new0(struct loading, 1);
	loading->is_prepared = request->is_prepared;
	loading->is_followed = request->is_followed;
	loading->part = g_memdup2(request->part, sizeof(*request->part));
	loading->paths = g_strdupv(request->paths);
	loading->pid = request->pid;
	atomic_init(&loading->holders, 2);
	g_mutex_init(&loading->mutex);
	g_cond_init(&loading->ended);
	g_thread_unref(g_thread_new("load", load, loading));
	return loading;
}

bool loading_wait(struct loading *loading, int64_t timeout_us)
{
	int64_t until = g_get_monotonic_time() + timeout_us;
	g_mutex_lock(&loading->mutex);
	while (!loading->has_ended && g_cond_wait_until(&loading->ended, &loading->mutex, until))
		;
	bool has_ended = loading->has_ended;
	g_mutex_unlock(&loading->mutex);
	return has_ended;
}

void loading_notify(struct loading *loading, void (*done)(struct loading *, void *), void *context)
{
	g_mutex_lock(&loading->mutex);
	loading->done = done;
	loading->context = context;
	bool has_ended = loading->has_ended;
	g_mutex_unlock(&loading->mutex);
	if (has_ended) {
		/* The thread has ended before and will not notify: we do. */
		atomic_fetch_add(&loading->holders, 1);
		g_idle_add(notify, loading);
	}
}

uint64_t loading_events(struct loading *loading)
{
	return atomic_load_explicit(&loading->events, memory_order_relaxed);
}

double loading_part(struct loading *loading, bool *ret_is_read)
{
	*ret_is_read = atomic_load_explicit(&loading->is_read, memory_order_relaxed);
	return atomic_load_explicit(&loading->percent, memory_order_relaxed) / 100.0;
}

void loading_abandon(struct loading *loading)
{
	if (!loading)
		return;
	atomic_store(&loading->is_unwanted, true);
	let_go(loading);
}

const char *loading_error(const struct loading *loading)
{
	return loading->error;
}

const char *loading_damage(const struct loading *loading)
{
	return loading->damage;
}

const char *loading_left_out(const struct loading *loading)
{
	return loading->left_out;
}

const char *loading_hosts(const struct loading *loading)
{
	return loading->hosts;
}

const struct read_part *loading_part_read(const struct loading *loading)
{
	return loading->part;
}

char **loading_take_shown(struct loading *loading)
{
	return g_steal_pointer(&loading->shown);
}

struct weft_viewer_prepared *loading_take(struct loading *loading)
{
	struct weft_viewer_prepared *prepared = loading->prepared;
	loading->prepared = NULL;
	return prepared;
}

struct weft_model *loading_take_model(struct loading *loading)
{
	struct weft_model *model = loading->model;
	loading->model = NULL;
	return model;
}
