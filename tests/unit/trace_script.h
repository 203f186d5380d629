/* SPDX-License-Identifier: ISC
 *
 * A trace as a script: statements with ';' between them.
 *
 *     +20 ~5              20 us and 5 ns pass    create 0 5 task     task 0 creates task 5
 *     run 5               the thread runs 5      label 5 words       5 has a label
 *     idle                it runs nothing        note 5 words        5 has a note
 *                                                try 5 6             5 tries to read 6
 *     gc 100              a pause of 100 ns      read 5 6            5 has read 6
 *     thread 1            events are of this     signal 5 6          5 is signalled by 6
 *     count q 7           counter q is 7         resolve 5 6         5 resolves 6
 *     expect 5            5 should end           fail 5 6 words      5 fails 6
 *     off 5 100           5 ran for 100 ns without a processor
 *     due 5 100           timer 5 is due in 100 ns
 *     acquire 5 6         5 takes 6              release 5 6         5 gives 6 back
 *     any 5 6             5 waits for 6 or any other of this time
 *     stack 5 words       5 is about to wait in these calls
 *     become 5 6          5 becomes 6            lose 0 9 7 1 2      from 0 to 9 ns 7 events of
 * thread 1 are lost by cause 2
 *
 * [20: …] repeats; `i` is the number of the round from 0 on, `j` that of the outer repetition, and
 * `n` a number of the caller. Expressions such as 10+i*2%5 are read from left to right. A statement
 * after "?i%5=2 " is skipped in other rounds; # in words is i%n.
 */
#ifndef WEFT_TESTS_TRACE_SCRIPT_H
#define WEFT_TESTS_TRACE_SCRIPT_H

#include <inttypes.h>

#include "loaded.h"

struct trace_script {
	struct made made;
	int64_t n, i, j;
};

static inline int64_t trace_script_term(const struct trace_script *s, const char **at)
{
	char *end;
	int64_t value = **at == 'i' ? s->i : **at == 'j' ? s->j : s->n;
	if (**at == 'i' || **at == 'j' || **at == 'n') {
		++*at;
		return value;
	}
	value = strtoll(*at, &end, 10);
	must(end != *at);
	*at = end;
	return value;
}

static inline int64_t trace_script_number(const struct trace_script *s, const char **at)
{
	*at += strspn(*at, " ");
	int64_t value = trace_script_term(s, at);
	while (**at && strchr("+-*%/", **at)) {
		char sign = *(*at)++;
		int64_t term = trace_script_term(s, at);
		value = sign == '+'   ? value + term
				: sign == '-' ? value - term
				: sign == '*' ? value * term
				: sign == '/' ? value / term
							  : value % term;
	}
	return value;
}

static inline uint16_t trace_script_kind(const char *name)
{
	for (unsigned kind = 0; kind < 32; kind++)
		if (weft_kind_name(kind) && strcmp(weft_kind_name(kind), name) == 0)
			return (uint16_t)kind;
	must(0);
	return 0;
}

