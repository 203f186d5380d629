/* SPDX-License-Identifier: ISC
 *
 * A program on GLib that knows nothing of weft. Prints what it sees, so that runs with and without
 * the adapter can be compared.
 */
#include <gio/gio.h>
#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "asleep.h"

static GMainLoop *loop;
static int left;

static void done(void)
{
	if (--left == 0)
		g_main_loop_quit(loop);
}

static gboolean on_timeout(gpointer data)
{
	static int count;
	(void)data;
	printf("timeout %d\n", ++count);
	if (count < 3)
		return G_SOURCE_CONTINUE;
	done();
	return G_SOURCE_REMOVE;
}

static gboolean never(gpointer data)
{
	(void)data;
	printf("never\n");
	return G_SOURCE_REMOVE;
}

static gboolean on_idle(gpointer data)
{
	printf("idle\n");
	g_source_remove(GPOINTER_TO_UINT(data));
	done();
	return G_SOURCE_REMOVE;
}

static gboolean on_descriptor(gint fd, GIOCondition condition, gpointer data)
{
	char byte = 0;
	(void)data;
	printf("descriptor %d %d\n", (int)read(fd, &byte, 1), condition == G_IO_IN);
	done();
	return G_SOURCE_REMOVE;
}

static gboolean on_signal(gpointer data)
{
	printf("signal\n");
	if (write(GPOINTER_TO_INT(data), "x", 1) != 1)
		abort();
	done();
	return G_SOURCE_REMOVE;
}

static void on_child(GPid pid, gint status, gpointer data)
{
	(void)pid;
	(void)data;
	printf("child %d\n", g_spawn_check_wait_status(status, NULL));
	raise(SIGUSR1);
	done();
}

/* ---- A type of source of its own ---- */

static gboolean prepare_own(GSource *source, gint *ret_ms)
{
	(void)source;
	*ret_ms = 0;
	return TRUE;
}

static gboolean dispatch_own(GSource *source, GSourceFunc callback, gpointer data)
{
	(void)source;
	return callback(data);
}

static void finalize_own(GSource *source)
{
	(void)source;
	printf("finalized\n");
}

static GSourceFuncs own_functions = {prepare_own, NULL, dispatch_own, finalize_own, NULL, NULL};
static const GSourceFuncs constant_functions = {prepare_own, NULL, dispatch_own, NULL, NULL, NULL};

static gboolean on_own(gpointer data)
{
	printf("own %s\n", (const char *)data);
	done();
	return G_SOURCE_REMOVE;
}

static void attach(const GSourceFuncs *functions, const char *name)
{
	GSource *source = g_source_new((GSourceFuncs *)functions, sizeof(GSource));
	g_source_set_callback(source, on_own, (gpointer)name, NULL);
	g_source_attach(source, NULL);
	g_source_unref(source);
}

/* ---- Tasks ---- */

static void compute(GTask *task, gpointer object, gpointer data, GCancellable *cancellable)
{
	(void)object;
	(void)cancellable;
	g_usleep(5000);
	if (data)
		g_task_return_new_error(task, G_IO_ERROR, G_IO_ERROR_FAILED, "no luck with %d", 7);
	else
		g_task_return_int(task, 42);
}

static void on_computed(GObject *object, GAsyncResult *result, gpointer data)
{
	GError *error = NULL;
	(void)object;
	(void)data;
	gssize value = g_task_propagate_int(G_TASK(result), &error);
	printf("computed %d %s\n", (int)value, error ? error->message : "");
	g_clear_error(&error);
	done();
}

static void begin_task(gpointer data)
{
	GTask *task = g_task_new(NULL, NULL, on_computed, NULL);
	g_task_set_task_data(task, data, NULL);
	g_task_run_in_thread(task, compute);
	g_object_unref(task);
}

static void compute_value(GTask *task, gpointer object, gpointer data, GCancellable *cancellable)
{
	GValue value = G_VALUE_INIT;
	(void)object;
	(void)data;
	(void)cancellable;
	if (g_task_return_error_if_cancelled(task))
		return;
	g_value_init(&value, G_TYPE_INT);
	g_value_set_int(&value, 9);
	g_task_return_value(task, &value);
}

