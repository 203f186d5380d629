/* SPDX-License-Identifier: ISC
 *
 * A process of dom0 that asks Xen for its version, each time for a span of a trace of its own, and
 * writes that span's context into Xen's trace.
 *
 *     contexts ROUNDS
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <weft/context.h>
#include <weft/xen.h>

int main(int count, char **arguments)
{
	const struct timespec gap = {0, 3000000};
	int rounds = count == 2 ? atoi(arguments[1]) : 0;
	char text[16];
	/* The kernel makes the hypercall at each read. */
	int version = open("/sys/hypervisor/version/major", O_RDONLY | O_CLOEXEC);
	const uint64_t task = weft_create(WEFT_KIND_TASK);
	weft_switch(task);
	for (int i = 0; i < rounds; i++) {
		struct weft_context context;
		weft_context_begin("round", NULL, &context);
		if (weft_xen_context() != 0 || pread(version, text, sizeof(text), 0) < 1) {
			perror("contexts");
			return 1;
		}
		weft_context_end(NULL);
		if (weft_xen_context() != 0)
			return 1;
		nanosleep(&gap, NULL);
	}
	weft_resolve(task);
	return 0;
}
