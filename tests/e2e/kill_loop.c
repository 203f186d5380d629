/* SPDX-License-Identifier: ISC
 *
 * Kills a recording program at random times, again and again, and reads its ring.
 *
 *     kill_loop COUNT SEED DIRECTORY [late]
 *
 * The program is this one: several threads number their events, and store the number of the last
 * one on a page that the killer shares, just after the call that recorded it. So the trace must
 * have each thread's events up to that number at least, without a gap, each of them whole; only the
 * oldest may be missing, and exactly as many as the trace says. One lane consists of many short
 * threads, one after the other. With `late`, the number is stored before the event, which the check
 * must notice.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/decoder.h>
#include <weft/source.h>
#include <weft/weft.h>

enum {
	LANES = 4, /* the last is of short threads */
	SHORT_EVENTS = 50,
	TEXT_MAX = 300,
};

struct page {
	atomic_uint_least64_t recorded[LANES]; /* events whose call has returned */
};

static struct page *page;
static bool is_late; /* the fault that the check must find */

/* ---- The program that is killed ---- */

static size_t text_of(uint64_t number, char *text)
{
	size_t size = (size_t)(number * 7 % TEXT_MAX);
	for (size_t i = 0; i < size; i++)
		text[i] = (char)('a' + (number + i) % 26);
	text[size] = '\0';
	return size;
}

/* Every length of event: 16 to some 330 bytes. */
static void record(unsigned lane, uint64_t number)
{
	char text[TEXT_MAX + 1];
	int64_t value = (int64_t)((uint64_t)lane << 56 | number);
	if (number % 16 == 3) {
		text_of(number, text);
		weft_mark("long", "value", value, "text", text);
	} else if (number % 16 == 9) {
		weft_tag_value_as(lane, "named", value);
	} else {
		weft_tag_value("short", value);
	}
}

static void record_and_report(unsigned lane, uint64_t number)
{
	if (is_late)
		atomic_store_explicit(&page->recorded[lane], number + 2, memory_order_release);
	record(lane, number);
	if (!is_late)
		atomic_store_explicit(&page->recorded[lane], number + 1, memory_order_release);
}

static void *record_for_ever(void *lane)
{
	for (uint64_t number = 0;; number++)
		record_and_report((unsigned)(uintptr_t)lane, number);
	return NULL;
}

static void *record_a_few(void *first)
{
	for (unsigned i = 0; i < SHORT_EVENTS; i++)
		record_and_report(LANES - 1, *(uint64_t *)first + i);
	return NULL;
}

static _Noreturn void be_killed(void)
{
	pthread_t thread;
	for (unsigned lane = 0; lane < LANES - 1; lane++)
		if (pthread_create(&thread, NULL, record_for_ever, (void *)(uintptr_t)lane))
			_exit(1);
	for (uint64_t number = 0;; number += SHORT_EVENTS)
		if (pthread_create(&thread, NULL, record_a_few, &number) || pthread_join(thread, NULL))
			_exit(1);
}

/* ---- The check ---- */

struct tally {
	uint64_t next[LANES];
	bool seen[LANES];
	uint64_t count;
	unsigned gaps;
	const char *problem;
};

static bool is_whole(const struct weft_event *event, uint64_t number)
{
	char text[TEXT_MAX + 1];
	if (event->type != WEFT_EVENT_MARK)
		return event->type == WEFT_EVENT_TAG && event->has_value;
	size_t size = text_of(number, text);
	return event->field_count == 2 && event->fields[1].type == WEFT_FIELD_TEXT &&
		   event->fields[1].value.text.size == size &&
		   memcmp(event->fields[1].value.text.bytes, text, size) == 0;
}

static void add(struct tally *tally, const struct weft_event *event)
{
	uint64_t value = (uint64_t)event->value;
	if (event->type == WEFT_EVENT_MARK && event->field_count > 0)
		value = (uint64_t)event->fields[0].value.i64;
	uint64_t lane = value >> 56, number = value & (((uint64_t)1 << 56) - 1);
	if (lane >= LANES || !is_whole(event, number)) {
		tally->problem = "an event is not whole";
		return;
	}
	if (tally->seen[lane] && number < tally->next[lane])
		tally->problem = "an event is there twice, or before an older one";
	/* Short threads may continue in either of two packets, one of which is overwritten first. */
	if (tally->seen[lane] && number > tally->next[lane] && lane != LANES - 1)
		tally->gaps++;
	tally->seen[lane] = true;
	tally->next[lane] = number + 1;
	tally->count++;
}

static uint64_t sum_of_losses(const struct weft_decoder *decoder)
{
	const struct weft_trace_description *trace = weft_decoder_describe(decoder);
	uint64_t sum = 0;
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		sum += trace->losses[cause];
	return sum;
}

/* Events that a lane has reported must be in the ring or counted as lost. It is unknown whether the
 * event in which a lane was killed was committed, so it counts if it is in the ring. If all events
 * of a lane were overwritten, the sum is only known to within one event. */
