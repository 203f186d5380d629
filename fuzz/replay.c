/* SPDX-License-Identifier: ISC
 *
 * A main for fuzz targets without libFuzzer: passes each file of a corpus folder to the target once
 * and reports it as a TAP case. If the target aborts or a sanitizer stops it, the last line names
 * the file before the one that did it. An input that takes more than CPU_SECONDS of processor time
 * is taken to hang; other programs' load does not count.
 */
#include <dirent.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/time.h>

#define CPU_SECONDS 20

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A block of exactly the file's size, so that a sanitizer sees a read past its end. */
static uint8_t *read_file(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = NULL;
	long size = -1;
	if (!file)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	rewind(file);
	if (size >= 0)
		bytes = malloc(size ? (size_t)size : 1);
	if (bytes && fread(bytes, 1, (size_t)size, file) != (size_t)size) {
		free(bytes);
		bytes = NULL;
	}
	fclose(file);
	*ret_size = (size_t)size;
	return bytes;
}

static char current[4096]; /* the input */

static void on_hang(int number)
{
	static const char text[] = ": takes more processor time than an input may\n";
	(void)number;
	(void)!write(STDERR_FILENO, current, strlen(current));
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	abort();
}

/* Begins to count the processor time of an input; 0 seconds: stops. */
static void watch_input(const char *path, int seconds)
{
	const struct itimerval timer = {.it_value = {.tv_sec = seconds}};
	snprintf(current, sizeof(current), "%s", path);
	signal(SIGVTALRM, on_hang);
	setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static int replay(const char *folder, const char *name, int number)
{
	char path[4096];
	size_t size;
	uint8_t *bytes;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	bytes = read_file(path, &size);
	if (!bytes) {
		printf("not ok %d - %s cannot be read\n", number, name);
		return -1;
	}
	watch_input(path, CPU_SECONDS);
	LLVMFuzzerTestOneInput(bytes, size);
	watch_input(path, 0);
	free(bytes);
	printf("ok %d - %s\n", number, name);
	fflush(stdout);
	return 0;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Returns whether an input could not be read. `number` counts the inputs of all folders. */
static int replay_folder(const char *folder, int *number)
{
	struct dirent **entries;
	int failed = 0, count = scandir(folder, &entries, is_visible, alphasort);
	if (count <= 0) {
		printf("Bail out! no input in %s\n", folder);
		return 1;
	}
	for (int i = 0; i < count; i++) {
		failed |= replay(folder, entries[i]->d_name, ++*number);
		free(entries[i]);
	}
	free(entries);
	return failed;
}

int main(int argc, char **argv)
{
	int number = 0, failed = 0;
	if (argc < 2) {
		fprintf(stderr, "usage: %s CORPUS…\n", argv[0]);
		return 2;
	}
	for (int i = 1; i < argc; i++)
		failed |= replay_folder(argv[i], &number);
	printf("1..%d\n", number);
	return failed ? 1 : 0;
}
