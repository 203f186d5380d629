/* SPDX-License-Identifier: ISC
 *
 * How much readers can keep up with: two threads of another process write into a ring of 64 MiB at
 * a given rate, finally as fast as they can, and this process follows or drains it, and counts.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/follow.h>
#include <weft/stream.h>
#include <weft/weft.h>

enum {
	RING_BYTES = 64 << 20,
	WRITERS = 2,
	BATCH = 100, /* events between two clock readings */
};

static const uint64_t DURATION_NS = 1000000000;

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Events per second and thread; 0: as fast as possible. */
static uint64_t rate;

static void *write_events(void *argument)
{
	uint64_t start = now_ns();
	(void)argument;
	for (uint64_t written = 0, passed; (passed = now_ns() - start) < DURATION_NS;) {
		if (rate && written > passed * rate / 1000000000) {
			usleep(100);
			continue;
		}
		for (int i = 0; i < BATCH; i++)
			weft_tag_value("tag", (int64_t)written++);
	}
	return NULL;
}

/* In the child; the ring is complete when a byte has been written to `ready`. */
static int write_ring(int fd, int ready)
{
	pthread_t threads[WRITERS];
	void *ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (ring == MAP_FAILED || weft_start(ring, RING_BYTES, NULL) || write(ready, "", 1) != 1)
		return 1;
	for (int i = 0; i < WRITERS; i++)
		if (pthread_create(&threads[i], NULL, write_events, NULL))
			return 1;
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	weft_stop();
	return 0;
}

static double cpu_s(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* The result of one reader. */
struct result {
	uint64_t given, lost, bytes;
	double seconds, cpu_s;
};

static int follow(const char *path, struct result *ret_result)
{
	struct weft_follow *follow;
	struct weft_event event;
	uint64_t seen = 0;
	int status = weft_follow_open(path, &follow);
	if (status)
		return status;
	while ((status = weft_follow_next(follow, &event)) == WEFT_OK || status == WEFT_AGAIN) {
		if (status == WEFT_AGAIN)
			weft_follow_wait(follow, 1000000000);
		else if (!event.is_rundown)
			seen++;
	}
	ret_result->given = seen;
	ret_result->lost = weft_follow_describe(follow)->losses[WEFT_LOSS_STALLED];
	weft_follow_close(follow);
	return status == WEFT_END ? 0 : status;
}

/* The output; -1: none. */
static int sink = -1;

static int write_all(const char *bytes, size_t size)
{
	while (sink >= 0 && size) {
		ssize_t written = write(sink, bytes, size);
		if (written <= 0)
			return WEFT_ERROR_SYSTEM;
		bytes += written;
		size -= (size_t)written;
	}
	return 0;
}

static int stream(const char *path, struct result *ret_result)
{
	struct weft_stream *stream;
	const void *bytes;
	size_t size;
	int error = 0, status = weft_stream_open(path, 1 << 20, &stream);
	if (status)
		return status;
	while (!error && ((status = weft_stream_next(stream, &bytes, &size)) == WEFT_OK ||
						 status == WEFT_AGAIN)) {
		if (status == WEFT_AGAIN) {
			weft_stream_wait(stream, 1000000000);
		} else {
			error = write_all(bytes, size);
			ret_result->bytes += size;
		}
	}
	ret_result->given = weft_stream_describe(stream)->events;
	ret_result->lost = weft_stream_describe(stream)->losses[WEFT_LOSS_STALLED];
	weft_stream_close(stream);
	return error ? error : status == WEFT_END ? 0 : status;
}

static int read_ring(int (*reader)(const char *, struct result *), const char *path)
{
	struct result r = {0};
	double cpu = cpu_s();
	uint64_t start = now_ns();
	int error = reader(path, &r);
	r.seconds = (double)(now_ns() - start) / 1e9;
	uint64_t all = r.given + r.lost;
	printf("%10.1f %10.1f %10.1f %8.2f %% %8.0f %6.0f %%\n", (double)all / r.seconds / 1e6,
		(double)r.given / r.seconds / 1e6, (double)r.lost / r.seconds / 1e6,
		all ? 100 * (double)r.lost / (double)all : 0, (double)r.bytes / r.seconds / 1e6,
		100 * (cpu_s() - cpu) / r.seconds);
	fflush(stdout);
	return error;
}

static int measure(
	int (*reader)(const char *, struct result *), const char *name, uint64_t events_per_second)
{
	char path[64], byte;
	int ready[2], status;
	rate = events_per_second / WRITERS;
	snprintf(path, sizeof(path), "/dev/shm/weft-bench-%d", (int)getpid());
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || posix_fallocate(fd, 0, RING_BYTES) || pipe(ready))
		return 1;
	pid_t child = fork();
	if (child == 0)
		_exit(write_ring(fd, ready[1]));
	close(ready[1]);
	printf("%-22s", name);
	int error = read(ready[0], &byte, 1) == 1 ? read_ring(reader, path) : 1;
	unlink(path);
	close(ready[0]);
	close(fd);
	return waitpid(child, &status, 0) != child || status || error;
}

/* Drains into a file, which is then removed. NULL: no file. */
static int measure_stream(const char *directory, const char *name, uint64_t events_per_second)
{
	char path[256];
	if (directory) {
		snprintf(path, sizeof(path), "%s/weft-bench-%d.out", directory, (int)getpid());
		sink = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (sink < 0 || unlink(path))
			return 1;
	}
	int error = measure(stream, name, events_per_second);
	if (sink >= 0)
		close(sink);
	sink = -1;
	return error;
}

int main(void)
{
	static const uint64_t rates[] = {100000, 1000000, 10000000, 20000000, 50000000, 0};
	int error = 0;
	printf("two threads, one reader, a ring of 64 MiB, %ld processors; million events/s, MB/s\n",
		sysconf(_SC_NPROCESSORS_ONLN));
	printf("%-22s%10s %10s %10s %10s %8s %8s\n", "", "written", "given", "lost", "lost", "bytes",
		"CPU");
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		error |= measure(follow, "follow", rates[i]);
	for (size_t i = 2; i < sizeof(rates) / sizeof(rates[0]); i++) {
		error |= measure_stream(NULL, "stream, nowhere", rates[i]);
		error |= measure_stream("/dev/shm", "stream, /dev/shm", rates[i]);
		error |= measure_stream("/var/tmp", "stream, /var/tmp", rates[i]);
	}
	if (error)
		fputs("follow: failed\n", stderr);
	return error;
}
