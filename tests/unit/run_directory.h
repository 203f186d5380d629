/* SPDX-License-Identifier: ISC
 *
 * A temporary directory for tests of files, and the library's messages.
 */
#ifndef WEFT_TEST_RUN_DIRECTORY_H
#define WEFT_TEST_RUN_DIRECTORY_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runs/message.h"

struct place {
	char path[PATH_MAX / 2]; /* ends in a slash */
};

static char reported[4096]; /* all messages since place_make */

static void keep_report(const char *message)
{
	size_t used = strlen(reported);
	snprintf(reported + used, sizeof(reported) - used, "%s\n", message);
}

static struct place place_make(void)
{
	struct place place;
	char template[] = "/tmp/weft-test-XXXXXX";
	assert_non_null(mkdtemp(template));
	snprintf(place.path, sizeof(place.path), "%s/", template);
	reported[0] = '\0';
	weft__runs_set_report(keep_report);
	return place;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

static void place_remove(const struct place *place)
{
	assert_int_equal(nftw(place->path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* The path of an entry; valid until four more calls. */
static char *in_place(const struct place *place, const char *name)
{
	static char paths[4][PATH_MAX];
	static unsigned next;
	char *path = paths[next++ % 4];
	snprintf(path, PATH_MAX, "%s%s", place->path, name);
	return path;
}

static inline void place_put(const struct place *place, const char *name, const char *content)
{
	FILE *file = fopen(in_place(place, name), "we");
	assert_non_null(file);
	fputs(content, file);
	assert_int_equal(fclose(file), 0);
}

static inline int place_has(const struct place *place, const char *name)
{
	return access(in_place(place, name), F_OK) == 0;
}

#endif