static void compare(struct tally *tally, struct weft_decoder *decoder)
{
	uint64_t written = 0, slack = 0;
	unsigned outlasted = 0;
	for (unsigned lane = 0; lane < LANES; lane++) {
		uint64_t reported = atomic_load(&page->recorded[lane]);
		/* A dead thread's open packet may outlast newer packets of its lane, which were taken and
		 * overwritten; so may one that a thread was about to claim, if the lane's own thread had no
		 * processor for long. The sum must count those events. */
		bool is_outlasted = tally->seen[lane] && tally->next[lane] < reported;
		if (!tally->seen[lane] || is_outlasted) {
			outlasted += is_outlasted;
			slack++;
			written += reported;
			continue;
		}
		if (tally->next[lane] > reported + 1)
			tally->problem = "there is an event that was never recorded";
		written += tally->next[lane];
	}
	uint64_t found = tally->count + sum_of_losses(decoder);
	/* A thread that was killed between advancing the hand and claiming the packet has left an old
	 * packet, while newer ones were overwritten. Each thread leaves at most one such packet.
	 */
	if (tally->gaps > LANES)
		tally->problem = "events are missing between others";
	if (outlasted && found < written)
		tally->problem = "a committed event is missing at the end";
	if (!tally->problem && (found < written || found > written + slack))
		tally->problem = "events that were read and lost are not those that were written";
	if (weft_decoder_diagnostics(decoder)->count)
		tally->problem = weft_decoder_diagnostics(decoder)->list[0].message;
}

static int read_events(struct weft_decoder *decoder, struct tally *tally)
{
	struct weft_event event;
	int status;
	while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK)
		if (!event.is_rundown)
			add(tally, &event);
	return status == WEFT_END ? 0 : status;
}

static int check_source(struct weft_source *source, struct tally *tally)
{
	struct weft_decoder *decoder;
	size_t size;
	const void *bytes = weft_source_bytes(source, &size);
	int error = weft_decoder_create(&decoder);
	if (error)
		return error;
	weft_decoder_feed_borrowed(decoder, bytes, size);
	error = weft_decoder_finish(decoder);
	if (!error)
		error = read_events(decoder, tally);
	if (!error)
		compare(tally, decoder);
	weft_decoder_destroy(decoder);
	return error;
}

static bool has_reported(void)
{
	for (unsigned lane = 0; lane < LANES; lane++)
		if (atomic_load(&page->recorded[lane]))
			return true;
	return false;
}

/* Returns NULL, or a description of the error. */
static const char *check(const char *path, uint64_t *ret_events)
{
	struct tally tally = {.problem = NULL};
	struct weft_source *source;
	int error = weft_source_open(path, &source);
	if (!error) {
		error = check_source(source, &tally);
		weft_source_close(source);
	}
	*ret_events = tally.count;
	/* Killed before it began to record: there is no ring yet, or an unfinished one. */
	if (error && !has_reported())
		return NULL;
	return error ? weft_error_text(error) : tally.problem;
}

/* ---- The killer ---- */

static uint64_t random_state;

static uint64_t random_below(uint64_t bound)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 33) % bound;
}

static pid_t start(char *self, const char *path)
{
	static const char *const sizes[] = {"64K", "256K", "1M", "4M"};
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	setenv("WEFT_OUT", path, 1);
	setenv("WEFT_SIZE", sizes[random_below(4)], 1);
	execl("/proc/self/exe", self, "killed", is_late ? "late" : "", (char *)NULL);
	_exit(1);
}

static void pause_ns(uint64_t ns)
{
	const struct timespec pause = {0, (long)ns};
	nanosleep(&pause, NULL);
}

/* One kill in four comes at any time, also while the program starts. The others wait for the first
 * event, because on a busy machine the program would otherwise rarely reach it. */
static void wait_before_kill(uint64_t delay_ns, bool waits_for_event)
{
	for (unsigned tries = 0; waits_for_event && !has_reported() && tries < 100000; tries++)
		pause_ns(100000);
	pause_ns(delay_ns);
}

static const char *kill_once(char *self, const char *path, uint64_t *ret_events)
{
	int status;
	memset(page, 0, sizeof(*page));
	unlink(path);
	uint64_t delay_ns = random_below(12000000);
	bool waits_for_event = random_below(4) != 0;
	pid_t pid = start(self, path);
	random_below(4); /* as the child did */
	wait_before_kill(delay_ns, waits_for_event);
	if (pid < 0 || kill(pid, SIGKILL) || waitpid(pid, &status, 0) != pid)
		return "the program could not be run";
	if (!WIFSIGNALED(status))
		return "the program ended by itself";
	return check(path, ret_events);
}

static int run(char *self, unsigned count, const char *directory)
{
	uint64_t total = 0, empty = 0;
	char path[4096];
	snprintf(path, sizeof(path), "%s/ring.weft", directory);
	for (unsigned i = 0; i < count; i++) {
		uint64_t events = 0;
		const char *problem = kill_once(self, path, &events);
		if (problem) {
			printf("kill %u: %s (%s)\n", i + 1, problem, path);
			return 1;
		}
		total += events;
		empty += events == 0;
	}
	unlink(path);
	printf("%u kills, %" PRIu64 " before the first event, %" PRIu64 " events read\n", count, empty,
		total);
	return 0;
}

/* Both sides have it at the same descriptor. */
#define PAGE_FD 100

static bool map_page(void)
{
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, PAGE_FD, 0);
	return page != MAP_FAILED;
}

static bool make_page(void)
{
	int fd = memfd_create("page", 0);
	return fd >= 0 && ftruncate(fd, sizeof(*page)) == 0 && dup2(fd, PAGE_FD) == PAGE_FD &&
		   map_page();
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "killed") == 0) {
		is_late = strcmp(argv[2], "late") == 0;
		if (!map_page() || !weft_is_recording())
			return 1;
		be_killed();
	}
	if (argc < 4 || !make_page()) {
		fprintf(stderr, "usage: kill_loop COUNT SEED DIRECTORY [late]\n");
		return 2;
	}
	random_state = strtoull(argv[2], NULL, 10);
	is_late = argc > 4 && strcmp(argv[4], "late") == 0;
	return run(argv[0], (unsigned)strtoul(argv[1], NULL, 10), argv[3]);
}
