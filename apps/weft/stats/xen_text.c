/* SPDX-License-Identifier: ISC
 *
 * The states of Xen's vCPUs, domains and pCPUs as a table, JSON and CSV.
 */
#include "xen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS     3
#define PART_BYTES 65536 /* of CSV: it is printed when it is longer */

/* ---- A table ---- */

enum line_column {
	COUNT,
	TIME,
	SHARE,
	P5,
	P50,
	P95,
};

/* A row in one state, on one pCPU, or at the end. */
struct line {
	const struct xen_row *row;
	struct xen_times times;
	char what[64];
	bool has_times, has_percentiles;
};

struct lines {
	const struct xen_stats *stats;
	struct line *list;
	size_t count;
	double range_ns;
};

static void format_line(
	const void *context, uint32_t number, unsigned what, char cell[STATS_CELL_BYTES])
{
	const struct lines *lines = context;
	const struct line *line = &lines->list[number];
	const uint64_t times[] = {[TIME] = line->times.ns,
		[P5] = line->times.p5_ns,
		[P50] = line->times.p50_ns,
		[P95] = line->times.p95_ns};
	if (what == COUNT && line->times.count)
		snprintf(cell, STATS_CELL_BYTES, "%" PRIu64, line->times.count);
	else if (what == SHARE && line->has_times && lines->range_ns > 0)
		snprintf(cell, STATS_CELL_BYTES, "%.1f %%", 100 * (double)line->times.ns / lines->range_ns);
	else if ((what == TIME && line->has_times) || (what >= P5 && line->has_percentiles))
		weft_format_duration(times[what], DIGITS, cell);
}

static void add_line_name(const void *context, uint32_t number, struct weft_text *text)
{
	const struct lines *lines = context;
	char name[32];
	xen_name(lines->stats, lines->list[number].row, name);
	weft_text_add_string(text, name);
	weft_text_add_string(text, " ");
	weft_text_add_string(text, lines->list[number].what);
}

static struct line *add_line(struct lines *lines, const struct xen_row *row)
{
	struct line *line = &lines->list[lines->count++];
	*line = (struct line){.row = row};
	return line;
}

static void add_row(struct lines *lines, const struct xen_row *row)
{
	const struct xen_stats *x = lines->stats;
	for (unsigned state = 0; state < WEFT_XENTRACE_STATES; state++) {
		if (!row->times[state].count)
			continue;
		struct line *line = add_line(lines, row);
		line->times = row->times[state];
		line->has_times = line->has_percentiles = true;
		snprintf(line->what, sizeof(line->what), "%s",
			weft_xentrace_state_name((enum weft_xentrace_state)state));
	}
	for (uint32_t i = 0; i < row->pcpu_count && row->pcpu_count > 1; i++) {
		const struct xen_pcpu *pcpu = &x->pcpus[row->first_pcpu + i];
		struct line *line = add_line(lines, row);
		line->times.ns = pcpu->ns;
		line->has_times = true;
		snprintf(line->what, sizeof(line->what), "on pCPU %" PRIu32, pcpu->number);
	}
	if (row->moves) {
		struct line *line = add_line(lines, row);
		line->times.count = row->moves;
		snprintf(line->what, sizeof(line->what), "moved to another pCPU");
	}
	if (row->open) {
		struct line *line = add_line(lines, row);
		line->times.ns = row->open_ns;
		line->has_times = true;
		snprintf(line->what, sizeof(line->what), "%s when the trace ends", row->open);
	}
	for (uint32_t i = 0; i < row->call_count; i++) {
		const struct xen_call *call = &x->called[row->first_call + i].call;
		struct line *line = add_line(lines, row);
		line->times.count = call->count;
		snprintf(line->what, sizeof(line->what), "%s %s", call->kind, call->name);
	}
}