static inline void trace_script_run(struct trace_script *s, const char *line)
{
	static const struct {
		const char *word;
		enum weft_event_type type;
	} words[] = {{"label", WEFT_EVENT_LABEL}, {"note", WEFT_EVENT_NOTE},
		{"try", WEFT_EVENT_TRY_READ}, {"any", WEFT_EVENT_WAIT_ANY}, {"due", WEFT_EVENT_TAG},
		{"acquire", WEFT_EVENT_ACQUIRE}, {"release", WEFT_EVENT_RELEASE}, {"read", WEFT_EVENT_READ},
		{"signal", WEFT_EVENT_SIGNAL}, {"resolve", WEFT_EVENT_RESOLVE}, {"fail", WEFT_EVENT_FAIL},
		{"create", WEFT_EVENT_CREATE}, {"run", WEFT_EVENT_SWITCH}, {"become", WEFT_EVENT_BECOME},
		{"expect", WEFT_EVENT_EXPECT}, {"cancel", WEFT_EVENT_CANCEL}, {"close", WEFT_EVENT_CLOSE},
		{"time_out", WEFT_EVENT_TIME_OUT}, {"gc", WEFT_EVENT_GC}, {"off", WEFT_EVENT_OFF_CPU},
		{"count", WEFT_EVENT_COUNTER}, {"send", WEFT_EVENT_SEND}, {"receive", WEFT_EVENT_RECEIVE},
		{"stack", WEFT_EVENT_STACK}};
	char word[16] = "", text[64] = "";
	int used = 0;
	if (line[0] == '+' || line[0] == '~') {
		uint64_t unit = *line++ == '+' ? 1000 : 1;
		s->made.time += unit * (uint64_t)trace_script_number(s, &line);
		return;
	}
	must(sscanf(line, "%15s%n", word, &used) == 1);
	line += used;
	if (strcmp(word, "thread") == 0) {
		s->made.thread = (uint32_t)trace_script_number(s, &line);
		return;
	}
	if (strcmp(word, "lose") == 0) {
		struct weft_loss_period *period = &s->made.losses[s->made.loss_count++];
		must(s->made.loss_count <= sizeof(s->made.losses) / sizeof(*period));
		period->start = (uint64_t)trace_script_number(s, &line);
		period->end = (uint64_t)trace_script_number(s, &line);
		period->count = (uint64_t)trace_script_number(s, &line);
		period->thread = (uint32_t)trace_script_number(s, &line);
		period->cause = (uint8_t)trace_script_number(s, &line);
		return;
	}
	if (strcmp(word, "idle") == 0) {
		make_switch(&s->made, WEFT_TASK_NONE);
		return;
	}
	struct weft_event event = {.type = 255};
	for (unsigned k = 0; k < sizeof(words) / sizeof(words[0]); k++)
		if (strcmp(words[k].word, word) == 0)
			event.type = (uint8_t)words[k].type;
	must(event.type != 255);
	if (event.type == WEFT_EVENT_COUNTER) {
		must(sscanf(line, "%63s%n", text, &used) == 1);
		line += used;
		event.value = trace_script_number(s, &line);
		event.is_set = true;
	} else if (event.type == WEFT_EVENT_GC) {
		event.value = trace_script_number(s, &line);
	} else {
		event.task = (uint64_t)trace_script_number(s, &line);
		if (event.type != WEFT_EVENT_LABEL && event.type != WEFT_EVENT_NOTE &&
			event.type != WEFT_EVENT_STACK && event.type != WEFT_EVENT_SWITCH &&
			event.type != WEFT_EVENT_EXPECT)
			event.other = (uint64_t)trace_script_number(s, &line);
		line += strspn(line, " ");
		size_t size = strcspn(line, "#");
		snprintf(text, sizeof(text), "%.*s", (int)size, line);
		if (line[size])
			snprintf(text + size, sizeof(text) - size, "%d", (int)(s->i % s->n));
	}
	if (event.type == WEFT_EVENT_OFF_CPU || event.type == WEFT_EVENT_SEND ||
		event.type == WEFT_EVENT_RECEIVE)
		event.value = (int64_t)event.other;
	if (event.type == WEFT_EVENT_TAG) {
		event.value = (int64_t)event.other;
		event.has_value = true;
		event.text = (struct weft_slice){WEFT_TAG_DEADLINE, sizeof(WEFT_TAG_DEADLINE) - 1};
	} else if (event.type == WEFT_EVENT_CREATE)
		event.kind = trace_script_kind(text);
	else
		event.text = (struct weft_slice){text, strlen(text)};
	make(&s->made, event);
}

/* Whether the statement after "?" runs in this round; moves on to it. */
static inline bool trace_script_is_meant(const struct trace_script *s, const char **at)
{
	if (**at != '?')
		return true;
	++*at;
	int64_t value = trace_script_number(s, at);
	must(*(*at)++ == '=');
	bool is_meant = value == trace_script_number(s, at);
	*at += strspn(*at, " ");
	return is_meant;
}

static inline const char *trace_script_end(const char *at)
{
	for (int depth = 0; *at && (depth > 0 || (*at != ']' && *at != ';')); at++)
		depth += (*at == '[') - (*at == ']');
	return at;
}

/* Runs statements up to the end or an unpaired ']'. */
static inline void trace_script_run_all(struct trace_script *s, const char *at)
{
	while (*at && *at != ']') {
		at += strspn(at, " ;\n\t");
		const char *end = trace_script_end(at);
		bool is_meant = trace_script_is_meant(s, &at);
		if (is_meant && *at == '[') {
			const int64_t i = s->i, j = s->j;
			at++;
			int64_t rounds = trace_script_number(s, &at);
			must(*at++ == ':');
			for (s->j = i, s->i = 0; s->i < rounds; s->i++)
				trace_script_run_all(s, at);
			s->i = i;
			s->j = j;
		} else if (is_meant && at < end) {
			char line[128];
			snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
			trace_script_run(s, line);
		}
		at = end;
	}
}

static inline struct weft_model *trace_script_model(const char *script, int64_t n)
{
	struct trace_script s = {.made = make_begin(), .n = n};
	trace_script_run_all(&s, script);
	return make_model(&s.made);
}

static inline struct loaded trace_script_load(const char *script, int64_t n)
{
	return load_model(trace_script_model(script, n));
}

#endif
