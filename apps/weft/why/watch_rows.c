/* SPDX-License-Identifier: ISC
 *
 * See watch_rows.h.
 */
#include "watch_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/text.h>

#include "cli/call_names.h"
#include "cli/cli.h"
#include "outside_words.h"

enum {
	ROWS_MAX = 1 << 16,
	SHOWN_ROWS = 100,
	SHOWN_FRAMES = 6,
	PER_MILLE = 1000,
};

/* A thread in one call with one stack, as text. */
struct watch_row {
	pid_t tid;
	char name[32];
	char *shown;     /* "futex, in take (FILE:28) ← work" */
	char *collapsed; /* "work;take;[futex]" */
	uint64_t looks;
};

const char *watch_rows_state(const struct weft__outside_thread *thread)
{
	const char *name = thread->kernel.has_call ? cli_call_name(thread->kernel.number) : NULL;
	if (name && thread->kernel.state != 'R')
		return name;
	switch (thread->kernel.state) {
	case 'R':
		return "runs";
	case 'T':
	case 't':
		return "stopped";
	case 'Z':
	case 'X':
		return "ended";
	default:
		return "sleeps";
	}
}

static void describe(
	const struct weft__outside_thread *thread, struct weft_text *shown, struct weft_text *collapsed)
{
	const bool is_script = thread->script_count;
	const struct weft__outside_frame *frames = is_script ? thread->script : thread->frames;
	const uint32_t count = is_script ? thread->script_count : thread->frame_count;
	uint32_t number = 0;
	weft_text_add_string(shown, watch_rows_state(thread));
	for (uint32_t i = 0; i < count && number < SHOWN_FRAMES; i++)
		if (is_script || outside_is_own(&frames[i])) {
			weft_text_add_string(shown, number ? " ← " : ", in ");
			outside_add_frame(shown, &frames[i], true);
			number++;
		}
	weft_text_add_shown(collapsed, thread->kernel.name, strlen(thread->kernel.name));
	for (uint32_t i = count; i-- > 0;) {
		weft_text_add_string(collapsed, ";");
		outside_add_frame(collapsed, &frames[i], false);
	}
	weft_text_add_string(collapsed, ";[");
	weft_text_add_string(collapsed, watch_rows_state(thread));
	weft_text_add_string(collapsed, "]");
	weft_text_add(shown, "", 1);
	weft_text_add(collapsed, "", 1);
}

static struct watch_row *find_row(
	struct watch_rows *rows, pid_t tid, const char *collapsed, const char *shown)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->list[i].tid == tid && strcmp(rows->list[i].collapsed, collapsed) == 0 &&
			strcmp(rows->list[i].shown, shown) == 0)
			return &rows->list[i];
	return NULL;
}

static struct watch_row *add_row(struct watch_rows *rows)
{
	if (rows->count == rows->capacity) {
		const size_t more = rows->capacity ? 2 * rows->capacity : 64;
		struct watch_row *list =
			more <= ROWS_MAX ? realloc(rows->list, more * sizeof(*list)) : NULL;
		if (!list) {
			rows->is_cut = true;
			return NULL;
		}
		rows->list = list;
		rows->capacity = more;
	}
	return &rows->list[rows->count++];
}

void watch_rows_count(
	struct watch_rows *rows, const struct weft__outside_thread *thread, uint64_t looks)
{
	struct weft_text shown = {0}, collapsed = {0};
	describe(thread, &shown, &collapsed);
	struct watch_row *row = NULL;
	if (!shown.error && !collapsed.error) {
		row = find_row(rows, thread->tid, collapsed.bytes, shown.bytes);
		if (!row && (row = add_row(rows))) {
			*row = (struct watch_row){
				.tid = thread->tid, .shown = shown.bytes, .collapsed = collapsed.bytes};
			memcpy(row->name, thread->kernel.name, sizeof(row->name));
			shown = collapsed = (struct weft_text){0};
		}
	}
	if (row)
		row->looks += looks;
	weft_text_finish(&shown);
	weft_text_finish(&collapsed);
}

void watch_rows_finish(struct watch_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		free(rows->list[i].shown);
		free(rows->list[i].collapsed);
	}
	free(rows->list);
}

/* ---- The answer ---- */

static int compare_rows(const void *a, const void *b)
{
	const struct watch_row *x = a, *y = b;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->looks != y->looks)
		return x->looks > y->looks ? -1 : 1;
	return strcmp(x->shown, y->shown);
}

static void add_percent(struct weft_text *text, uint64_t part, uint64_t all)
{
	const uint64_t tenths = (part * PER_MILLE + all / 2) / all;
	char cell[32];
	snprintf(cell, sizeof(cell), "  %3" PRIu64 ".%" PRIu64 " %%  ", tenths / 10, tenths % 10);
	weft_text_add_string(text, cell);
}

static void add_table(
	const struct watch_rows *rows, const struct watch_about *about, struct weft_text *text)
{
	pid_t tid = 0;
	weft_text_add_shown(text, about->name, strlen(about->name));
	weft_text_add_string(text, " ");
	weft_text_add_i64(text, about->pid);
	weft_text_add_string(text, ": ");
	weft_text_add_u64(text, about->looks);
	weft_text_add_string(text, " looks\n");
	for (size_t i = 0; i < rows->count && i < SHOWN_ROWS; i++) {
		const struct watch_row *row = &rows->list[i];
		if (row->tid != tid) {
			weft_text_add_string(text, "thread ");
			weft_text_add_i64(text, row->tid);
			weft_text_add_string(text, " '");
			weft_text_add_shown(text, row->name, strlen(row->name));
			weft_text_add_string(text, "'\n");
		}
		tid = row->tid;
		add_percent(text, row->looks, about->looks);
		weft_text_add_string(text, row->shown);
		weft_text_add_string(text, "\n");
	}
	if (rows->count > SHOWN_ROWS) {
		weft_text_add_string(text, "and ");
		weft_text_add_u64(text, rows->count - SHOWN_ROWS);
		weft_text_add_string(text, " more\n");
	}
}

static void add_rows(const struct watch_rows *rows, const struct watch_about *about, bool json,
	struct weft_text *text)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct watch_row *row = &rows->list[i];
		if (json) {
			cli_add_number(text, "{\"pid\":", (uint64_t)about->pid);
			cli_add_number(text, ",\"tid\":", (uint64_t)row->tid);
			cli_add_json(text, ",\"name\":", row->name);
			cli_add_number(text, ",\"looks\":", row->looks);
			cli_add_number(text, ",\"of\":", about->looks);
			cli_add_json(text, ",\"sentence\":", row->shown);
			weft_text_add_string(text, "}\n");
		} else {
			weft_text_add_string(text, row->collapsed);
			weft_text_add_string(text, " ");
			weft_text_add_u64(text, row->looks);
			weft_text_add_string(text, "\n");
		}
	}
}

bool watch_rows_write(
	struct watch_rows *rows, const struct watch_about *about, enum why_watch_form form)
{
	struct weft_text text = {0};
	if (rows->count)
		qsort(rows->list, rows->count, sizeof(*rows->list), compare_rows);
	if (form == WHY_WATCH_TABLE)
		add_table(rows, about, &text);
	else
		add_rows(rows, about, form == WHY_WATCH_JSON, &text);
	if (rows->is_cut)
		cli_error("there are more rows than %d: the others are not counted", ROWS_MAX);
	const bool is_written = cli_write(&text);
	weft_text_finish(&text);
	return is_written;
}
