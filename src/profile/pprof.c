/* SPDX-License-Identifier: ISC
 *
 * pprof's profile.proto: https://github.com/google/pprof/blob/main/proto/profile.proto. A location
 * is a frame. Texts are numbers of the table of strings, which begins with our names.
 */
#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "otlp/encoder.h"
#include "profile/profile.h"

enum field {
#define FIELD(id, number, type) FIELD_##id,
#include "profile/fields.def"
#undef FIELD
	FIELDS
};

static const struct weft__otlp_field fields[FIELDS] = {
#define FIELD(id, number, type) {number, WEFT__OTLP_##type, false, NULL},
#include "profile/fields.def"
#undef FIELD
};

/* Texts behind the profile's own names. */
enum text {
	TEXT_COUNTED,
	TEXT_COUNT,
	TEXT_WEIGHED,
	TEXT_NANOSECONDS,
	TEXTS
};

struct writer {
	const struct weft_profile *profile;
	struct weft__otlp_encoder encoder;
	uint32_t *function;  /* by frame: its function and file, from 1 on */
	uint64_t *locations; /* of a sample */
};

static uint64_t number_of(const struct writer *w, enum text text)
{
	return w->profile->name_count + (uint64_t)text;
}

static void put_type(struct writer *w, enum text name, enum text unit)
{
	weft__otlp_begin(&w->encoder, FIELD_SAMPLE_TYPE);
	weft__otlp_put_integer(&w->encoder, FIELD_TYPE_NAME, number_of(w, name));
	weft__otlp_put_integer(&w->encoder, FIELD_TYPE_UNIT, number_of(w, unit));
	weft__otlp_end(&w->encoder);
}

/* Values are signed there. */
static uint64_t signed_of(uint64_t number)
{
	return number < INT64_MAX ? number : INT64_MAX;
}

static void put_sample(struct writer *w, const struct weft__profile_sample *sample)
{
	const uint64_t values[] = {signed_of(sample->count), signed_of(sample->weight)};
	for (uint32_t i = 0; i < sample->frame_count; i++)
		w->locations[i] = w->profile->list[sample->first + i] + UINT64_C(1);
	weft__otlp_begin(&w->encoder, FIELD_SAMPLE);
	weft__otlp_put_integers(&w->encoder, FIELD_SAMPLE_LOCATIONS, w->locations, sample->frame_count);
	weft__otlp_put_integers(&w->encoder, FIELD_SAMPLE_VALUES, values, 2);
	weft__otlp_end(&w->encoder);
}

static void put_location(struct writer *w, uint32_t frame)
{
	weft__otlp_begin(&w->encoder, FIELD_LOCATION);
	weft__otlp_put_integer(&w->encoder, FIELD_LOCATION_ID, frame + UINT64_C(1));
	weft__otlp_begin(&w->encoder, FIELD_LOCATION_LINE);
	weft__otlp_put_integer(&w->encoder, FIELD_LINE_FUNCTION, w->function[frame]);
	if (w->profile->frames[frame].line)
		weft__otlp_put_integer(&w->encoder, FIELD_LINE_NUMBER, w->profile->frames[frame].line);
	weft__otlp_end(&w->encoder);
	weft__otlp_end(&w->encoder);
}

static void put_function(struct writer *w, uint32_t id, const struct weft__profile_frame *frame)
{
	weft__otlp_begin(&w->encoder, FIELD_FUNCTION);
	weft__otlp_put_integer(&w->encoder, FIELD_FUNCTION_ID, id);
	weft__otlp_put_integer(&w->encoder, FIELD_FUNCTION_NAME, frame->function);
	weft__otlp_put_integer(&w->encoder, FIELD_FUNCTION_SYMBOL, frame->function);
	if (frame->file)
		weft__otlp_put_integer(&w->encoder, FIELD_FUNCTION_FILE, frame->file);
	weft__otlp_end(&w->encoder);
}

