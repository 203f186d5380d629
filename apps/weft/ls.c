/* SPDX-License-Identifier: ISC
 *
 * weft ls: lists programs that record now, and rings that were left behind; in dom0 of Xen, also
 * guests that record.
 */
#include "cli/cli.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <weft/buffer.h>

#include "runs/attach/page.h"
#include "runs/directory/directory.h"
#include "runs/directory/find.h"
#include "runs/guests/guest.h"
#include "runs/guests/guests.h"
#include "runs/guests/list.h"
#include "runs/message.h"

static const char usage[] =
	"usage: weft ls [--json]\n"
	"\n"
	"Lists the rings in the run directories: of programs under `weft record`, and of those whose\n"
	"`weft record` was killed. Also lists programs that could record, but do not.\n"
	"\n"
	"  running   the program records; `weft tail PID` follows it\n"
	"  stopped   the program has stopped recording, but runs\n"
	"  dead      the program has ended, and its trace is being saved\n"
	"  linked    the program could record, but does not; `weft record` attaches to it by its PID\n"
	"  orphaned  the program has ended, and its `weft record` ended before it saved the trace\n"
	"\n"
	"In dom0 of Xen, for root, it also lists the guests that record, by the names that commands\n"
	"take. They are running or stopped, or:\n"
	"\n"
	"  crashed   the domain has crashed, and is preserved\n"
	"  dead      the domain has shut down\n"
	"  unread    the buffer cannot be read; the reason stands in place of the program\n"
	"\n"
	"  --json  one JSON object on each line\n"
	"  --help  this text\n";

/* A ring and its summary. */
struct row {
	const struct weft__runs_found *ring;
	struct weft_buffer_summary summary;
	size_t bytes;
	uint64_t lost;
};

static const char *state_of(const struct row *row)
{
	const struct weft__runs_found *ring = row->ring;
	if (row->summary.is_stopped && ring->is_alive)
		return "stopped";
	return ring->ring.is_running ? "running" : ring->is_attended ? "dead" : "orphaned";
}

static uint64_t lost_of(const struct weft_buffer_summary *summary)
{
	uint64_t lost = 0;
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		lost += summary->losses[cause];
	return lost;
}

/* Reads a ring's summary; false if it no longer exists, or is not a buffer yet. */
static bool read_row(const struct weft__runs_found *ring, struct row *ret_row)
{
	struct row row = {.ring = ring};
	if (!weft__runs_ring_summarize(ring->path, ring->ring.pid, &row.summary, &row.bytes))
		return false;
	row.lost = lost_of(&row.summary);
	*ret_row = row;
	return true;
}

/* Seconds since then; -1 if it is unknown. */
static int64_t age_since(uint64_t unix_ns)
{
	int64_t start = (int64_t)(unix_ns / 1000000000);
	int64_t age = (int64_t)time(NULL) - start;
	return start == 0 ? -1 : age < 0 ? 0 : age;
}

static void add_age(struct weft_text *text, int64_t age)
{
	char cell[48] = "?";
	if (age >= 86400)
		snprintf(cell, sizeof(cell), "%" PRId64 "d%02dh", age / 86400, (int)(age % 86400 / 3600));
	else if (age >= 3600)
		snprintf(cell, sizeof(cell), "%dh%02dm", (int)(age / 3600), (int)(age % 3600 / 60));
	else if (age >= 60)
		snprintf(cell, sizeof(cell), "%dm%02ds", (int)(age / 60), (int)(age % 60));
	else if (age >= 0)
		snprintf(cell, sizeof(cell), "%ds", (int)age);
	weft_text_add_string(text, cell);
}

static void add_size(struct weft_text *text, uint64_t bytes)
{
	static const char units[] = "BKMGT";
	unsigned unit = 0;
	for (; bytes >= 1024 && bytes % 1024 == 0 && unit < 4; unit++)
		bytes /= 1024;
	weft_text_add_u64(text, bytes);
	weft_text_add(text, &units[unit], 1);
}

/* A line of a process that does not record: without size and events. */
static void add_linked_text(const struct weft__runs_linked *linked, struct weft_text *text)
{
	size_t column = text->size;
	weft_text_add_u64(text, (uint64_t)linked->pid);
	weft_text_pad(text, column, 9);
	weft_text_add_string(text, "linked");
	weft_text_pad(text, column, 19);
	add_age(text, age_since(linked->started_unix_ns));
	weft_text_pad(text, column, 28);
	weft_text_add_string(text, "-        -           -           ");
	weft_text_add_string(text, weft__runs_shown(linked->program));
	weft_text_add(text, "\n", 1);
}