void xen_write_table(const struct xen_stats *x, const char *path, struct weft_text *text)
{
	static const struct stats_column columns[] = {
		{"count", 6, false, COUNT},
		{"time", 7, true, TIME},
		{"share", 5, true, SHARE},
		{"p5", 1, true, P5},
		{"p50", 4, true, P50},
		{"p95", 3, true, P95},
	};
	static const char *const titles[] = {[WEFT_XENTRACE_OF_VCPU] = "vCPU",
		[WEFT_XENTRACE_OF_DOMAIN] = "domain",
		[WEFT_XENTRACE_OF_PCPU] = "pCPU"};
	const size_t room =
		x->row_count * (WEFT_XENTRACE_STATES + 2) + x->pcpu_count + x->called_count + 1;
	struct lines lines = {.stats = x, .list = malloc(room * sizeof(*lines.list))};
	char duration[32];
	if (!lines.list) {
		text->error = true;
		return;
	}
	lines.range_ns = (double)(x->end_ns - x->request->start_ns);
	for (size_t i = 0; i < x->row_count; i++)
		add_row(&lines, &x->rows[i]);
	const struct stats_table table = {.columns = columns,
		.column_count = sizeof(columns) / sizeof(*columns),
		.rows = &lines,
		.row_count = (uint32_t)lines.count,
		.name_title = titles[x->request->whose],
		.format = format_line,
		.add_name = add_line_name};
	weft_format_duration(x->end_ns - x->request->start_ns, DIGITS, duration);
	weft_text_add_shown(text, path, strlen(path));
	weft_text_add_string(text, ": ");
	weft_text_add_string(text, duration);
	weft_text_add_string(text, "\n\n");
	stats_add_table(text, &table, stats_find_width());
	free(lines.list);
}

/* ---- JSON ---- */

static void add_key(struct weft_text *text, const char *before, const char *key)
{
	weft_text_add_string(text, before);
	weft_text_add_json(text, key, strlen(key));
	weft_text_add_string(text, ":");
}

static void add_times(struct weft_text *text, const struct xen_times *times)
{
	cli_add_number(text, "{\"count\":", times->count);
	cli_add_number(text, ",\"ns\":", times->ns);
	cli_add_number(text, ",\"p5\":", times->p5_ns);
	cli_add_number(text, ",\"p50\":", times->p50_ns);
	cli_add_number(text, ",\"p95\":", times->p95_ns);
	weft_text_add_string(text, "}");
}

static void add_calls(struct weft_text *text, const struct xen_stats *x, const struct xen_row *row)
{
	const char *kind = NULL;
	weft_text_add_string(text, ",\"calls\":{");
	for (uint32_t i = 0; i < row->call_count; i++) {
		const struct xen_call *call = &x->called[row->first_call + i].call;
		const bool is_same = kind && strcmp(kind, call->kind) == 0;
		if (!is_same) {
			add_key(text, kind ? "}," : "", call->kind);
			weft_text_add_string(text, "{");
		}
		kind = call->kind;
		add_key(text, is_same ? "," : "", call->name);
		weft_text_add_u64(text, call->count);
	}
	weft_text_add_string(text, kind ? "}}" : "}");
}

static void add_json_row(
	struct weft_text *text, const struct xen_stats *x, const struct xen_row *row)
{
	const char *before = "";
	char name[32], pcpu[16];
	xen_name(x, row, name);
	add_key(text, "{", "name");
	weft_text_add_json(text, name, strlen(name));
	weft_text_add_string(text, ",\"states\":{");
	for (unsigned state = 0; state < WEFT_XENTRACE_STATES; state++) {
		if (!row->times[state].count)
			continue;
		add_key(text, before, weft_xentrace_state_name((enum weft_xentrace_state)state));
		add_times(text, &row->times[state]);
		before = ",";
	}
	weft_text_add_string(text, "}");
	if (row->open) {
		weft_text_add_string(text, ",\"at_end\":");
		weft_text_add_json(text, row->open, strlen(row->open));
		cli_add_number(text, ",\"at_end_ns\":", row->open_ns);
	}
	if (x->request->whose == WEFT_XENTRACE_OF_VCPU) {
		weft_text_add_string(text, ",\"pcpus\":{");
		for (uint32_t i = 0; i < row->pcpu_count; i++) {
			snprintf(pcpu, sizeof(pcpu), "%" PRIu32, x->pcpus[row->first_pcpu + i].number);
			add_key(text, i ? "," : "", pcpu);
			weft_text_add_u64(text, x->pcpus[row->first_pcpu + i].ns);
		}
		cli_add_number(text, "},\"moves\":", row->moves);
	}
	if (x->request->whose != WEFT_XENTRACE_OF_PCPU)
		add_calls(text, x, row);
	weft_text_add_string(text, "}");
}

void xen_write_json(const struct xen_stats *x, struct weft_text *text)
{
	static const char *const names[] = {"vcpu", "domain", "pcpu"};
	add_key(text, "{", "by");
	weft_text_add_json(text, names[x->request->whose], strlen(names[x->request->whose]));
	cli_add_number(text, ",\"start\":", x->request->start_ns);
	cli_add_number(text, ",\"end\":", x->end_ns);
	weft_text_add_string(text, ",\"rows\":[");
	for (size_t i = 0; i < x->row_count; i++) {
		weft_text_add_string(text, i ? "," : "");
		add_json_row(text, x, &x->rows[i]);
	}
	weft_text_add_string(text, "]}\n");
}

