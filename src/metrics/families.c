/* SPDX-License-Identifier: ISC
 *
 * See families.h. The formats write more names than that of a family: "lat" of a histogram has
 * lat_bucket, lat_sum and others. So the names of each family are entered into a set, in an order
 * that depends on the names alone; a family of which a name is in the set already is left out.
 */
#include "metrics/families.h"

#include <stdlib.h>
#include <string.h>

#include "base/strings.h"
#include "metrics/names.h"

/* ---- Names ---- */

static bool ends_with(const char *text, size_t size, const char *end)
{
	size_t length = strlen(end);
	return size > length && memcmp(text + size - length, end, length) == 0;
}

static bool is_unit(const char *text, size_t size, const char *unit)
{
	return size == strlen(unit) && memcmp(text, unit, size) == 0;
}

/* Adds the name with its unit at the end, which OpenMetrics wants, unless the unit is all of the
 * name. A counter's _total is cut off: it is added when the name is written. True: the name ends
 * with its unit. */
static bool add_family(struct weft_text *text, const struct weft__runs_counter *counter)
{
	static const char total[] = "_total";
	const char *unit = weft__metrics_base_unit(counter).name;
	struct weft_text suffix = {0};
	size_t start = text->size;
	weft__metrics_add_name(text, counter->name);
	if (counter->type == WEFT__RUNS_COUNTER && !text->error &&
		ends_with(text->bytes + start, text->size - start, total))
		text->size -= sizeof(total) - 1;
	weft_text_add_string(&suffix, "_");
	if (unit[0])
		weft__metrics_add_name(&suffix, unit);
	weft_text_add(&suffix, "", 1);
	const bool has_unit = !suffix.error && !text->error && unit[0] &&
						  !is_unit(text->bytes + start, text->size - start, suffix.bytes + 1);
	if (has_unit && !ends_with(text->bytes + start, text->size - start, suffix.bytes))
		weft_text_add_string(text, suffix.bytes);
	text->error = text->error ? text->error : suffix.error;
	weft_text_finish(&suffix);
	weft_text_add(text, "", 1);
	return has_unit;
}

/* ---- A set of names ---- */

struct name_set {
	struct weft__strings names;
	struct weft_text name; /* room for one */
	int error;
};

/* The names that a family has besides its own. */
static const char *const *suffixes_of(enum weft__runs_type type)
{
	static const char *const none[] = {"", NULL};
	static const char *const counter[] = {"", "_total", "_created", NULL};
	static const char *const histogram[] = {"", "_bucket", "_sum", "_count", "_created", NULL};
	return type == WEFT__RUNS_COUNTER ? counter : type == WEFT__RUNS_HISTOGRAM ? histogram : none;
}

static void join(struct name_set *set, const char *family, const char *suffix)
{
	set->name.size = 0;
	weft_text_add_string(&set->name, family);
	weft_text_add_string(&set->name, suffix);
	set->error = set->error ? set->error : set->name.error;
}

static bool has_name(struct name_set *set, const char *family, const char *suffix)
{
	join(set, family, suffix);
	return !set->error &&
		   weft__strings_find(&set->names, set->name.bytes, set->name.size) != WEFT__INDEX_EMPTY;
}

static void add_name(struct name_set *set, const char *family, const char *suffix)
{
	uint32_t number;
	join(set, family, suffix);
	if (!set->error)
		set->error = weft__strings_intern(&set->names, set->name.bytes, set->name.size, &number);
}

/* False if another family has one of the names. */
static bool take_names(struct name_set *set, const char *family, enum weft__runs_type type)
{
	const char *const *suffixes = suffixes_of(type);
	for (size_t i = 0; suffixes[i]; i++)
		if (has_name(set, family, suffixes[i]))
			return false;
	for (size_t i = 0; suffixes[i]; i++)
		add_name(set, family, suffixes[i]);
	return true;
}

/* ---- Series ---- */

bool weft__metrics_is_one_family(
	const struct weft__metrics_series *left, const struct weft__metrics_series *right)
{
	return left->sample->counter->type == right->sample->counter->type &&
		   strcmp(left->sample->counter->name, right->sample->counter->name) == 0 &&
		   strcmp(left->family, right->family) == 0 &&
		   strcmp(left->unit.name, right->unit.name) == 0;
}