static void add_text(const struct row *row, struct weft_text *text)
{
	size_t column = text->size;
	weft_text_add_u64(text, (uint64_t)row->ring->ring.pid);
	weft_text_pad(text, column, 9);
	weft_text_add_string(text, state_of(row));
	weft_text_pad(text, column, 19);
	add_age(text, age_since(row->summary.start_unix_ns));
	weft_text_pad(text, column, 28);
	add_size(text, row->bytes);
	weft_text_pad(text, column, 37);
	weft_text_add_u64(text, row->summary.events);
	weft_text_pad(text, column, 49);
	weft_text_add_u64(text, row->lost);
	weft_text_pad(text, column, 61);
	/* A program's name may contain any bytes: escape it. */
	weft_text_add_string(text, weft__runs_shown(row->summary.program));
	weft_text_add(text, "\n", 1);
}

static void add_json(const struct row *row, struct weft_text *text)
{
	const struct weft__runs_found *ring = row->ring;
	cli_add_number(text, "{\"pid\":", (uint64_t)ring->ring.pid);
	cli_add_json(text, ",\"program\":", row->summary.program);
	weft_text_add_string(text, ",\"state\":\"");
	weft_text_add_string(text, state_of(row));
	weft_text_add_string(
		text, ring->is_attended ? "\",\"attended\":true" : "\",\"attended\":false");
	cli_add_number(text, ",\"started\":", row->summary.start_unix_ns);
	cli_add_number(text, ",\"bytes\":", row->bytes);
	cli_add_number(text, ",\"events\":", row->summary.events);
	cli_add_losses(text, ",\"losses\":", row->summary.losses);
	cli_add_json(text, ",\"path\":", ring->path);
	weft_text_add_string(text, "}\n");
}

static void add_linked_json(const struct weft__runs_linked *linked, struct weft_text *text)
{
	cli_add_number(text, "{\"pid\":", (uint64_t)linked->pid);
	cli_add_json(text, ",\"program\":", linked->program);
	weft_text_add_string(text, ",\"state\":\"linked\",\"attended\":false");
	cli_add_number(text, ",\"started\":", linked->started_unix_ns);
	weft_text_add_string(text, ",\"bytes\":0,\"events\":0,\"losses\":{},\"path\":null}\n");
}

/* The lines so far. */
struct ls_lines {
	struct weft_text text;
	size_t lines;
	size_t guests;
	bool json;
};

/* ---- Guests of Xen ---- */

static void add_number_cell(struct weft_text *text, bool is_known, uint64_t number)
{
	if (is_known)
		weft_text_add_u64(text, number);
	else
		weft_text_add_string(text, "-");
}

static void add_guest_text(const struct weft__runs_listed_guest *row, struct weft_text *text)
{
	size_t column = text->size;
	weft_text_add_string(text, row->operand);
	weft_text_pad(text, column, 22);
	weft_text_add_string(text, row->state);
	weft_text_pad(text, column, 32);
	add_age(text, age_since(row->summary.start_unix_ns));
	weft_text_pad(text, column, 41);
	add_size(text, row->bytes);
	weft_text_pad(text, column, 50);
	add_number_cell(text, row->is_summarized, row->summary.events);
	weft_text_pad(text, column, 62);
	add_number_cell(text, row->is_summarized, lost_of(&row->summary));
	weft_text_pad(text, column, 74);
	const char *program = row->reason[0] ? row->reason : row->summary.program;
	weft_text_add_string(text, weft__runs_shown(program[0] ? program : "-"));
	weft_text_add(text, "\n", 1);
}

static void add_guest_json(const struct weft__runs_listed_guest *row, struct weft_text *text)
{
	cli_add_json(text, "{\"guest\":", row->operand);
	cli_add_number(text, ",\"domain\":", row->domain);
	cli_add_json(text, ",\"domain_name\":", row->domain_name);
	cli_add_json(text, ",\"program\":", row->summary.program);
	cli_add_json(text, ",\"state\":", row->state);
	cli_add_number(text, ",\"started\":", row->summary.start_unix_ns);
	cli_add_number(text, ",\"bytes\":", row->bytes);
	if (row->is_summarized) {
		cli_add_number(text, ",\"events\":", row->summary.events);
		cli_add_losses(text, ",\"losses\":", row->summary.losses);
	}
	if (row->reason[0])
		cli_add_json(text, ",\"reason\":", row->reason);
	weft_text_add_string(text, "}\n");
}

