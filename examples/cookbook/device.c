/* SPDX-License-Identifier: ISC
 *
 * A device that works on its own and measures itself, by another clock than the recorder's. Here a
 * thread stands in for it, which does not record: it writes blocks to a file and synchronizes them.
 */
#define _GNU_SOURCE /* mkstemp, pwrite */
#include "loop.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct request {
	uint64_t task, operation;
	uint64_t began_ns, ended_ns; /* by the device's clock */
	unsigned number;
};

static int file;

static uint64_t device_clock(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *write_block(void *argument)
{
	static char block[65536];
	struct request *request = argument;
	request->began_ns = device_clock();
	if (pwrite(file, block, sizeof(block), (off_t)(request->number * sizeof(block))) < 0 ||
		fdatasync(file) != 0)
		perror("write");
	pause_for(1 + request->number % 2);
	request->ended_ns = device_clock();
	return NULL;
}

/* recipe: */
static void complete(const struct request *request)
{
	weft_span("disk", WEFT_CLOCK_MONOTONIC_RAW, "write", request->began_ns, request->ended_ns);
	weft_operation_end(request->operation, request->task);
}
/* end of recipe */

int main(void)
{
	char path[] = "/tmp/weft-device-XXXXXX";
	struct request request = {.task = weft_create(WEFT_KIND_TASK)};
	file = mkstemp(path);
	if (file < 0 || unlink(path) != 0)
		return 1;
	weft_label_as(request.task, "save");
	weft_switch(request.task);
	for (; request.number < 4; request.number++) {
		pthread_t device;
		work(0.5);
		request.operation = weft_operation_begin("write");
		weft_switch(WEFT_TASK_NONE);
		if (pthread_create(&device, NULL, write_block, &request) != 0)
			return 1;
		pthread_join(device, NULL);
		complete(&request);
	}
	weft_resolve(request.task);
	weft_switch(WEFT_TASK_NONE);
	printf("%u blocks\n", request.number);
}
