/* SPDX-License-Identifier: ISC
 *
 * Three threads make random calls about tasks that may or may not exist. The buffer is in a file,
 * which tests/oracle/model.py reads.
 *
 *     random_calls FILE SEED CALLS
 */
#include <pthread.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

#define THREADS 3
#define RECENT  8

static alignas(64) unsigned char buffer[4 << 20];

struct caller {
	pthread_t thread;
	uint64_t random;
	uint64_t recent[RECENT]; /* tasks that it made, and some of its neighbours' */
	long calls;
};

static unsigned draw(struct caller *caller, unsigned below)
{
	caller->random = caller->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(caller->random >> 33) % below;
}

static uint64_t draw_task(struct caller *caller)
{
	if (draw(caller, 30) == 0)
		return UINT64_MAX;
	return caller->recent[draw(caller, RECENT)];
}

static void create(struct caller *caller)
{
	uint64_t *place = &caller->recent[draw(caller, RECENT)];
	*place = draw(caller, 2) ? weft_create((uint16_t)draw(caller, 20))
							 : weft_create_as(draw_task(caller), WEFT_KIND_BIND);
}

static void remark(struct caller *caller)
{
	switch (draw(caller, 11)) {
	case 0:
		weft_label_as(draw_task(caller), "name");
		break;
	case 1:
		weft_note("a note");
		break;
	case 2:
		weft_tag_value_as(draw_task(caller), "tag", draw(caller, 9));
		break;
	case 3:
		weft_mark_as(draw_task(caller), "mark", "n", 3, "s", "text");
		break;
	case 4:
		weft_counter_add_as(draw_task(caller), "count", (int64_t)draw(caller, 9) - 4);
		break;
	case 5:
	case 6:
		weft_begin("span");
		break;
	case 7:
		weft_end();
		break;
	case 8:
		weft_begin_as(draw_task(caller), "other");
		break;
	case 9:
		weft_end_as(draw_task(caller));
		break;
	default:
		weft_counter_set("level", draw(caller, 100));
	}
}

static void act(struct caller *caller)
{
	uint64_t task = draw_task(caller), other = draw_task(caller);
	switch (draw(caller, 20)) {
	case 0:
		weft_read(other);
		break;
	case 1:
		weft_read_as(task, other);
		break;
	case 2:
		weft_read_later_as(task, other);
		break;
	case 3:
	case 4:
		weft_try_read_as(task, other);
		break;
	case 5:
		weft_signal_as(task, other);
		break;
	case 6:
		weft_signal_only_as(task, other);
		break;
	case 7:
		weft_resolve_as(task, other);
		break;
	case 8:
		weft_fail(other, "failed");
		break;
	case 9:
	case 10:
		weft_become_as(task, other);
		break;
	case 11:
		weft_rundown_task(task, (uint16_t)draw(caller, 20), draw(caller, 2) ? "listed" : NULL,
			draw(caller, 3) ? draw(caller, 1000000) : WEFT_AGE_UNKNOWN, other);
		break;
	case 12:
		weft_cancel_as(task, other);
		break;
	case 13:
		weft_close(other);
		break;
	case 14:
		weft_time_out_as(task, other);
		break;
	case 17:
	case 18:
		weft_acquire_as(task, other);
		break;
	case 16:
		weft_release_as(task, other);
		break;
	case 15:
		weft_wait_any_as(task, 2, (const uint64_t[]){other, draw_task(caller)});
		break;
	default:
		weft_expect_as(task);
	}
}

static void run(struct caller *caller)
{
	switch (draw(caller, 10)) {
	case 0:
		weft_band_begin(WEFT_BAND_IDLE, "poll");
		break;
	case 1:
		weft_band_end(WEFT_BAND_IDLE, "poll");
		break;
	case 2:
		weft_band_begin(WEFT_BAND_GC, "minor");
		break;
	case 3:
		weft_band_end(WEFT_BAND_GC, "minor");
		break;
	case 4:
		weft_gc(10);
		break;
	case 5:
		weft_enter(draw_task(caller));
		break;
	case 6:
		weft_leave();
		break;
	case 7:
		weft_off_cpu(draw(caller, 1000));
		break;
	default:
		weft_switch(draw_task(caller));
	}
}

static void *call(void *argument)
{
	static void (*const kinds[])(struct caller *) = {create, create, remark, act, act, act, run};
	struct caller *caller = argument;
	for (long i = 0; i < caller->calls; i++)
		kinds[draw(caller, sizeof(kinds) / sizeof(kinds[0]))](caller);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct caller callers[THREADS];
	if (argc != 4 || weft_start(buffer, sizeof(buffer), NULL))
		return 2;
	/* A trace that begins with a rundown is a part, whose tasks exist; these are any. */
	weft_note("begins");
	for (unsigned i = 0; i < THREADS; i++) {
		callers[i].random = strtoull(argv[2], NULL, 10) * THREADS + i;
		callers[i].calls = strtol(argv[3], NULL, 10);
		for (unsigned j = 0; j < RECENT; j++)
			callers[i].recent[j] = j < 3 ? j + 1 : 1000 * i + j;
		if (pthread_create(&callers[i].thread, NULL, call, &callers[i]))
			return 1;
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(callers[i].thread, NULL);
	weft_stop();
	FILE *file = fopen(argv[1], "wb");
	return !file || fwrite(buffer, sizeof(buffer), 1, file) != 1 || fclose(file);
}
