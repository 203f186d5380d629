/* SPDX-License-Identifier: ISC
 *
 * Events of Xen's trace while it grows: they are those of the whole file, however its bytes come,
 * but for what records say too late. With files as arguments, checks that of these.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <weft/text.h>

#include "decoded.h"
#include "xentrace_events.h"

#define HZ UINT64_C(1000000000)

/* ---- Events as text ---- */

/* A pCPU's index is the order of its first record in a growing file, and a domain's buffer that of
 * its first vCPU. So names are printed in their place. */
static uint32_t domain_of(const struct weft_trace_description *d, uint32_t buffer)
{
	assert_true(buffer < d->buffer_count);
	return d->buffers[buffer].guest;
}

static uint64_t task_of(const struct weft_trace_description *d, uint32_t buffer, uint64_t task)
{
	bool is_scheduler = buffer == 0 && task > 0 && task < 65536;
	return is_scheduler ? d->threads[task - 1].tid + 1 : task;
}

static void add_event(
	struct weft_text *text, const struct weft_trace_description *d, const struct weft_event *e)
{
	char line[512];
	struct weft_event event = *e;
	event.task = task_of(d, e->buffer, e->task);
	event.other = task_of(d, e->buffer, e->other);
	event.buffer = domain_of(d, e->buffer);
	if (e->type == WEFT_EVENT_SWITCH) {
		assert_true(e->thread < d->thread_count);
		event.thread = (uint32_t)d->threads[e->thread].tid;
	}
	weft_text_add(text, line, print_event(line, sizeof(line), &event));
}

/* Takes events until there are none for now; returns the status. */
static int take_events(struct weft_decoder *decoder, struct weft_text *text)
{
	struct weft_event event;
	int status;
	while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK)
		add_event(text, weft_decoder_describe(decoder), &event);
	return status;
}

static struct weft_decoder *create(void)
{
	struct weft_decoder *decoder;
	assert_int_equal(weft_decoder_create(&decoder), 0);
	weft_decoder_set_hz(decoder, HZ);
	return decoder;
}

static void add_end(struct weft_text *text, struct weft_decoder *decoder)
{
	char line[128];
	const struct weft_trace_description *d = weft_decoder_describe(decoder);
	for (uint32_t i = 0; i < d->loss_period_count; i++) {
		const struct weft_loss_period *p = &d->loss_periods[i];
		int size = snprintf(line, sizeof(line), "loss %llu to %llu: %llu on %llu\n",
			(unsigned long long)p->start, (unsigned long long)p->end, (unsigned long long)p->count,
			(unsigned long long)d->threads[p->thread].tid);
		weft_text_add(text, line, (size_t)size);
	}
	int size = snprintf(line, sizeof(line), "%u buffers, %u threads, to %llu\n", d->buffer_count,
		d->thread_count, (unsigned long long)d->buffers[0].end_ns);
	weft_text_add(text, line, (size_t)size);
	assert_int_equal(text->error, 0);
}

