/* SPDX-License-Identifier: ISC
 *
 * weft tail of a guest of Xen with mirage-profile. Its pages are CTF that tells only what they hold
 * now. So they are copied and decoded again whenever they have changed, and the events after the
 * last printed one are printed. What the guest overwrites in between is missing, and not counted.
 */
#include "tail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/decoder.h>
#include <weft/lines.h>

#include "cli/cli.h"
#include "cli/attach.h"

static const struct timespec LOOK = {0, 200000000};

struct pages {
	const struct tail_pages_options *options;
	char *copy;
	size_t size;
	uint64_t start_ns;  /* of the first event that was seen */
	uint64_t latest_ns; /* of the last one */
	uint64_t at_latest; /* number of events at that time */
	bool has_any;
};

/* True if the event came after the last look; `ret_same` counts those that have its time. */
static bool is_new(struct pages *p, uint64_t time_ns, uint64_t *same)
{
	if (p->has_any && time_ns < p->latest_ns)
		return false;
	if (p->has_any && time_ns == p->latest_ns && ++*same <= p->at_latest)
		return false;
	if (!p->has_any)
		p->start_ns = time_ns;
	p->at_latest = p->has_any && time_ns == p->latest_ns ? p->at_latest + 1 : 1;
	*same = p->at_latest;
	p->latest_ns = time_ns;
	return p->has_any = true;
}

static void add_events(
	struct pages *p, struct weft_decoder *decoder, bool prints, struct weft_text *text)
{
	struct weft_event event;
	struct weft_lines lines;
	uint64_t same = 0;
	while (weft_decoder_next(decoder, &event) == WEFT_OK) {
		if (!is_new(p, event.time_ns, &same) || !prints)
			continue;
		weft_lines_init(&lines, weft_decoder_describe(decoder), p->start_ns);
		if (p->options->json)
			weft_lines_add_json(&lines, &event, text);
		else
			weft_lines_add_text(&lines, &event, text);
	}
}

/* Prints the new events of the copy. False if standard output fails. */
static bool print_copy(struct pages *p, bool prints)
{
	struct weft_decoder *decoder;
	struct weft_text text = {0};
	bool good = true;
	if (weft_decoder_create(&decoder))
		return false;
	/* Pages that are being written may be damaged at their end: the next look shows them whole. */
	if (!weft_decoder_feed_borrowed(decoder, p->copy, p->size) && !weft_decoder_finish(decoder))
		add_events(p, decoder, prints, &text);
	if (text.size)
		good = cli_write(&text) && fflush(stdout) == 0;
	weft_text_finish(&text);
	weft_decoder_destroy(decoder);
	return good;
}

/* True if the pages differ from the copy, which is made anew. */
static bool take_copy(struct pages *p, const void *bytes)
{
	if (memcmp(p->copy, bytes, p->size) == 0)
		return false;
	memcpy(p->copy, bytes, p->size);
	return true;
}

int tail_pages(struct weft_guest *guest, const struct tail_pages_options *options)
{
	struct pages p = {.options = options};
	const void *bytes;
	bool good = true, has_ended = false, is_first = true;
	weft_guest_bytes(guest, &bytes, &p.size);
	p.copy = calloc(1, p.size);
	cli_catch_interrupts();
	while (p.copy && good && !has_ended && !cli_is_interrupted()) {
		if (!is_first)
			nanosleep(&LOOK, NULL);
		/* Asked before the copy, which then has all that the guest recorded before its end. */
		has_ended = weft_guest_look(guest) != WEFT_GUEST_OPEN;
		if (take_copy(&p, bytes))
			good = print_copy(&p, !is_first || !options->only_new);
		is_first = false;
	}
	if (!p.copy)
		cli_inform("%s", weft_error_text(WEFT_ERROR_MEMORY));
	int status = p.copy ? CLI_DONE : CLI_UNREADABLE;
	free(p.copy);
	return status;
}
