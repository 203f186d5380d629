/* SPDX-License-Identifier: ISC
 *
 * What a follower keeps up with: two threads of another process write into a ring of 64 MiB at a
 * given rate, at last as fast as they can, and this process follows and counts.
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
#include <weft/weft.h>

enum {
	RING_BYTES = 64 << 20,
	WRITERS = 2,
	BATCH = 100, /* events between two looks at the clock */
};

static const uint64_t DURATION_NS = 2000000000;

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Events a second, of one thread; 0: as fast as can be. */
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

static int follow(const char *path)
{
	struct weft_follow *follow;
	struct weft_event event;
	uint64_t seen = 0, start = now_ns();
	double cpu = cpu_s();
	int status = weft_follow_open(path, &follow);
	if (status)
		return status;
	while ((status = weft_follow_next(follow, &event)) == WEFT_OK || status == WEFT_AGAIN) {
		if (status == WEFT_AGAIN)
			weft_follow_wait(follow, 1000000000);
		else if (!event.is_rundown)
			seen++;
	}
	double seconds = (double)(now_ns() - start) / 1e9;
	uint64_t lost = weft_follow_describe(follow)->losses[WEFT_LOSS_STALLED];
	printf("%12.1f %12.1f %12.1f %10.1f %% %9.0f %%\n", (double)(seen + lost) / seconds / 1e6,
		(double)seen / seconds / 1e6, (double)lost / seconds / 1e6,
		seen + lost ? 100 * (double)lost / (double)(seen + lost) : 0,
		100 * (cpu_s() - cpu) / seconds);
	fflush(stdout);
	weft_follow_close(follow);
	return status == WEFT_END ? 0 : status;
}

static int measure(uint64_t events_per_second)
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
	int error = read(ready[0], &byte, 1) == 1 ? follow(path) : 1;
	unlink(path);
	close(ready[0]);
	close(fd);
	return waitpid(child, &status, 0) != child || status || error;
}

int main(void)
{
	static const uint64_t rates[] = {100000, 1000000, 5000000, 10000000, 20000000, 0};
	printf("two threads, one follower, a ring of 64 MiB, %ld processors; million events/s\n",
		sysconf(_SC_NPROCESSORS_ONLN));
	printf("%12s %12s %12s %12s %11s\n", "written", "given", "lost", "lost", "CPU");
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		if (measure(rates[i])) {
			fputs("follow: failed\n", stderr);
			return 1;
		}
	}
	return 0;
}
