/* SPDX-License-Identifier: ISC
 *
 * A program that loads plug-ins, each with a recorder of its own; with HOST it has one, too.
 * copies.py checks the result.
 *
 *     copies-host WHAT PLUGIN...
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HOST
#include <weft/weft.h>
#endif

#define PLUGINS_MAX  8
#define BUFFER_BYTES ((size_t)1 << 20)

struct plugin {
	const char *path;
	void *object;
	uint64_t (*record)(int notes);
	int (*start)(void *buffer, size_t size);
	void (*stop)(void);
	bool (*is_recording)(void);
};

static struct plugin plugins[PLUGINS_MAX];
static int count;
static pthread_barrier_t barrier;

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "copies-host: %s\n", what);
	exit(1);
}

static void *function(const struct plugin *plugin, const char *name)
{
	void *found = dlsym(plugin->object, name);
	check(found, name);
	return found;
}

static void load(struct plugin *plugin)
{
	plugin->object = dlopen(plugin->path, RTLD_NOW | RTLD_LOCAL);
	check(plugin->object, plugin->path);
	*(void **)&plugin->record = function(plugin, "plugin_record");
	*(void **)&plugin->start = function(plugin, "plugin_start");
	*(void **)&plugin->stop = function(plugin, "plugin_stop");
	*(void **)&plugin->is_recording = function(plugin, "plugin_is_recording");
}

static void load_all(void)
{
	for (int i = 0; i < count; i++)
		load(&plugins[i]);
}

static void record_host(int notes)
{
#ifdef HOST
	for (int i = 0; i < notes; i++)
		weft_note_as(weft_create(WEFT_KIND_TASK), "host");
#else
	(void)notes;
#endif
}

static void *record_all(void *argument)
{
	record_host(*(int *)argument);
	for (int i = 0; i < count; i++)
		plugins[i].record(*(int *)argument);
	return NULL;
}

/* By this thread, and two more at once. */
static void by_threads(void)
{
	int notes = 100;
	pthread_t threads[2];
	load_all();
	for (int i = 0; i < 2; i++)
		check(pthread_create(&threads[i], NULL, record_all, &notes) == 0, "pthread_create");
	record_all(&notes);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void *load_at_once(void *argument)
{
	struct plugin *plugin = argument;
	pthread_barrier_wait(&barrier);
	load(plugin);
	plugin->record(10);
	return NULL;
}

static void race(void)
{
	pthread_t threads[PLUGINS_MAX];
	pthread_barrier_init(&barrier, NULL, (unsigned)count);
	for (int i = 0; i < count; i++)
		check(pthread_create(&threads[i], NULL, load_at_once, &plugins[i]) == 0, "pthread_create");
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

/* In a child, the copies elect a leader again, beginning with the last copy. */
static void in_child(void)
{
	load_all();
	plugins[0].record(1);
	pid_t child = fork();
	check(child >= 0, "fork");
	if (child == 0) {
		for (int i = count - 1; i >= 0; i--)
			plugins[i].record(5);
		_exit(0);
	}
	check(waitpid(child, NULL, 0) == child, "waitpid");
}

/* A stop by one copy stops all copies; after a start by another, all record into its buffer. */
static void restart(void)
{
	load_all();
	plugins[0].record(1);
	plugins[count - 1].stop();
	for (int i = 0; i < count; i++) {
		check(!plugins[i].is_recording(), "on after a stop");
		check(plugins[i].record(1) != 0, "no id for a task while nothing is recorded");
	}
	void *buffer = aligned_alloc(64, BUFFER_BYTES);
	check(buffer, "memory");
	check(plugins[count - 1].start(buffer, BUFFER_BYTES) == 0, "start");
	for (int i = 0; i < count; i++) {
		check(plugins[i].is_recording(), "off after a start");
		check(plugins[i].start(buffer, BUFFER_BYTES) != 0, "started twice");
		plugins[i].record(3);
	}
	plugins[0].stop();
	check(fwrite(buffer, 1, BUFFER_BYTES, stdout) == BUFFER_BYTES, "fwrite");
}

/* The leading copy stays in memory. */
static void unload(void)
{
	for (int round = 0; round < 50; round++) {
		load_all();
		dlclose(plugins[0].object);
		for (int i = 1; i < count; i++)
			plugins[i].record(1);
		for (int i = 1; i < count; i++)
			dlclose(plugins[i].object);
	}
}

static void on_timer(int number)
{
	(void)number;
	plugins[count - 1].record(1);
}

/* A signal handler records by one copy while another copy records an event. */
static void interrupt(void)
{
	const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
	load_all();
	signal(SIGALRM, on_timer);
	setitimer(ITIMER_REAL, &often, NULL);
	plugins[0].record(100000);
	setitimer(ITIMER_REAL, &never, NULL);
}

/* Nanoseconds an event, by each. */
static void measure(void)
{
	load_all();
	for (int i = 0; i < count; i++) {
		uint64_t best = UINT64_MAX;
		for (int run = 0; run < 200; run++) {
			struct timespec from, to;
			clock_gettime(CLOCK_MONOTONIC, &from);
			plugins[i].record(5000);
			clock_gettime(CLOCK_MONOTONIC, &to);
			uint64_t ns = (uint64_t)(to.tv_sec - from.tv_sec) * 1000000000u + (uint64_t)to.tv_nsec -
						  (uint64_t)from.tv_nsec;
			best = ns < best ? ns : best;
		}
		printf("%s %.2f ns\n", plugins[i].path, (double)best / 10000);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} tests[] = {{"by_threads", by_threads}, {"race", race}, {"in_child", in_child},
		{"restart", restart}, {"unload", unload}, {"interrupt", interrupt}, {"measure", measure}};
	for (int i = 2; i < argc && count < PLUGINS_MAX; i++)
		plugins[count++].path = argv[i];
	for (size_t i = 0; argc > 2 && i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (strcmp(argv[1], tests[i].name) == 0) {
			tests[i].run();
			return 0;
		}
	}
	return 2;
}