/* ---- CSV ---- */

void xen_write_csv(const struct xen_stats *x, struct weft_text *text)
{
	char name[32];
	weft_text_add_string(text, "name,state,count,ns,p5,p50,p95\n");
	for (size_t i = 0; i < x->row_count; i++)
		for (unsigned state = 0; state < WEFT_XENTRACE_STATES; state++) {
			const struct xen_times *times = &x->rows[i].times[state];
			if (!times->count)
				continue;
			xen_name(x, &x->rows[i], name);
			weft_text_add_string(text, name);
			weft_text_add_string(text, ",\"");
			weft_text_add_string(text, weft_xentrace_state_name((enum weft_xentrace_state)state));
			cli_add_number(text, "\",", times->count);
			cli_add_number(text, ",", times->ns);
			cli_add_number(text, ",", times->p5_ns);
			cli_add_number(text, ",", times->p50_ns);
			cli_add_number(text, ",", times->p95_ns);
			weft_text_add_string(text, "\n");
		}
}

/* The states that a vCPU, a domain or a pCPU can be in. */
static bool is_state_of(enum weft_xentrace_whose whose, unsigned state)
{
	if (state == WEFT_XENTRACE_IN_LOSS)
		return true;
	if (whose == WEFT_XENTRACE_OF_PCPU)
		return state == WEFT_XENTRACE_RUNNING || state == WEFT_XENTRACE_RUNS_IDLE;
	if (whose == WEFT_XENTRACE_OF_DOMAIN)
		return state >= WEFT_XENTRACE_FULL_RUN && state <= WEFT_XENTRACE_BLOCKED;
	return state <= WEFT_XENTRACE_RUNNABLE_OTHER || state == WEFT_XENTRACE_BLOCKED ||
		   state == WEFT_XENTRACE_OFFLINE;
}

static void add_interval(struct weft_text *text, const struct xen_stats *x,
	const struct weft_xentrace_stay *stays, size_t count, uint64_t start, uint64_t end)
{
	uint64_t sums[WEFT_XENTRACE_STATES] = {0};
	char name[32];
	for (size_t i = 0; i < count && stays[i].start_ns < end; i++) {
		const uint64_t from = stays[i].start_ns > start ? stays[i].start_ns : start;
		const uint64_t to = stays[i].end_ns < end ? stays[i].end_ns : end;
		sums[stays[i].state] += to > from ? to - from : 0;
	}
	xen_name(x, &(struct xen_row){.domain = stays->domain, .number = stays->number}, name);
	weft_text_add_u64(text, start);
	weft_text_add_string(text, ",");
	weft_text_add_string(text, name);
	for (unsigned state = 0; state < WEFT_XENTRACE_STATES; state++)
		if (is_state_of(x->request->whose, state))
			cli_add_number(text, ",", sums[state]);
	weft_text_add_string(text, "\n");
}

/* The stays are by vCPU, domain or pCPU, and in the order of time, without overlaps: so those
 * before an interval are passed once. */
void xen_write_intervals(const struct xen_stats *x, struct weft_text *text)
{
	const uint64_t interval = x->request->interval_ns;
	weft_text_add_string(text, "start,name");
	for (unsigned state = 0; state < WEFT_XENTRACE_STATES; state++)
		if (is_state_of(x->request->whose, state)) {
			weft_text_add_string(text, ",\"");
			weft_text_add_string(text, weft_xentrace_state_name((enum weft_xentrace_state)state));
			weft_text_add_string(text, "\"");
		}
	weft_text_add_string(text, "\n");
	for (size_t i = 0, next; i < x->stay_count; i = next) {
		size_t at = i;
		next = xen_row_end(x, i);
		for (uint64_t start = x->request->start_ns; start < x->end_ns; start += interval) {
			const uint64_t end = interval < x->end_ns - start ? start + interval : x->end_ns;
			while (at + 1 < next && x->stays[at].end_ns <= start)
				at++;
			add_interval(text, x, &x->stays[at], next - at, start, end);
			if (text->size > PART_BYTES && !cli_write(text))
				return;
			if (interval >= x->end_ns - start)
				break;
		}
	}
}
