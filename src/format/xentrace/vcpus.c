/* SPDX-License-Identifier: ISC
 *
 * A table of vCPUs with an index by domain and number, and a list of those of each domain.
 */
#include "format/xentrace/vcpus.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/array.h"
#include "format/xentrace/survey.h"

static uint64_t hash_of(const struct weft__hash_key *key, uint32_t domain, uint32_t vcpu)
{
	struct weft__hash hash = weft__hash_begin(key);
	weft__hash_word(&hash, (uint64_t)domain << 32 | vcpu);
	return weft__hash_end(&hash);
}

static uint64_t hash_vcpu(const struct weft__hash_key *key, const void *owner, uint32_t number)
{
	const struct weft__xentrace_vcpus *vcpus = owner;
	return hash_of(key, vcpus->list[number].domain, vcpus->list[number].vcpu);
}

int weft__format_xentrace_vcpus_init(struct weft__xentrace_vcpus *vcpus)
{
	const size_t bytes = WEFT__XENTRACE_DOMAINS * sizeof(*vcpus->first);
	*vcpus = (struct weft__xentrace_vcpus){.first = malloc(bytes)};
	if (!vcpus->first)
		return WEFT_ERROR_MEMORY;
	memset(vcpus->first, 0xff, bytes);
	return weft__index_init(&vcpus->index);
}

void weft__format_xentrace_vcpus_finish(struct weft__xentrace_vcpus *vcpus)
{
	free(vcpus->list);
	free(vcpus->first);
	weft__index_finish(&vcpus->index);
	*vcpus = (struct weft__xentrace_vcpus){0};
}

static struct weft__xentrace_state *add_vcpu(
	struct weft__xentrace_vcpus *v, uint32_t domain, uint32_t vcpu)
{
	if (v->count == v->capacity) {
		size_t capacity = weft__array_next_capacity(v->capacity, v->count + 1);
		if (weft__array_resize(&v->list, capacity, sizeof(*v->list)))
			return NULL;
		v->capacity = capacity;
	}
	uint32_t number = (uint32_t)v->count;
	struct weft__xentrace_state *state = &v->list[number];
	*state =
		(struct weft__xentrace_state){.domain = domain, .vcpu = vcpu, .next = v->first[domain]};
	if (weft__index_add(&v->index, number, hash_vcpu, v))
		return NULL;
	v->first[domain] = number;
	v->count++;
	return state;
}

struct weft__xentrace_state *weft__format_xentrace_vcpus_find(
	struct weft__xentrace_vcpus *v, uint32_t domain, uint32_t vcpu)
{
	if (domain >= WEFT__XENTRACE_DOMAINS)
		return NULL;
	uint32_t slot = weft__index_start(&v->index, hash_of(&v->index.key, domain, vcpu)), number;
	while ((number = v->index.slots[slot]) != WEFT__INDEX_EMPTY) {
		if (v->list[number].domain == domain && v->list[number].vcpu == vcpu)
			return &v->list[number];
		slot = weft__index_next(&v->index, slot);
	}
	return add_vcpu(v, domain, vcpu);
}
