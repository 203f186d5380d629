/* SPDX-License-Identifier: ISC
 *
 * OCaml's runtime events: rings are merged by time, the runtime's and Eio's events have a meaning,
 * and damage is counted.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "decoded.h"

#define DOMAINS      2u
#define HEADER_BYTES 80u
#define RING_WORDS   64u
#define NAME_BYTES   128u
#define NAMES        8u
#define HEADERS      64u
#define DATA         (HEADERS + DOMAINS * HEADER_BYTES)
#define NAMES_AT     (DATA + DOMAINS * RING_WORDS * 8)

enum {
	LIFECYCLE = 1,
	BEGIN = 2,
	END = 3,
	COUNTER = 4,
	USER = 16,
	UNIT = 16,
	INT,
	SPAN_BEGIN,
	SPAN_END,
	CUSTOM
};

struct file {
	uint8_t bytes[NAMES_AT + NAMES * NAME_BYTES];
	uint64_t tails[DOMAINS];
};

static void store(struct file *f, size_t at, uint64_t word)
{
	for (unsigned i = 0; i < 8; i++)
		f->bytes[at + i] = (uint8_t)(word >> 8 * i);
}

static struct file new_file(void)
{
	static const char *const names[NAMES] = {"work", "count", "eio.create_obj", "eio.name",
		"eio.try_get", "eio.put", "eio.fiber", "eio.create_fiber"};
	static const uint64_t layout[] = {
		1, DOMAINS, HEADER_BYTES, RING_WORDS * 8, RING_WORDS, HEADERS, DATA, NAMES_AT};
	struct file f = {0};
	for (unsigned i = 0; i < 8; i++)
		store(&f, 8 * (size_t)i, layout[i]);
	for (unsigned i = 0; i < NAMES; i++)
		strcpy((char *)f.bytes + NAMES_AT + i * NAME_BYTES, names[i]);
	return f;
}

static void put(struct file *f, unsigned domain, uint64_t time, unsigned type, unsigned id,
	unsigned payload, const uint64_t *words)
{
	uint64_t head = (uint64_t)(payload + 2) << 54 | (uint64_t)(type >= USER) << 53 |
					(uint64_t)(type % USER) << 49 | (uint64_t)id << 36;
	size_t at = DATA + (domain * RING_WORDS + f->tails[domain] % RING_WORDS) * 8;
	store(f, at, head);
	store(f, at + 8, time);
	for (unsigned i = 0; i < payload; i++)
		store(f, at + 16 + 8 * (size_t)i, words[i]);
	f->tails[domain] += payload + 2;
	store(f, HEADERS + domain * HEADER_BYTES + 8, f->tails[domain]);
}

static void put_one(
	struct file *f, unsigned domain, uint64_t time, unsigned type, unsigned id, uint64_t word)
{
	put(f, domain, time, type, id, 1, &word);
}

/* A custom event of an id and up to seven bytes behind it. */
static void put_with_id(
	struct file *f, uint64_t time, unsigned id, uint64_t object, const char *more, size_t size)
{
	uint64_t words[2] = {object, (uint64_t)(7 - size) << 56};
	for (size_t i = 0; i < size; i++)
		words[1] |= (uint64_t)(uint8_t)more[i] << 8 * i;
	put(f, 0, time, CUSTOM, id, 2, words);
}

static struct decoded decoded(const struct file *f)
{
	struct decoded d = decode(f->bytes, sizeof(f->bytes), 0);
	assert_string_equal(d.format, "ocaml-events");
	assert_true(d.in_order);
	return d;
}

static void assert_lines(const struct file *f, const char *lines)
{
	struct decoded d = decoded(f);
	assert_string_equal(d.lines.bytes, lines);
	assert_int_equal(d.diagnostics.count, 0);
	weft_text_finish(&d.lines);
}

static void start(struct file *f, unsigned leader)
{
	put_one(f, 0, 1000, LIFECYCLE, 0, 4711);
	put(f, 0, 1001, END, leader, 0, NULL);
}

/* Number 10 is the minor collection in OCaml 5.2, and marking in 5.3. */
static void the_first_end_tells_the_version(void **state)
{
	static const struct {
		unsigned leader;
		const char *name;
	} versions[] = {{32, "minor GC"}, {35, "major GC: mark"}, {33, "phase 10"}};
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct file f = new_file();
		start(&f, versions[i].leader);
		put(&f, 0, 1010, BEGIN, 10, 0, NULL);
		put(&f, 0, 1011, BEGIN, 6, 0, NULL);
		put(&f, 0, 1012, END, 6, 0, NULL);
		put(&f, 0, 1020, END, 10, 0, NULL);
		struct decoded d = decoded(&f);
		assert_int_equal(d.count, 2);
		assert_non_null(strstr(d.lines.bytes, versions[i].name));
		weft_text_finish(&d.lines);
	}
}

static void rings_are_merged_by_time(void **state)
{
	(void)state;
	struct file f = new_file();
	start(&f, 32);
	put(&f, 0, 1010, SPAN_BEGIN, 0, 0, NULL);
	put_one(&f, 1, 1015, INT, 1, 5);
	put(&f, 0, 1020, SPAN_END, 0, 0, NULL);
	put(&f, 1, 1025, UNIT, 0, 0, NULL);
	put_one(&f, 1, 1030, CUSTOM, 0, UINT64_C(0x0500000000006f6a)); /* "jo" and 5 bytes of padding */
	put_one(&f, 1, 1040, COUNTER, 4, 64);
	assert_lines(&f,
		"{\"time\":1010,\"event\":\"begin\",\"task\":null,\"name\":\"work\",\"thread\":0}\n"
		"{\"time\":1015,\"event\":\"counter\",\"task\":null,\"name\":\"count\",\"value\":5,\"thread\":1}\n"
		"{\"time\":1020,\"event\":\"end\",\"task\":null,\"thread\":0}\n"
		"{\"time\":1025,\"event\":\"note\",\"task\":null,\"text\":\"work\",\"thread\":1}\n"
		"{\"time\":1030,\"event\":\"note\",\"task\":null,\"text\":\"work: jo\",\"thread\":1}\n"
		"{\"time\":1040,\"event\":\"counter\",\"task\":null,\"name\":\"promoted by minor GC\",\"value\":64,\"thread\":1}\n");
}

