/* SPDX-License-Identifier: ISC
 *
 * Follows a program while it records, and prints each second how many events it saw and how many
 * were lost: `follow FILE`.
 */
#include <inttypes.h>
#include <stdio.h>

#include <weft/follow.h>

static void report(uint64_t seen, const struct weft_follow *follow)
{
	const struct weft_trace_description *trace = weft_follow_describe(follow);
	printf("%" PRIu64 " events, %" PRIu64 " lost\n", seen, trace->losses[WEFT_LOSS_STALLED]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct weft_follow *follow;
	struct weft_event event;
	uint64_t seen = 0, next_report_ns = 0;
	int status = argc == 2 ? weft_follow_open(argv[1], &follow) : WEFT_ERROR_ARGUMENT;
	if (status) {
		fprintf(stderr, "follow: %s\n", weft_error_text(status));
		return 1;
	}
	while ((status = weft_follow_next(follow, &event)) == WEFT_OK || status == WEFT_AGAIN) {
		if (status == WEFT_AGAIN)
			weft_follow_wait(follow, 1000000000); /* at most a second */
		else if (!event.is_rundown)
			seen++;
		if (weft_follow_mark(follow) < next_report_ns)
			continue;
		report(seen, follow);
		next_report_ns = weft_follow_mark(follow) + 1000000000;
	}
	report(seen, follow);
	weft_follow_close(follow);
	return status != WEFT_END;
}