static struct weft_text read_whole(const uint8_t *bytes, size_t size)
{
	struct weft_text text = {0};
	struct weft_decoder *decoder = create();
	assert_int_equal(weft_decoder_feed_borrowed(decoder, bytes, size), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	assert_int_equal(take_events(decoder, &text), WEFT_END);
	add_end(&text, decoder);
	weft_decoder_destroy(decoder);
	return text;
}

/* Feeds pieces of that size, and takes the events after each. `*ret_early`: the bytes of text that
 * came before the last piece. */
static struct weft_text read_growing(
	const uint8_t *bytes, size_t size, size_t piece, size_t *ret_early)
{
	struct weft_text text = {0};
	struct weft_decoder *decoder = create();
	for (size_t at = 0; at < size; at += piece) {
		*ret_early = text.size;
		assert_int_equal(
			weft_decoder_feed(decoder, bytes + at, size - at < piece ? size - at : piece), 0);
		assert_int_equal(take_events(decoder, &text), WEFT_AGAIN);
	}
	assert_true(weft_decoder_is_pending(decoder));
	assert_int_equal(weft_decoder_finish(decoder), 0);
	assert_int_equal(take_events(decoder, &text), WEFT_END);
	assert_int_equal(weft_decoder_diagnostics(decoder)->count, 0);
	add_end(&text, decoder);
	weft_decoder_destroy(decoder);
	return text;
}

/* Fails with the first lines that differ. */
static void assert_same_text(const struct weft_text *got, const struct weft_text *expected)
{
	size_t same = 0, from;
	while (same < got->size && same < expected->size && got->bytes[same] == expected->bytes[same])
		same++;
	if (same == got->size && same == expected->size)
		return;
	for (from = same; from && got->bytes[from - 1] != '\n';)
		from--;
	fail_msg("after %zu of %zu bytes:\n%.*s\ninstead of:\n%.*s", same, expected->size,
		(int)(got->size - from < 600 ? got->size - from : 600), got->bytes + from,
		(int)(expected->size - from < 600 ? expected->size - from : 600), expected->bytes + from);
}

/* Checks a trace that comes in pieces; most of its events come before the end. */
static void assert_grows(const uint8_t *bytes, size_t size, size_t piece)
{
	size_t early;
	struct weft_text whole = read_whole(bytes, size);
	struct weft_text growing = read_growing(bytes, size, piece, &early);
	assert_same_text(&growing, &whole);
	assert_true(early > whole.size / 4);
	weft_text_finish(&whole);
	weft_text_finish(&growing);
}

/* ---- Random traces ---- */

#define CPUS    4
#define RECORDS 8000
#define STEP    UINT64_C(200000) /* cycles from one record to the next */
#define TURN    UINT64_C(100000000)

struct random_record {
	uint64_t cycles;
	uint32_t cpu, id, words[7];
	size_t count;
};

struct random_trace {
	uint64_t random;
	struct random_record list[RECORDS];
	uint32_t count;
	bool runs[CPUS]; /* a vCPU: that of the pCPU's number, of domain 3 times the number */
};

static uint32_t below(struct random_trace *t, uint32_t limit)
{
	return next_random(&t->random) % limit;
}

static void add(struct random_trace *t, uint32_t cpu, uint32_t id, const uint64_t *words, size_t n)
{
	struct random_record *record = &t->list[t->count];
	*record = (struct random_record){.cpu = cpu, .id = id, .count = n};
	record->cycles = 1000 + t->count * STEP;
	for (size_t i = 0; i < n; i++)
		record->words[i] = (uint32_t)words[i];
	t->count++;
}

#define ADD(t, cpu, id, ...)                         \
	add(t, cpu, id, (const uint64_t[]){__VA_ARGS__}, \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void add_runstate(struct random_trace *t, uint32_t cpu, uint32_t old, uint32_t now)
{
	ADD(t, cpu, 0x21001 | old << 8 | now << 4, (uint64_t)cpu | 3 * cpu << 16);
}

static void add_hypercall(struct random_trace *t, uint32_t cpu)
{
	uint32_t count = below(t, 5) | (below(t, 2) ? PREEMPTED : 0);
	static const uint32_t ops[] = {XEN_VERSION, IRET, SCHED_OP, EVENT_CHANNEL_OP};
	switch (below(t, 4)) {
	case 0:
		ADD(t, cpu, 0x20100d, ops[below(t, 4)]);
		break;
	case 1:
		ADD(t, cpu, 0x20100d, MULTICALL | 1u << 22, 1 + below(t, 3));
		ADD(t, cpu, 0x20200e, XEN_VERSION);
		break;
	default:
		ADD(t, cpu, 0x20100d, MMU_UPDATE | 1u << 22, count);
	}
}

/* The record comes at the end, and has the cycles of the begin. */
static void add_interrupt(struct random_trace *t, uint32_t cpu)
{
	uint64_t now = 1000 + t->count * STEP;
	uint64_t length = below(t, 40) * STEP / 10;
	ADD(t, cpu, 0x802008, below(t, 20), (now > length ? now - length : 0) & UINT32_MAX,
		now & UINT32_MAX);
}

static void add_loss(struct random_trace *t, uint32_t cpu)
{
	uint64_t first = 1000 + t->count * STEP - below(t, 20) * STEP / 10;
	ADD(t, cpu, 0x1f001, 1 + below(t, 9), 3 * cpu | cpu << 16, first & UINT32_MAX, first >> 32);
}

/* A vCPU stops and another one begins, or the scheduler lets it go on. */
static void add_switch(struct random_trace *t, uint32_t cpu)
{
	ADD(t, cpu, 0x22215, 0, below(t, 2) ? 0x01000000 : 0);
	if (below(t, 2)) {
		ADD(t, cpu, 0x21002, (uint64_t)cpu | 3 * cpu << 16);
		return;
	}
	add_runstate(t, cpu, t->runs[cpu] ? RUNNING : RUNNABLE, t->runs[cpu] ? BLOCKED : RUNNING);
	t->runs[cpu] = !t->runs[cpu];
}

static void add_random(struct random_trace *t)
{
	/* The last pCPU, and its domain, appear late. */
	uint32_t cpus = t->count < RECORDS / 2 ? CPUS - 1 : CPUS, cpu = below(t, cpus);
	switch (below(t, 16)) {
	case 0:
	case 1:
	case 2:
		add_switch(t, cpu);
		break;
	case 3:
		add_interrupt(t, cpu);
		break;
	case 4:
		ADD(t, cpu, 0x22206, below(t, cpus) | 0x70000); /* a tickle */
		break;
	case 5:
		if (below(t, 8) == 0)
			add_loss(t, cpu);
		break;
	case 6:
		ADD(t, cpu, below(t, 4) ? 0x28001 : 0x28002, 3 * below(t, cpus)); /* domains come and go */
		break;
	default:
		add_hypercall(t, cpu);
	}
}

/* Writes what a pCPU recorded between two times as a window. */
static void write_window(struct made_xentrace *made, const struct random_trace *t, uint32_t cpu,
	uint64_t from, uint64_t to)
{
	bool has_window = false;
	for (uint32_t i = 0; i < t->count; i++) {
		const struct random_record *record = &t->list[i];
		if (record->cpu != cpu || record->cycles < from || record->cycles >= to)
			continue;
		if (!has_window)
			xentrace_window(made, cpu);
		has_window = true;
		xentrace_record(made, record->id, record->cycles, record->words, record->count);
	}
}

/* xentrace reads one pCPU after the other, a moment later each. */
static struct made_xentrace *random_trace(struct random_trace *t, uint64_t seed)
{
	struct made_xentrace *made = xentrace_begin();
	uint64_t read[CPUS] = {0};
	*t = (struct random_trace){.random = seed};
	while (t->count < RECORDS - 4)
		add_random(t);
	for (uint64_t now = TURN; read[CPUS - 1] <= 1000 + RECORDS * STEP; now += TURN)
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			uint64_t until = now + cpu * TURN / 20;
			write_window(made, t, cpu, read[cpu], until);
			read[cpu] = until;
		}
	return made;
}

static void random_traces_have_the_events_of_the_whole_file(void **state)
{
	(void)state;
	static const size_t pieces[] = {997, 20000, 65536};
	struct random_trace *t = malloc(sizeof(*t));
	assert_non_null(t);
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct made_xentrace *made = random_trace(t, seed);
		assert_grows(made->bytes, made->size, pieces[seed % 3]);
		free(made);
	}
	free(t);
}

