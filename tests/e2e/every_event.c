/* SPDX-License-Identifier: ISC
 *
 * Records every event there is, by several threads, with texts that are hard on readers, and
 * writes the buffer to a file.
 *
 *     every_event FILE [ROUNDS]      many rounds overwrite the first events
 */
#include <pthread.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#define BUFFER_BYTES (512 << 10)

static alignas(64) unsigned char buffer[BUFFER_BYTES];

static void record_edges(void)
{
	uint64_t task = weft_create(WEFT_KIND_TASK), other = weft_create_as(task, 1000);
	uint64_t last = weft_create(WEFT_KIND_BIND), named = weft_create(weft_kind("job"));
	weft_switch(task);
	weft_read(other);
	weft_read_as(other, task);
	weft_read_later(other);
	weft_read_later_as(last, UINT64_MAX);
	weft_try_read(last);
	weft_try_read_as(last, other);
	weft_acquire(last);
	weft_acquire_as(other, last);
	weft_release(last);
	weft_release_as(other, last);
	weft_wait_any(2, (const uint64_t[]){last, other});
	weft_wait_any_as(last, 2, (const uint64_t[]){other, task});
	weft_signal(last);
	weft_signal_as(task, other);
	weft_signal_only(last);
	weft_signal_only_as(UINT64_MAX, last);
	weft_send(UINT64_MAX);
	weft_send_as(other, 7);
	weft_receive(7);
	weft_receive_as(other, UINT64_MAX);
	weft_expect();
	weft_expect_as(last);
	weft_resolve(other);
	weft_fail(last, "Failure(\"no\tluck\")");
	weft_cancel(weft_create(WEFT_KIND_WAIT));
	weft_close_as(other, weft_create(WEFT_KIND_WAIT));
	weft_time_out(weft_create(WEFT_KIND_WAIT));
	weft_become_as(task, weft_create(WEFT_KIND_UNKNOWN));
	weft_rundown_task(other, WEFT_KIND_BIND, "caf\xc3\xa9", 1000, last);
	weft_rundown_task(named, weft_kind("caf\xc3\xa9 \"bar\""), NULL, 7, WEFT_TASK_NONE);
	weft_rundown_task(last, 1000, NULL, WEFT_AGE_UNKNOWN, WEFT_TASK_NONE);
	weft_switch(UINT64_MAX);
}

static void record_calls(void)
{
	char calls[32];
	uint64_t cache = 0;
	uint32_t generation = 0;
	uint16_t module = weft__module("/srv/caf\xc3\xa9", "", &generation);
	int size = snprintf(calls, sizeof(calls), "%x:4f10 %x:4f20 +", module, module);
	if (module && weft__stack_name(&cache, generation, calls, (size_t)size))
		weft__stack(&cache);
}

static void record_text(const char *run_time)
{
	weft_label("a \"quoted\" \\ label");
	weft_label(run_time);
	weft_label_n(run_time, 2);
	weft_labelf("%s is %d of %.2f%%", run_time, -3, 99.5);
	weft_note("two\nlines");
	weft_note_n("not all of this", 7);
	weft_notef("%s is %d of %.2f%%", run_time, -3, 99.5);
	weft_tag("tag");
	weft_tag_value("negative", INT64_MIN);
	weft_tag_value("zero", 0);
	weft_mark("empty");
	weft_mark("request", "bytes", (uint64_t)UINT64_MAX, "change", (int64_t)-7, "ratio", 0.1, "path",
		run_time, "huge", 1e300);
	weft_counter_add("queue#1", -5);
	weft_counter_set("queue#1", INT64_MAX);
	weft_counter_add(run_time, 1);
	weft_counter_set("load", 0.75);
	weft_counter_add("load", -1e300);
	weft_begin("deflate");
	weft_begin(run_time);
	weft_end();
	weft_end();
	weft_span("disk", WEFT_CLOCK_RECORDER, "write", weft_now() - 1000, weft_now());
	weft_span("disk", WEFT_CLOCK_MONOTONIC, run_time, 0, UINT64_MAX);
	weft_span("gpu", WEFT_CLOCK_FOREIGN, "", 5, 7);
	weft_begin_as(UINT64_MAX, "thread");
	weft_end_as(UINT64_MAX);
	weft_band_begin(WEFT_BAND_IDLE, "poll");
	weft_band_end(WEFT_BAND_IDLE, "poll");
	weft_band_begin(WEFT_BAND_GC, "");
	weft_band_end(WEFT_BAND_GC, run_time);
	weft_gc(12345);
	weft_off_cpu(12345);
}

#undef WEFT_CATEGORY
#define WEFT_CATEGORY net
WEFT_CATEGORY_DEFINE(net, "net \"n\xc3\xa9t\"", "tasks of a category");

static void record_tasks_of_a_category(void)
{
	uint64_t lock = weft_create(WEFT_KIND_LOCK);
	uint64_t job = weft_create_as(lock, weft_kind("job"));
	weft_create_as(job, WEFT_KIND_TIMER);
	weft_tag_value_as(job, "size", 4096);
	weft_mark_as(job, "sent", "bytes", (uint64_t)UINT64_MAX, "change", (int64_t)-7, "ratio", 0.1,
		"path", "a \"b\"", "is_known", (bool)true);
	weft_operation_cancel(weft_operation_begin("read"), WEFT_TASK_NONE);
	weft_rundown_task(lock, WEFT_KIND_LOCK, NULL, 9, WEFT_TASK_NONE);
	weft_rundown_task(job, weft_kind("job"), "job", 9, lock);
}

static void *record(void *argument)
{
	static const char *const texts[] = {
		"", "caf\xc3\xa9", "\xff\xfe not UTF-8 \x80", "\x1b[31mred"};
	long rounds = *(const long *)argument;
	char long_text[1500];
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	for (long i = 0; i < rounds; i++) {
		record_edges();
		record_calls();
		record_tasks_of_a_category();
		for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++)
			record_text(texts[t]);
		if (i % 16 == 0)
			record_text(long_text);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];
	long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
	if (argc < 2 || weft_start(buffer, sizeof(buffer), NULL))
		return 2;
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, record, &rounds))
			return 1;
	record(&rounds);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	weft_stop();
	FILE *file = fopen(argv[1], "wb");
	if (!file || fwrite(buffer, sizeof(buffer), 1, file) != 1 || fclose(file))
		return 1;
	return 0;
}
