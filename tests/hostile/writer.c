/* SPDX-License-Identifier: ISC
 *
 * A program under weft that is hostile to the readers of its ring.
 *
 *     writer [MODE [SECONDS [SEED [wait]]]]
 *
 *     honest    only records
 *     rewrite   records, and damages the ring at random
 *     cut       and makes its file shorter and longer
 *     frozen    damages a ring after recording has stopped
 *     outside   claims that its packets begin far beyond the ring, and requests a snapshot
 *     escape    changes a name between letters and terminal sequences
 *
 * It writes "ready" when the attack begins; with `wait` it then records until SIGTERM before it
 * attacks, so that readers may be there already. It is built without sanitizers, because it may
 * damage itself.
 */
#include "writer.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weft/weft.h>

#include "abi/buffer_abi.h"

static const double RECORD_FIRST_S = 0.1;

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void sleep_s(double seconds)
{
	const struct timespec time = {
		(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
	nanosleep(&time, NULL);
}

/* Finds the file that the recorder has mapped. */
static bool find_path(char ret_path[4096])
{
	char line[8192];
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "re");
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		const char *path = strchr(line, '/');
		found = path && strstr(line, " rw-s ") && strstr(path, ".weft");
		if (found)
			snprintf(ret_path, 4096, "%.*s", (int)strcspn(path, "\n"), path);
	}
	if (maps)
		fclose(maps);
	return found;
}

static bool map_ring(struct ring *ring)
{
	struct stat status;
	if (!find_path(ring->path))
		return false;
	ring->fd = open(ring->path, O_RDWR | O_CLOEXEC);
	if (ring->fd < 0 || fstat(ring->fd, &status) != 0)
		return false;
	ring->size = (size_t)status.st_size;
	ring->bytes = mmap(NULL, ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	ring->template =
		mmap(NULL, ring->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ring->bytes == MAP_FAILED || ring->template == MAP_FAILED)
		return false;
	memcpy(ring->template, ring->bytes, ring->size);
	return mprotect(ring->template, ring->size, PROT_READ) == 0;
}

static void attack_outside(struct ring *ring)
{
	struct weft_abi_buffer *header = (void *)ring->bytes;
	static bool is_done;
	if (!is_done) {
		__atomic_store_n(&header->packet_count, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&header->packets_offset, (uint64_t)1 << 30, __ATOMIC_RELAXED);
	}
	is_done = true;
	weft_snapshot_request("now");
	sleep_s(0.05);
}

/* Writes an OSC sequence that sets a terminal's title, and other control sequences. */
static void attack_escape(struct ring *ring)
{
	static const char *const names[] = {"a note with", "number %-+", "request", "queue", "child"};
	static const char orders[] = "\x1b]0;\x07\x9b\xe2\x80\xae\n%n\"\\";
	size_t size = 0;
	const char *name = names[attack_random() % 5];
	uint8_t *text = memmem(ring->bytes, ring->size, name, strlen(name));
	size = text ? strlen(name) : 0;
	for (int times = 0; times < 20000; times++) {
		for (size_t i = 0; i < size; i++)
			__atomic_store_n(&text[i], (uint8_t)orders[i % (sizeof(orders) - 1)], __ATOMIC_RELAXED);
		for (size_t i = 0; i < size; i++)
			__atomic_store_n(&text[i], (uint8_t)name[i], __ATOMIC_RELAXED);
	}
}

static void attack_any(struct ring *ring)
{
	(void)ring;
	attack_rewrite();
}

static void attack_length(struct ring *ring)
{
	(void)ring;
	attack_cut();
}

static void attack_not(struct ring *ring)
{
	(void)ring;
	sleep_s(0.01);
}

static const struct mode {
	const char *name;
	void (*attack)(struct ring *ring);
} modes[] = {
	{"honest", attack_not},
	{"rewrite", attack_any},
	{"cut", attack_length},
	{"frozen", attack_any},
	{"outside", attack_outside},
	{"escape", attack_escape},
};

static const struct mode *find_mode(const char *name)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(modes[i].name, name) == 0)
			return &modes[i];
	return NULL;
}

/* Other threads were started with the signal blocked. */
static void wait_for_signal(const sigset_t *signals)
{
	int number;
	sigwait(signals, &number);
}

int main(int argc, char **argv)
{
	static struct ring ring;
	const struct mode *mode = find_mode(argc > 1 ? argv[1] : "rewrite");
	double seconds = argc > 2 ? atof(argv[2]) : 5;
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	if (!mode) {
		fprintf(stderr, "writer: there is no mode %s\n", argv[1]);
		return 2;
	}
	sigset_t begin;
	bool waits = argc > 4 && strcmp(argv[4], "wait") == 0;
	sigemptyset(&begin);
	sigaddset(&begin, SIGTERM);
	if (waits)
		sigprocmask(SIG_BLOCK, &begin, NULL);
	honest_start();
	sleep_s(RECORD_FIRST_S);
	if (!map_ring(&ring)) {
		fprintf(stderr, "writer: nothing records; run it under weft record, or set WEFT_OUT\n");
		return 3;
	}
	puts("ready");
	fflush(stdout);
	if (waits)
		wait_for_signal(&begin);
	attack_init(&ring, seed);
	if (strcmp(mode->name, "frozen") == 0)
		honest_stop();
	for (double end = now_s() + seconds; now_s() < end;)
		mode->attack(&ring);
	_exit(0);
}