/* ---- What is limited ---- */

/* Feeds all, takes the events that come before the end, then the others. */
static struct weft_text read_at_once(const struct made_xentrace *t)
{
	size_t early;
	return read_growing(t->bytes, t->size, t->size, &early);
}

/* The first hypercall leaves the queue when pCPU 1 has a record that is more than 0.1 s later. */
static struct made_xentrace *make_late(uint64_t later)
{
	struct made_xentrace *t = start();
	call_count(t, 1100, MMU_UPDATE, 9);
	xentrace_window(t, 1);
	RECORD(t, 0x28001, 1200, 1);
	RECORD(t, 0x28001, 1100 + later, 2);
	xentrace_window(t, 0);
	call_count(t, 1200 + later, MMU_UPDATE, 4 | PREEMPTED);
	RECORD(t, 0x802008, 1300 + later, 7, 1150, 1300 + later);
	return t;
}

static void a_tenth_of_a_second_is_looked_ahead(void **state)
{
	(void)state;
	struct made_xentrace *t = make_late(100000000);
	struct weft_text whole = read_whole(t->bytes, t->size), growing = read_at_once(t);
	assert_same_text(&growing, &whole);
	weft_text_finish(&whole);
	weft_text_finish(&growing);
	free(t);
}

static void what_is_known_too_late_is_left_out(void **state)
{
	(void)state;
	struct made_xentrace *t = make_late(100000001);
	struct weft_text growing = read_at_once(t);
	weft_text_add(&growing, "", 1);
	assert_string_equal(growing.bytes, "0 alive 1.1 vcpu d0v0\n"
									   "0 switch cpu0 1.1\n"
									   "0 begin - d0v0\n"
									   "100 begin 1.1 mmu_update ×9\n"
									   "200 mark - sched_init_domain d1\n"
									   "200 alive 0.65543 irq irq 7\n"
									   "200 switch cpu0 0.65543\n"
									   "100000101 mark - sched_init_domain d2\n"
									   "100000201 end 1.1\n"
									   "100000201 begin 1.1 mmu_update ×4\n"
									   "100000301 switch cpu0 1.1\n"
									   "2 buffers, 2 threads, to 100000301\n");
	weft_text_finish(&growing);
	free(t);
}