static void on_value(GObject *object, GAsyncResult *result, gpointer data)
{
	GError *error = NULL;
	GValue value = G_VALUE_INIT;
	(void)object;
	(void)data;
	if (g_task_propagate_value(G_TASK(result), &value, &error))
		printf("value %d\n", g_value_get_int(&value));
	else
		printf("no value: %d\n", error->code == G_IO_ERROR_CANCELLED);
	g_clear_error(&error);
	done();
}

static void begin_values(void)
{
	GCancellable *cancellable = g_cancellable_new();
	GTask *task = g_task_new(NULL, NULL, on_value, NULL);
	g_task_run_in_thread(task, compute_value);
	g_object_unref(task);
	g_cancellable_cancel(cancellable);
	task = g_task_new(NULL, cancellable, on_value, NULL);
	g_task_run_in_thread(task, compute_value);
	g_object_unref(task);
	g_object_unref(cancellable);
}

/* The process takes so long that this program waits for it, also on a busy machine. */
static void run_process(void)
{
	GSubprocess *process = g_subprocess_new(G_SUBPROCESS_FLAGS_NONE, NULL, "sleep", "0.3", NULL);
	printf("process %d\n", g_subprocess_wait(process, NULL, NULL));
	g_object_unref(process);
}

/* ---- Locks ---- */

static GMutex table;
static GCond filled;
static gboolean is_full;
static gint filler, taker; /* the threads' numbers, once they are about to wait */

static void await_wait(gint *thread)
{
	while (!g_atomic_int_get(thread))
		g_usleep(1000);
	await_sleep(g_atomic_int_get(thread));
}

static gpointer fill_table(gpointer data)
{
	g_atomic_int_set(&filler, gettid());
	g_mutex_lock(&table);
	g_usleep(50000);
	is_full = TRUE;
	g_cond_signal(&filled);
	g_mutex_unlock(&table);
	return data;
}

static gpointer take_row(gpointer row)
{
	g_atomic_int_set(&taker, gettid());
	g_mutex_lock(row);
	g_mutex_unlock(row);
	return NULL;
}

static int use_locks(void)
{
	GMutex *row = g_new0(GMutex, 1);
	g_mutex_lock(&table);
	g_mutex_lock(row);
	GThread *threads[] = {
		g_thread_new("filler", fill_table, NULL), g_thread_new("taker", take_row, row)};
	await_wait(&filler);
	while (!is_full)
		g_cond_wait(&filled, &table);
	g_mutex_unlock(&table);
	await_wait(&taker);
	g_mutex_unlock(row);
	g_thread_join(threads[0]);
	g_thread_join(threads[1]);
	g_mutex_clear(row);
	g_free(row);
	return 0;
}

int main(int argc, char **argv)
{
	int ends[2];
	static gchar program[] = "true";
	gchar *arguments[] = {program, NULL};
	GPid child;
	(void)argv;
	if (argc > 1)
		return use_locks();
	if (pipe(ends) != 0)
		return 1;
	loop = g_main_loop_new(NULL, FALSE);
	run_process();
	left = 11;
	g_timeout_add(5, on_timeout, NULL);
	g_idle_add(on_idle, GUINT_TO_POINTER(g_timeout_add_seconds(20, never, NULL)));
	g_unix_fd_add(ends[0], G_IO_IN, on_descriptor, NULL);
	g_unix_signal_add(SIGUSR1, on_signal, GINT_TO_POINTER(ends[1]));
	g_spawn_async(NULL, arguments, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, NULL,
		NULL, &child, NULL);
	g_child_watch_add(child, on_child, NULL);
	attach(&own_functions, "changed");
	attach(&constant_functions, "constant");
	begin_task(NULL);
	begin_task(loop);
	begin_values();
	g_main_loop_run(loop);
	g_main_loop_unref(loop);
	return 5;
}
