/* SPDX-License-Identifier: ISC
 *
 * The program that the tests of `weft record --stream` run.
 *
 *     stream-subject COUNTERS EVENTS PAUSE
 *
 * Three lanes number their events, with the lane in the value's top byte, and store the number of
 * those whose call has returned in the file COUNTERS, which survives us. The last lane consists of
 * many short threads, one after the other. Each lane rests PAUSE microseconds after every 100
 * events.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <weft/weft.h>

enum {
	LANES = 3,
	BATCH = 100,
};

static volatile uint64_t *counters;
static uint64_t events;
static useconds_t pause_us;

static void record(uint64_t lane, uint64_t number)
{
	int64_t value = (int64_t)(lane << 56 | number);
	switch (number % 1000) { /* names that come while the stream goes on */
	case 7:
		weft_mark("long", "value", value, "text", "some text that makes it longer");
		break;
	case 400:
		weft_counter_set("counter", value);
		break;
	default:
		weft_tag_value("short", value);
		break;
	}
	counters[lane] = number + 1;
}

static void *record_batch(void *argument)
{
	uint64_t lane = (uint64_t)(uintptr_t)argument, first = counters[lane];
	for (uint64_t i = 0; i < BATCH && first + i < events; i++)
		record(lane, first + i);
	return NULL;
}

static void *run_lane(void *argument)
{
	uint64_t lane = (uint64_t)(uintptr_t)argument;
	while (counters[lane] < events) {
		pthread_t thread;
		if (lane != LANES - 1)
			record_batch(argument);
		else if (pthread_create(&thread, NULL, record_batch, argument) == 0)
			pthread_join(thread, NULL);
		if (pause_us)
			usleep(pause_us);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[LANES];
	int fd = argc == 4 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	if (fd < 0 || ftruncate(fd, LANES * 8) != 0)
		return 1;
	counters = mmap(NULL, LANES * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	events = strtoull(argv[2], NULL, 10);
	pause_us = (useconds_t)atoi(argv[3]);
	for (uintptr_t i = 0; i < LANES; i++)
		if (pthread_create(&threads[i], NULL, run_lane, (void *)i))
			return 1;
	for (int i = 0; i < LANES; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