/* The record of a loss of 0.4 s comes when pCPU 1 has given later records. */
static void a_long_loss_is_no_damage(void **state)
{
	(void)state;
	struct made_xentrace *t = start();
	call_count(t, 1100, MMU_UPDATE, 9);
	for (uint32_t turn = 1; turn <= 4; turn++) {
		xentrace_window(t, 1);
		RECORD(t, 0x28001, 1000 + turn * UINT64_C(100000000), turn);
	}
	xentrace_window(t, 0);
	xentrace_lost(t, 400002000, 77, 0, 0, 1200);
	call_count(t, 400003000, XEN_VERSION, 0);
	size_t early;
	struct weft_text growing = read_growing(t->bytes, t->size, t->window, &early);
	weft_text_add(&growing, "", 1);
	assert_string_equal(growing.bytes, "0 alive 1.1 vcpu d0v0\n"
									   "0 switch cpu0 1.1\n"
									   "0 begin - d0v0\n"
									   "100 begin 1.1 mmu_update ×9\n"
									   "100000000 mark - sched_init_domain d1\n"
									   "200000000 mark - sched_init_domain d2\n"
									   "300000000 mark - sched_init_domain d3\n"
									   "300000000 end 1.1\n"
									   "300000000 switch cpu0 -\n"
									   "300000000 end -\n"
									   "400000000 mark - sched_init_domain d4\n"
									   "400001000 switch cpu0 1.1\n"
									   "400001000 begin - d0v0\n"
									   "400002000 begin 1.1 xen_version\n"
									   "loss 200 to 400001000: 77 on 0\n"
									   "2 buffers, 2 threads, to 400002000\n");
	weft_text_finish(&growing);
	free(t);
}

#define MANY 600000u

static void put(uint8_t *bytes, size_t at, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		bytes[at + i] = (uint8_t)(word >> 8 * i);
}

/* Writes a window with one record at that time, and `more` records at the same. */
static size_t put_many(uint8_t *bytes, size_t at, uint32_t cycles, uint32_t more)
{
	const uint32_t head[] = {0x2001f003, 0, 16 + 8 * more, 0x90028001, cycles, 0, 1};
	for (unsigned i = 0; i < 7; i++)
		put(bytes, at + 4 * i, head[i]);
	at += sizeof(head);
	for (uint32_t i = 0; i < more; i++, at += 8) {
		put(bytes, at, 0x10028001);
		put(bytes, at + 4, 1);
	}
	return at;
}