/* Guests have a heading of their own: their operands are longer than numbers of processes. */
static void add_guest(void *context, const struct weft__runs_listed_guest *row)
{
	struct ls_lines *listing = context;
	if (listing->guests++ == 0 && !listing->json) {
		weft_text_add_string(&listing->text, listing->lines ? "\n" : "");
		weft_text_add_string(&listing->text,
			"guest                 state     age      size     events      lost        program\n");
	}
	(listing->json ? add_guest_json : add_guest_text)(row, &listing->text);
}

static void add_guests(struct ls_lines *listing)
{
	char reason[WEFT_GUEST_REASON_BYTES];
	struct weft_host *host;
	if (!weft__runs_guest_is_dom0())
		return;
	if (weft_host_open(&host, reason)) {
		cli_inform("guests of Xen are not listed: %s", reason);
		return;
	}
	weft__runs_guests_list(host, WEFT__RUNS_GUEST_MAPPED_MAX, add_guest, listing);
	weft_host_close(host);
}

static void explain_nothing(void)
{
	char searched[PATH_MAX];
	weft__runs_directory_searched(searched);
	cli_inform("no program records now, and no ring was left behind in %s; another user, "
			   "another XDG_RUNTIME_DIR and WEFT_OUT have rings elsewhere",
		weft__runs_shown(searched));
}

/* Call before each line: adds the heading. */
static void begin_line(struct ls_lines *listing)
{
	if (listing->lines++ == 0 && !listing->json)
		weft_text_add_string(&listing->text,
			"pid      state     age      size     events      lost        program\n");
}

/* Returns the number of rings. */
static size_t add_rings(struct ls_lines *listing, const struct weft__runs_list *rings)
{
	for (size_t i = 0; i < rings->count; i++) {
		struct row row;
		if (!read_row(&rings->list[i], &row))
			continue;
		begin_line(listing);
		(listing->json ? add_json : add_text)(&row, &listing->text);
	}
	return listing->lines;
}

static bool records(const struct weft__runs_list *rings, pid_t pid)
{
	for (size_t i = 0; i < rings->count; i++)
		if (rings->list[i].ring.pid == pid && rings->list[i].ring.is_running)
			return true;
	return false;
}

/* A process whose ring is elsewhere: in the run directory of another user, or by another
 * XDG_RUNTIME_DIR. False if it does not record. */
static bool add_elsewhere(struct ls_lines *listing, pid_t pid)
{
	struct weft__runs_found found;
	struct row row;
	if (!weft__runs_find_mapped(pid, &found) || !read_row(&found, &row))
		return false;
	begin_line(listing);
	(listing->json ? add_json : add_text)(&row, &listing->text);
	return true;
}

/* Processes that could record, and do not. False after a report. */
static bool add_linked(struct ls_lines *listing, const struct weft__runs_list *rings)
{
	struct weft__runs_linked_list linked;
	if (!weft__runs_linked_find(&linked))
		return false;
	for (size_t i = 0; i < linked.count; i++) {
		if (records(rings, linked.list[i].pid) || add_elsewhere(listing, linked.list[i].pid))
			continue;
		begin_line(listing);
		(listing->json ? add_linked_json : add_linked_text)(&linked.list[i], &listing->text);
	}
	weft__runs_linked_finish(&linked);
	return true;
}

static int list(bool json)
{
	struct weft__runs_list rings;
	struct ls_lines listing = {.json = json};
	if (weft_source_survive_truncation())
		return CLI_UNREADABLE;
	weft__runs_expire();
	if (!weft__runs_find(&rings))
		return CLI_UNREADABLE;
	size_t found = add_rings(&listing, &rings);
	bool good = add_linked(&listing, &rings);
	add_guests(&listing);
	weft__runs_list_finish(&rings);
	if (listing.lines || listing.guests)
		cli_write(&listing.text);
	if (!found && !listing.guests && good)
		explain_nothing();
	weft_text_finish(&listing.text);
	return good ? CLI_DONE : CLI_UNREADABLE;
}

int cli_ls(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"json", no_argument, NULL, 'j'},
		{NULL, 0, NULL, 0},
	};
	bool json = false;
	for (int option; (option = cli_next_option(argc, argv, options)) != -1;) {
		if (option == 'h')
			return cli_help(usage);
		if (option == '?')
			return CLI_USAGE;
		json |= option == 'j';
	}
	if (optind < argc)
		return cli_usage_error(argv[0], "no argument is allowed; \"%s\" is too many", argv[optind]);
	return list(json);
}
