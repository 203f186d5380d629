/* SPDX-License-Identifier: ISC
 *
 * A program with categories that carries out one command for each line of input, and answers it
 * with "done". See levels.py.
 *
 *     round       a note of each level in each category, and some calls that are more than a note
 *     plugin      the same in the plug-in
 *     load FILE   loads the plug-in
 *     unload
 *     many        70 categories more, and a note in each
 *     set P=L     sets a level from inside
 *     fork        a child goes on; when it has ended, the parent does
 *     end
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

#include "levels_notes.h"

WEFT_CATEGORY_DEFINE(net, "net", "connections and streams");
WEFT_CATEGORY_DEFINE(db, "db", "queries");

static unsigned evaluated;

static const char *count_evaluation(const char *text)
{
	evaluated++;
	return text;
}

#undef WEFT_CATEGORY
#define WEFT_CATEGORY net
static void record_net(void)
{
	LEVELS_NOTES("net");
	uint64_t task = weft_create(WEFT_KIND_TASK);
	printf("task %u\n", task != 0);
	weft_note(count_evaluation("evaluated"));
	weft_signal(task); /* switches: that is not filtered */
	weft_fail(task, "net fails");
	weft_switch(WEFT_TASK_NONE);
}

#undef WEFT_CATEGORY
#define WEFT_CATEGORY db
static void record_db(void)
{
	LEVELS_NOTES("db");
}

#undef WEFT_CATEGORY
#define WEFT_CATEGORY program
static void record_round(void)
{
	evaluated = 0;
	LEVELS_NOTES("program");
	record_net();
	record_db();
	printf("evaluated %u\n", evaluated);
	printf("enabled %d%d%d\n", weft_enabled(WEFT_LEVEL_INFO),
		weft_category_enabled(net, WEFT_LEVEL_DEBUG), weft_category_enabled(db, WEFT_LEVEL_TRACE));
}

/* Creates categories at run time, as the binding of another language would. */
static void record_many(void)
{
	static struct weft_category many[70];
	static char names[70][16];
	for (int i = 0; i < 70; i++) {
		snprintf(names[i], sizeof(names[i]), "many.%d", i);
		many[i] = (struct weft_category){&weft__level_zero, names[i], "one of many", NULL};
		weft_category_register(&many[i]);
	}
	for (int i = 0; i < 70; i++)
		if (weft__allows(&many[i], WEFT_LEVEL_DEBUG))
			weft__note(WEFT_TASK_CURRENT, NULL, names[i]);
}

static void *plugin;

static void load(const char *path)
{
	plugin = dlopen(path, RTLD_NOW);
	if (!plugin) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
}

static void record_plugin(void)
{
	void (*record)(void);
	*(void **)&record = dlsym(plugin, "plugin_record");
	record();
}

static void set(char *assignment)
{
	char *equals = strchr(assignment, '=');
	*equals = '\0';
	printf("set %d\n", weft_set_level(assignment, (enum weft_level)atoi(equals + 1)));
}

static void go_on_in_child(void)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		printf("%d\n", (int)getpid());
		return;
	}
	if (waitpid(child, &status, 0) != child || status != 0)
		exit(1);
}

static void obey(char *line)
{
	if (strcmp(line, "round") == 0)
		record_round();
	else if (strcmp(line, "plugin") == 0)
		record_plugin();
	else if (strncmp(line, "load ", 5) == 0)
		load(line + 5);
	else if (strcmp(line, "unload") == 0)
		dlclose(plugin);
	else if (strcmp(line, "many") == 0)
		record_many();
	else if (strncmp(line, "set ", 4) == 0)
		set(line + 4);
	else if (strcmp(line, "fork") == 0)
		go_on_in_child();
	else
		exit(2);
}

int main(void)
{
	char line[4096];
	setvbuf(stdin, NULL, _IONBF, 0); /* a child continues to read where its parent stopped */
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "end") == 0)
			return 0;
		obey(line);
		puts("done");
		fflush(stdout);
	}
	return 0;
}
