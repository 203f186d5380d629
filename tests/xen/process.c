/* SPDX-License-Identifier: ISC
 *
 * A process of a Linux guest that shares its buffer with dom0 and records numbers until it is
 * killed, or ends by itself at SIGTERM. At SIGUSR1 it stops recording. Its packets are recorded
 * once dom0 wants category net at level debug.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <weft/weft.h>
#include <weft/xen.h>

WEFT_CATEGORY_DEFINE(net, "net", "packets");
#undef WEFT_CATEGORY
#define WEFT_CATEGORY net
static void record_packet(void)
{
	weft_at(WEFT_LEVEL_DEBUG, weft_note("packet"));
}

#undef WEFT_CATEGORY
#define WEFT_CATEGORY program

static volatile sig_atomic_t is_over, stops;

static void end(int signal)
{
	is_over |= signal == SIGTERM;
	stops |= signal == SIGUSR1;
}

int main(int count, char **arguments)
{
	const struct timespec gap = {0, 1000000};
	size_t size = count == 2 ? (size_t)atoi(arguments[1]) * WEFT_XEN_PAGE_BYTES : 0;
	int error = weft_xen_record(0, size);
	if (error) {
		fprintf(stderr, "weft_xen_record: error %d: ", error);
		perror("");
		return 1;
	}
	signal(SIGTERM, end);
	signal(SIGUSR1, end);
	for (uint64_t number = 0; !is_over; number++) {
		weft_tag_value("number", number);
		record_packet();
		if (number % 256 == 0)
			(void)weft_xen_renew();
		if (stops)
			weft_stop();
		nanosleep(&gap, NULL);
	}
	return 0;
}
