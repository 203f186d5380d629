/* SPDX-License-Identifier: ISC
 *
 * See ran.h. Each function is counted once for a sample, however often it calls itself.
 */
#include "story/problems/ran.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/strings.h"

#define SAMPLES_MIN 3

#define KERNEL "[kernel]"

static const char arrow[] = " \xe2\x86\x90 ";

struct seen_function {
	struct weft_slice name;
	uint32_t count, in_kernel;
	uint32_t last;   /* 1 + the sample that was counted last */
	bool has_line;   /* of source, which the program's own have where its libraries have none */
	bool is_unnamed; /* the kernel, code in no file, or what is cut off */
};

struct counting {
	struct weft__strings names;
	uint32_t first;             /* number of a name */
	struct seen_function *seen; /* by the number of the name: inner ones before outer ones */
	size_t capacity;
	uint32_t of;
};

/* "say_hello" and true of "say_hello (hello.c:12)". */
static struct weft_slice name_of(struct weft_slice call, bool *ret_has_line)
{
	size_t open = call.size;
	*ret_has_line = false;
	if (!call.size || call.bytes[call.size - 1] != ')')
		return call;
	while (open > 1 && !(call.bytes[open - 1] == '(' && call.bytes[open - 2] == ' '))
		open--;
	*ret_has_line = open > 2 && memchr(call.bytes + open, ':', call.size - open);
	return *ret_has_line ? (struct weft_slice){call.bytes, open - 2} : call;
}

static bool is_text(struct weft_slice name, const char *text)
{
	return name.size == strlen(text) && memcmp(name.bytes, text, name.size) == 0;
}

static int count_call(
	struct counting *c, struct weft_slice call, uint32_t sample, bool is_in_kernel)
{
	const struct weft__column column = {&c->seen, sizeof(*c->seen)};
	const uint32_t before = c->names.count;
	bool has_line;
	uint32_t id;
	const struct weft_slice name = name_of(call, &has_line);
	int error = weft__strings_intern(&c->names, name.bytes, name.size, &id);
	if (!error)
		error = weft__columns_reserve(&column, 1, &c->capacity, c->names.count);
	if (error)
		return error;
	struct seen_function *seen = &c->seen[id];
	if (id == before)
		*seen = (struct seen_function){.name = name,
			.is_unnamed =
				is_text(name, KERNEL) || is_text(name, "?") || is_text(name, "\xe2\x80\xa6")};
	seen->has_line |= has_line;
	if (seen->last == sample + 1)
		return 0;
	seen->last = sample + 1;
	seen->count++;
	seen->in_kernel += is_in_kernel;
	return 0;
}

static int count_sample(struct counting *c, const struct weft_model *model, uint32_t sample)
{
	const struct weft_code_sample *it = &model->code_samples[sample];
	const char *at = it->calls == WEFT_NONE ? "" : weft_model_string(model, it->calls).bytes;
	const bool is_in_kernel = strncmp(at, KERNEL, sizeof(KERNEL) - 1) == 0;
	int error = 0;
	c->of++;
	for (const char *end; *at && !error; at = end ? end + sizeof(arrow) - 1 : "") {
		end = strstr(at, arrow);
		const struct weft_slice call = {at, end ? (size_t)(end - at) : strlen(at)};
		error = call.size ? count_call(c, call, sample, is_in_kernel) : 0;
	}
	return error;
}

/* The function that is called by all others that more than half of the samples have, the program's
 * own if there is one. */
static const struct seen_function *choose(const struct counting *c)
{
	const struct seen_function *chosen = NULL;
	for (uint32_t id = c->first; id < c->names.count; id++) {
		const struct seen_function *it = &c->seen[id];
		if (it->is_unnamed || it->count <= c->of / 2)
			continue;
		if (!chosen || it->has_line > chosen->has_line ||
			(it->has_line == chosen->has_line && it->count < chosen->count))
			chosen = it;
	}
	return chosen;
}

static bool is_before(const void *context, uint32_t row, uint64_t time)
{
	const struct weft_code_sample *list = context;
	return list[row].time < time;
}

static int count_all(struct counting *c, const struct weft_model *model, uint32_t task,
	uint64_t start_ns, uint64_t end_ns)
{
	const struct weft_code_sample *list = model->code_samples;
	const uint32_t first = weft__search(list, 0, model->code_sample_count, is_before, start_ns);
	const uint32_t end = weft__search(list, 0, model->code_sample_count, is_before, end_ns);
	int error = 0;
	for (uint32_t i = first; i < end && !error; i++)
		if (list[i].task == task)
			error = count_sample(c, model, i);
	return error;
}

bool weft__story_ran_most(const struct weft_model *model, uint32_t task, uint64_t start_ns,
	uint64_t end_ns, struct weft__ran_most *ret_most)
{
	struct counting c = {0};
	if (!model->code_sample_count || weft__strings_init(&c.names))
		return false;
	c.first = c.names.count;
	const int error = count_all(&c, model, task, start_ns, end_ns);
	const struct seen_function *chosen = error || c.of < SAMPLES_MIN ? NULL : choose(&c);
	if (chosen)
		*ret_most = (struct weft__ran_most){chosen->name, chosen->count, chosen->in_kernel, c.of};
	free(c.seen);
	weft__strings_finish(&c.names);
	return chosen != NULL;
}