static uint32_t count_events(struct weft_decoder *decoder, int expected)
{
	struct weft_event event;
	uint32_t count = 0;
	int status;
	while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK)
		count++;
	assert_int_equal(status, expected);
	return count;
}

/* More records at one time than the queue holds. */
static void the_queue_is_limited(void **state)
{
	(void)state;
	uint8_t *bytes = malloc(8 * MANY + 100);
	assert_non_null(bytes);
	size_t size = put_many(bytes, put_many(bytes, 0, 1000, MANY - 1), 2000, 0);
	struct weft_decoder *decoder = create();
	assert_int_equal(weft_decoder_feed(decoder, bytes, size), 0);
	uint32_t early = count_events(decoder, WEFT_AGAIN);
	assert_true(early > 50000 && early < MANY);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	assert_int_equal(early + count_events(decoder, WEFT_END), MANY + 1);
	weft_decoder_destroy(decoder);
	free(bytes);
}

static void the_time_that_is_reached_is_told(void **state)
{
	(void)state;
	struct made_xentrace *t = make_late(300000000);
	struct weft_decoder *decoder = create();
	assert_int_equal(weft_decoder_mark(decoder), 0);
	assert_int_equal(weft_decoder_feed(decoder, t->bytes, t->size), 0);
	count_events(decoder, WEFT_AGAIN);
	/* pCPU 1 may have more records after 1100 cycles: only the begin of a turn tells. */
	assert_int_equal(weft_decoder_mark(decoder), 0);
	size_t before = t->size;
	xentrace_window(t, 1);
	RECORD(t, 0x28001, 500000000, 2);
	xentrace_window(t, 0);
	RECORD(t, 0x28001, 600000000, 2);
	assert_int_equal(weft_decoder_feed(decoder, t->bytes + before, t->size - before), 0);
	count_events(decoder, WEFT_AGAIN);
	assert_int_equal(weft_decoder_mark(decoder), 300001300 - 100000000 - 1000);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	weft_decoder_destroy(decoder);
	free(t);
}

/* A merged trace gives numbers to the buffers of its parts when it begins. */
static void a_part_is_read_whole(void **state)
{
	(void)state;
	struct made_xentrace *t = make_late(300000000);
	struct weft_decoder *part = create(), *merged;
	const struct weft_decoder_part parts[] = {{part, "a"}};
	assert_int_equal(weft_decoder_create_merged(parts, 1, &merged), 0);
	assert_int_equal(weft_decoder_feed(part, t->bytes, t->size), 0);
	assert_int_equal(count_events(merged, WEFT_AGAIN), 0);
	assert_int_equal(weft_decoder_finish(part), 0);
	assert_true(count_events(merged, WEFT_END) > 5);
	weft_decoder_destroy(merged);
	weft_decoder_destroy(part);
	free(t);
}

/* ---- Files ---- */

static void check_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	size_t most = (size_t)64 << 20;
	uint8_t *bytes = malloc(most);
	assert_non_null(bytes);
	size_t size = fread(bytes, 1, most, file);
	fclose(file);
	assert_grows(bytes, size, 30000);
	free(bytes);
}

static char **files;

static void files_have_the_events_of_the_whole_file(void **state)
{
	(void)state;
	for (char **file = files; *file; file++)
		check_file(*file);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_traces_have_the_events_of_the_whole_file),
		cmocka_unit_test(a_tenth_of_a_second_is_looked_ahead),
		cmocka_unit_test(what_is_known_too_late_is_left_out),
		cmocka_unit_test(a_long_loss_is_no_damage),
		cmocka_unit_test(the_queue_is_limited),
		cmocka_unit_test(the_time_that_is_reached_is_told),
		cmocka_unit_test(a_part_is_read_whole),
	};
	const struct CMUnitTest of_files[] = {
		cmocka_unit_test(files_have_the_events_of_the_whole_file),
	};
	files = argv + 1;
	return argc > 1 ? cmocka_run_group_tests(of_files, NULL, NULL)
					: cmocka_run_group_tests(tests, NULL, NULL);
}
