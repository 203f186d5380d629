/* SPDX-License-Identifier: ISC
 *
 * Takes samples. Names and frames are kept once each.
 */
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/export.h"
#include "base/ns.h"
#include "base/options.h"

static uint64_t hash_name(const struct weft__hash_key *key, const void *owner, uint32_t name)
{
	const struct weft_slice *text = &((const struct weft_profile *)owner)->names[name];
	return weft__hash_bytes(key, text->bytes, text->size);
}

static uint64_t hash_of(const struct weft__hash_key *key, const struct weft__profile_frame *frame)
{
	struct weft__hash hash = weft__hash_begin(key);
	weft__hash_word(&hash, (uint64_t)frame->function << 32 | frame->file);
	weft__hash_word(&hash, frame->line);
	return weft__hash_end(&hash);
}

static uint64_t hash_frame(const struct weft__hash_key *key, const void *owner, uint32_t frame)
{
	return hash_of(key, &((const struct weft_profile *)owner)->frames[frame]);
}

static int add_name(struct weft_profile *p, struct weft_slice text, uint32_t *ret_name)
{
	const struct weft__column column = {&p->names, sizeof(*p->names)};
	const struct weft__index *index = &p->by_name;
	uint32_t slot = weft__index_start(index, weft__hash_bytes(&index->key, text.bytes, text.size)),
			 name;
	for (; (name = index->slots[slot]) != WEFT__INDEX_EMPTY; slot = weft__index_next(index, slot))
		if (p->names[name].size == text.size &&
			memcmp(p->names[name].bytes, text.bytes, text.size) == 0) {
			*ret_name = name;
			return 0;
		}
	int error = weft__columns_reserve(&column, 1, &p->name_capacity, p->name_count + (size_t)1);
	if (error)
		return error;
	char *copy = malloc(text.size + 1);
	if (!copy)
		return WEFT_ERROR_MEMORY;
	memcpy(copy, text.bytes, text.size);
	*ret_name = p->name_count;
	p->names[p->name_count++] = (struct weft_slice){copy, text.size};
	return weft__index_add(&p->by_name, *ret_name, hash_name, p);
}

static int find_frame(
	struct weft_profile *p, const struct weft__profile_frame *frame, uint32_t *ret_frame)
{
	const struct weft__column column = {&p->frames, sizeof(*p->frames)};
	const struct weft__index *index = &p->by_frame;
	uint32_t slot = weft__index_start(index, hash_of(&index->key, frame)), number;
	for (; (number = index->slots[slot]) != WEFT__INDEX_EMPTY;
		 slot = weft__index_next(index, slot)) {
		const struct weft__profile_frame *other = &p->frames[number];
		if (other->function == frame->function && other->file == frame->file &&
			other->line == frame->line) {
			*ret_frame = number;
			return 0;
		}
	}
	int error = weft__columns_reserve(&column, 1, &p->frame_capacity, p->frame_count + (size_t)1);
	if (error)
		return error;
	*ret_frame = p->frame_count;
	p->frames[p->frame_count++] = *frame;
	return weft__index_add(&p->by_frame, *ret_frame, hash_frame, p);
}

static int add_call(struct weft_profile *p, const struct weft__profile_call *call)
{
	const struct weft__column column = {&p->list, sizeof(*p->list)};
	struct weft__profile_frame frame = {.line = call->line};
	int error = weft__columns_reserve(&column, 1, &p->list_capacity, p->list_count + (size_t)1);
	if (!error)
		error = add_name(p, call->function, &frame.function);
	if (!error)
		error = add_name(p, call->file, &frame.file);
	if (!error)
		error = find_frame(p, &frame, &p->list[p->list_count]);
	p->list_count += !error;
	return error;
}

static int add_text(struct weft_profile *p, struct weft_slice text)
{
	const struct weft__profile_call call = weft__profile_call_of(text);
	return add_call(p, &call);
}

static int add_sample(struct weft_profile *p, const struct weft__profile_sample *sample)
{
	const struct weft__column column = {&p->samples, sizeof(*p->samples)};
	int error = weft__columns_reserve(&column, 1, &p->sample_capacity, p->sample_count + (size_t)1);
	if (!error)
		p->samples[p->sample_count++] = *sample;
	return error;
}

WEFT__EXPORT int weft_profile_add(struct weft_profile *p, struct weft_slice calls,
	struct weft_slice leaf, uint64_t weight_ns, uint64_t count)
{
	const uint32_t first = p->list_count;
	int error = leaf.size ? add_text(p, leaf) : 0;
	for (struct weft_slice call; !error && weft__profile_next_call(&calls, &call);)
		error = add_text(p, call);
	if (!error)
		error = add_sample(p, &(struct weft__profile_sample){.weight = weight_ns,
								  .count = count,
								  .first = first,
								  .frame_count = p->list_count - first});
	if (error)
		return error;
	p->weight = weft__ns_add(p->weight, weight_ns);
	p->count = weft__ns_add(p->count, count);
	return 0;
}

static int add_before(struct weft_profile *p, const struct weft_profile *before, uint32_t number)
{
	const struct weft__profile_sample *sample = &before->samples[number];
	const uint32_t first = p->list_count;
	int error = 0;
	for (uint32_t i = 0; i < sample->frame_count && !error; i++) {
		const struct weft__profile_frame *frame = &before->frames[before->list[sample->first + i]];
		error = add_call(p, &(struct weft__profile_call){before->names[frame->function],
								before->names[frame->file], frame->line});
	}
	return error ? error
				 : add_sample(p, &(struct weft__profile_sample){.before = sample->weight,
									 .first = first,
									 .frame_count = p->list_count - first});
}

WEFT__EXPORT int weft_profile_compare(struct weft_profile *p, const struct weft_profile *before)
{
	const uint64_t now_ns = p->options.duration_ns, then_ns = before->options.duration_ns;
	int error = 0;
	p->is_compared = true;
	p->scale = now_ns && then_ns ? (double)now_ns / (double)then_ns : 1;
	for (uint32_t i = 0; i < before->sample_count && !error; i++)
		error = add_before(p, before, i);
	return error;
}

WEFT__EXPORT uint64_t weft_profile_weight(const struct weft_profile *profile)
{
	return profile->weight;
}

WEFT__EXPORT uint64_t weft_profile_count(const struct weft_profile *profile)
{
	return profile->count;
}

WEFT__EXPORT int weft_profile_create(
	const struct weft_profile_options *options, struct weft_profile **ret_profile)
{
	struct weft_profile *p = calloc(1, sizeof(*p));
	uint32_t empty;
	if (!p)
		return WEFT_ERROR_MEMORY;
	if (options)
		WEFT__OPTIONS_COPY(&p->options, options);
	int error = weft__index_init(&p->by_name);
	if (!error)
		error = weft__index_init(&p->by_frame);
	if (!error)
		error = add_name(p, (struct weft_slice){"", 0}, &empty);
	if (error)
		weft_profile_destroy(p);
	else
		*ret_profile = p;
	return error;
}

WEFT__EXPORT void weft_profile_destroy(struct weft_profile *p)
{
	if (!p)
		return;
	weft__index_finish(&p->by_name);
	weft__index_finish(&p->by_frame);
	for (uint32_t i = 0; i < p->name_count; i++)
		free((void *)(uintptr_t)p->names[i].bytes);
	free(p->names);
	free(p->frames);
	free(p->samples);
	free(p->list);
	free(p);
}