static void put_strings(struct writer *w)
{
	const struct weft_profile_options *o = &w->profile->options;
	const char *const texts[TEXTS] = {[TEXT_COUNTED] = o->counted ? o->counted : "samples",
		[TEXT_COUNT] = "count",
		[TEXT_WEIGHED] = o->weighed ? o->weighed : "time",
		[TEXT_NANOSECONDS] = "nanoseconds"};
	for (uint32_t i = 0; i < w->profile->name_count; i++)
		weft__otlp_put_text(&w->encoder, FIELD_STRING, w->profile->names[i]);
	for (unsigned i = 0; i < TEXTS; i++)
		weft__otlp_put_string(&w->encoder, FIELD_STRING, texts[i]);
}

/* ---- Functions ---- */

/* qsort() takes no context. */
struct sorted_frame {
	uint32_t function, file, frame;
};

static int compare(const void *left, const void *right)
{
	const struct sorted_frame *l = left, *r = right;
	if (l->function != r->function)
		return l->function < r->function ? -1 : 1;
	if (l->file != r->file)
		return l->file < r->file ? -1 : 1;
	return l->frame < r->frame ? -1 : l->frame > r->frame;
}

/* Frames of one function and file are next to each other. */
static struct sorted_frame *sort_frames(const struct weft_profile *p)
{
	struct sorted_frame *sorted = malloc((p->frame_count + (size_t)1) * sizeof(*sorted));
	for (uint32_t i = 0; sorted && i < p->frame_count; i++)
		sorted[i] = (struct sorted_frame){p->frames[i].function, p->frames[i].file, i};
	if (sorted)
		qsort(sorted, p->frame_count, sizeof(*sorted), compare);
	return sorted;
}

static bool is_same(const struct sorted_frame *a, const struct sorted_frame *b)
{
	return a->function == b->function && a->file == b->file;
}

static void number_functions(struct writer *w, const struct sorted_frame *sorted)
{
	uint32_t id = 0;
	for (uint32_t i = 0; i < w->profile->frame_count; i++) {
		id += i == 0 || !is_same(&sorted[i], &sorted[i - 1]);
		w->function[sorted[i].frame] = id;
	}
}

static void put_all(struct writer *w, const struct sorted_frame *sorted)
{
	const struct weft_profile *p = w->profile;
	number_functions(w, sorted);
	put_type(w, TEXT_COUNTED, TEXT_COUNT);
	put_type(w, TEXT_WEIGHED, TEXT_NANOSECONDS);
	for (uint32_t i = 0; i < p->sample_count; i++)
		put_sample(w, &p->samples[i]);
	for (uint32_t i = 0; i < p->frame_count; i++)
		put_location(w, i);
	for (uint32_t i = 0; i < p->frame_count; i++)
		if (i == 0 || !is_same(&sorted[i], &sorted[i - 1]))
			put_function(w, w->function[sorted[i].frame], &p->frames[sorted[i].frame]);
	put_strings(w);
	weft__otlp_put_integer(&w->encoder, FIELD_DURATION, p->options.duration_ns);
	weft__otlp_put_integer(&w->encoder, FIELD_DEFAULT_TYPE, number_of(w, TEXT_WEIGHED));
}

WEFT__EXPORT int weft_profile_write_pprof(
	const struct weft_profile *profile, struct weft_text *text)
{
	struct writer w = {.profile = profile, .encoder = {.fields = fields}};
	struct sorted_frame *sorted = sort_frames(profile);
	w.function = malloc((profile->frame_count + (size_t)1) * sizeof(*w.function));
	w.locations = malloc((profile->list_count + (size_t)1) * sizeof(*w.locations));
	int error = sorted && w.function && w.locations ? 0 : WEFT_ERROR_MEMORY;
	if (!error) {
		put_all(&w, sorted);
		weft_text_add(text, w.encoder.text.bytes, w.encoder.text.size);
		error = w.encoder.text.error ? WEFT_ERROR_MEMORY : text->error;
	}
	weft_text_finish(&w.encoder.text);
	free(sorted);
	free(w.function);
	free(w.locations);
	return error;
}