static void eios_objects_are_tasks(void **state)
{
	(void)state;
	struct file f = new_file();
	const uint64_t fiber[] = {7, 1};
	start(&f, 32);
	put(&f, 0, 1010, CUSTOM, 7, 2, fiber);
	put_one(&f, 0, 1011, INT, 6, 7);
	put_with_id(&f, 1012, 2, 8, "\x0f", 1);
	put_with_id(&f, 1013, 3, 8, "reply", 5);
	put_one(&f, 0, 1014, INT, 4, 8);
	put_one(&f, 0, 1015, INT, 5, 8);
	assert_lines(&f,
		"{\"time\":1010,\"event\":\"create\",\"task\":null,\"child\":7,\"kind\":\"task\"}\n"
		"{\"time\":1011,\"event\":\"switch\",\"task\":7}\n"
		"{\"time\":1012,\"event\":\"create\",\"task\":7,\"child\":8,\"kind\":\"promise\"}\n"
		"{\"time\":1013,\"event\":\"label\",\"task\":8,\"text\":\"reply\"}\n"
		"{\"time\":1014,\"event\":\"try_read\",\"task\":7,\"source\":8}\n"
		"{\"time\":1015,\"event\":\"resolve\",\"task\":7,\"target\":8}\n");
}

static void damage_ends_a_ring(void **state)
{
	(void)state;
	struct file f = new_file();
	start(&f, 32);
	put(&f, 0, 1010, SPAN_BEGIN, 0, 0, NULL);
	put(&f, 0, 900, SPAN_END, 0, 0, NULL);  /* earlier than the one before */
	store(&f, HEADERS + 8, f.tails[0] + 1); /* a word without a length */
	put_one(&f, 1, 1015, INT, 1, 5);
	put(&f, 1, 1016, INT, 1, 0, NULL); /* without its number */
	struct decoded d = decoded(&f);
	uint64_t at;
	assert_int_equal(d.count, 3);
	assert_int_equal(
		times_reported(&d, "an item is damaged; the rest of its ring is lost", &at), 1);
	assert_int_equal(
		times_reported(&d, "time goes backwards within a ring; the previous time is used", &at), 1);
	assert_int_equal(times_reported(&d, "a counter lacks its value", &at), 1);
	weft_text_finish(&d.lines);
}

/* An item may be half written, or reach beyond the ring. What is before it is read. */
static void an_item_is_whole_or_damaged(void **state)
{
	(void)state;
	for (unsigned words = 0; words <= RING_WORDS; words++)
		for (unsigned missing = 0; missing < 3; missing++) {
			struct file f = new_file();
			uint64_t at;
			put(&f, 0, 1000, UNIT, 0, 0, NULL);
			put(&f, 0, 1001, UNIT, 1, 0, NULL);
			store(&f, DATA + 16, (uint64_t)words << 54 | (uint64_t)1 << 53 | (uint64_t)1 << 36);
			store(&f, HEADERS + 8, f.tails[0] - missing);
			const bool is_damaged = missing < 2 && words != 2 - missing;
			struct decoded d = decoded(&f);
			assert_int_equal(d.count, words == 2 && missing == 0 ? 2 : 1);
			assert_int_equal(
				times_reported(&d, "an item is damaged; the rest of its ring is lost", &at),
				is_damaged);
			weft_text_finish(&d.lines);
		}
}

/* Only the last words are there; how many events were lost is unknown, so only the words are said.
 */
static void a_ring_says_how_many_words_it_has_lost(void **state)
{
	(void)state;
	struct file f = new_file();
	for (uint64_t i = 0; i < 40; i++)
		put(&f, 0, 1000 + i, UNIT, 0, 0, NULL);
	store(&f, HEADERS, 16);
	struct decoded d = decoded(&f);
	assert_int_equal(d.count, 33);
	assert_non_null(strstr(d.lines.bytes, "overwritten before: 16"));
	assert_int_equal(d.diagnostics.count, 0);
	weft_text_finish(&d.lines);
}

static void other_files_are_refused(void **state)
{
	(void)state;
	static const struct {
		size_t at;
		uint64_t word;
	} wrong[] = {
		{0, 2}, {8, 0}, {8, 70000}, {16, 8}, {24, 8}, {32, 63}, {40, 65}, {48, 0}, {56, 1}};
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct file f = new_file();
		start(&f, 32);
		store(&f, wrong[i].at, wrong[i].word);
		struct decoded d = decode(f.bytes, sizeof(f.bytes), 0);
		assert_string_equal(d.format, "unknown");
		weft_text_finish(&d.lines);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_end_tells_the_version),
		cmocka_unit_test(rings_are_merged_by_time),
		cmocka_unit_test(eios_objects_are_tasks),
		cmocka_unit_test(damage_ends_a_ring),
		cmocka_unit_test(an_item_is_whole_or_damaged),
		cmocka_unit_test(a_ring_says_how_many_words_it_has_lost),
		cmocka_unit_test(other_files_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