/* Families whose type is known come first, and so keep their names. */
static int by_family(const void *left, const void *right)
{
	const struct weft__metrics_series *l = left, *r = right;
	const struct weft__runs_counter *lc = l->sample->counter, *rc = r->sample->counter;
	bool is_unknown[2] = {lc->type == WEFT__RUNS_UNKNOWN, rc->type == WEFT__RUNS_UNKNOWN};
	int order = is_unknown[0] - is_unknown[1];
	order = order ? order : strcmp(l->family, r->family);
	order = order ? order : (int)lc->type - (int)rc->type;
	order = order ? order : strcmp(lc->name, rc->name);
	order = order ? order : strcmp(r->unit.name, l->unit.name); /* one that has a unit first */
	return order ? order : strcmp(l->labels, r->labels);
}

static bool is_negative(const struct weft__runs_counter *counter)
{
	return counter->type == WEFT__RUNS_COUNTER &&
		   (counter->is_real ? counter->real < 0 : counter->integer < 0);
}

struct making {
	struct weft__metrics_families *families;
	weft__metrics_left_out *left_out;
};

static void leave_out(
	const struct making *making, const struct weft__metrics_sample *sample, const char *why)
{
	making->families->left_out++;
	if (making->left_out)
		making->left_out(sample, why);
}

static void add_series(const struct making *making, const struct weft__metrics_sample *sample)
{
	struct weft__metrics_families *families = making->families;
	struct weft_text *texts = &families->texts;
	size_t family = texts->size;
	const char *fault = is_negative(sample->counter) ? "a counter cannot be negative" : NULL;
	const bool has_unit = add_family(texts, sample->counter);
	size_t labels = texts->size;
	fault = fault ? fault : weft__metrics_add_labels(texts, sample);
	weft_text_add(texts, "", 1);
	if (fault)
		leave_out(making, sample, fault);
	else
		families->series[families->count++] = (struct weft__metrics_series){.sample = sample,
			.unit = weft__metrics_base_unit(sample->counter),
			.has_unit = has_unit,
			.family_offset = family,
			.labels_offset = labels};
}

static void find_texts(struct weft__metrics_families *families)
{
	for (size_t i = 0; i < families->count; i++) {
		struct weft__metrics_series *series = &families->series[i];
		series->family = families->texts.bytes + series->family_offset;
		series->labels = families->texts.bytes + series->labels_offset;
	}
}

/* False without memory. */
static bool drop_collisions(const struct making *making)
{
	struct weft__metrics_families *families = making->families;
	struct name_set names = {0};
	size_t count = 0;
	bool is_free = false;
	struct weft__metrics_series last = {0};
	if (weft__strings_init(&names.names))
		return false;
	add_name(&names, WEFT__METRICS_LEFT_OUT, "");
	for (size_t i = 0; i < families->count; i++) {
		const struct weft__metrics_series it = families->series[i];
		bool is_first = !i || !weft__metrics_is_one_family(&last, &it);
		if (is_first)
			is_free = take_names(&names, it.family, it.sample->counter->type);
		if (!is_free)
			leave_out(making, it.sample, "another metric has its name in Prometheus");
		else if (!is_first && strcmp(last.labels, it.labels) == 0)
			leave_out(making, it.sample, "another series has the same labels");
		else
			families->series[count++] = it;
		last = it;
	}
	families->count = count;
	weft__strings_finish(&names.names);
	weft_text_finish(&names.name);
	return !names.error;
}

bool weft__metrics_families_init(struct weft__metrics_families *families,
	const struct weft__metrics_sample *samples, size_t count, weft__metrics_left_out *left_out)
{
	const struct making making = {families, left_out};
	*families =
		(struct weft__metrics_families){.series = calloc(count + 1, sizeof(*families->series))};
	for (size_t i = 0; families->series && i < count; i++)
		add_series(&making, &samples[i]);
	if (!families->series || families->texts.error)
		return false;
	find_texts(families);
	qsort(families->series, families->count, sizeof(*families->series), by_family);
	return drop_collisions(&making);
}

void weft__metrics_families_finish(struct weft__metrics_families *families)
{
	free(families->series);
	weft_text_finish(&families->texts);
}
