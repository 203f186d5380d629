/* SPDX-License-Identifier: ISC
 *
 * A process of Linux in any domain that asks Xen for its version again and again, and records an
 * event before and after each question. Xen's trace has the question as a hypercall of that domain.
 *
 *     versions          shares its buffer with dom0, until it is ended by SIGTERM
 *     versions ROUNDS   records as any program does
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <weft/weft.h>
#include <weft/xen.h>

static volatile sig_atomic_t is_over;

static void end(int signal)
{
	(void)signal;
	is_over = 1;
}

int main(int count, char **arguments)
{
	const struct timespec gap = {0, 3000000};
	unsigned rounds = count == 2 ? (unsigned)atoi(arguments[1]) : ~0u;
	char text[16];
	/* The kernel makes the hypercall at each read. */
	int version = open("/sys/hypervisor/version/major", O_RDONLY | O_CLOEXEC);
	if (version < 0 || (count == 1 && weft_xen_record(0, 64 * WEFT_XEN_PAGE_BYTES))) {
		perror("versions");
		return 1;
	}
	signal(SIGTERM, end);
	for (unsigned i = 0; i < rounds && !is_over; i++) {
		weft_tag_value("before", i);
		if (pread(version, text, sizeof(text), 0) < 1)
			return 1;
		weft_tag_value("after", i);
		nanosleep(&gap, NULL);
	}
	return 0;
}
