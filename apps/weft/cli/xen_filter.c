/* SPDX-License-Identifier: ISC
 *
 * Parses --filter domain=N,class=NAME,span=NAME, and applies it to records.
 *
 * The records of a span are those of its vCPU from the record that begins it to the vCPU's next
 * entry into Xen, on whichever pCPU: Xen does not record when a PV guest goes on.
 */
#include "xen_filter.h"

#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include <weft/parse.h>

/* Bits 12 and up of ids, and ids, as in Xen's public header trace.h. */
#define CLASS_ENTRY   0x201u
#define CLASS_SUBCALL 0x202u
#define ID_LOST       0x1f001u
#define ID_RUNSTATE   0x21001u /* with both states 0 */
#define ID_CONTINUE   0x21002u
#define ID_ENTRY      0x81001u
#define ID_EXIT       0x81002u
#define ID_EXIT_SVM   0x81003u
#define ID_VMMCALL    0x82012u

#define ALL_SUBCLASSES 0xf000u
#define ALL_CLASSES    0xfffu
#define RUNSTATES      0x21000u

/* Bits 16 to 27 of a record's id. */
static const struct {
	const char *name;
	uint32_t bits;
} classes[] = {
	{"gen", 0x001},
	{"sched", 0x002},
	{"dom0op", 0x004},
	{"hvm", 0x008},
	{"mem", 0x010},
	{"pv", 0x020},
	{"shadow", 0x040},
	{"hw", 0x080},
	{"guest", 0x800},
};

static bool refuse(const char *command, const char *word, size_t size)
{
	cli_usage_error(command,
		"--filter: \"%.*s\" is neither domain=N, span=NAME nor class=gen, sched, dom0op, hvm, mem, pv,"
		" shadow, hw or guest",
		(int)size, word);
	return false;
}

static bool add_class(struct xen_filter_words *words, const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strlen(classes[i].name) == size && memcmp(classes[i].name, name, size) == 0) {
			words->classes |= classes[i].bits;
			return true;
		}
	return false;
}

static bool add_domain(struct xen_filter_words *words, const char *number, size_t size)
{
	uint64_t domain;
	if (words->domain_count == XEN_FILTER_DOMAINS_MAX ||
		weft_parse_number(number, size, &domain) != WEFT_PARSE_OK || domain > WEFT_XENTRACE_IDLE)
		return false;
	words->domains[words->domain_count++] = (uint32_t)domain;
	return true;
}

static bool add_span(struct xen_filter_words *words, const char *name, size_t size)
{
	if (words->span_count == XEN_FILTER_SPANS_MAX || !size)
		return false;
	words->spans[words->span_count++] = (struct weft_slice){name, size};
	return true;
}

static bool add_word(struct xen_filter_words *words, const char *text, size_t size)
{
	if (size >= 7 && strncmp(text, "domain=", 7) == 0)
		return add_domain(words, text + 7, size - 7);
	if (size >= 6 && strncmp(text, "class=", 6) == 0)
		return add_class(words, text + 6, size - 6);
	return size >= 5 && strncmp(text, "span=", 5) == 0 && add_span(words, text + 5, size - 5);
}

/* A word with a `-` in front, as in the viewer's filter, or with a `!`, hides. */
bool xen_filter_parse(const char *command, const char *text, struct xen_filter *filter)
{
	for (;; text++) {
		const size_t size = strcspn(text, ",");
		const bool hides = *text == '-' || *text == '!';
		if (!add_word(hides ? &filter->hide : &filter->only, text + hides, size - hides))
			return refuse(command, text, size);
		text += size;
		if (!*text)
			return true;
	}
}

bool xen_events_parse(const char *command, const char *text, uint32_t *ret_mask)
{
	struct xen_filter_words words = {0};
	uint64_t mask;
	if (strncmp(text, "0x", 2) == 0 &&
		weft_parse_hexadecimal(text + 2, strlen(text + 2), &mask) == WEFT_PARSE_OK && mask &&
		mask <= UINT32_MAX) {
		*ret_mask = (uint32_t)mask;
		return true;
	}
	bool good = true;
	for (const char *at = text; good; at++) {
		size_t size = strcspn(at, ",");
		good = add_class(&words, at, size);
		at += size;
		if (!*at)
			break;
	}
	if (!good) {
		cli_usage_error(command,
			"--events: \"%s\" is neither a list of gen, sched, dom0op, hvm, mem, pv, shadow, hw and "
			"guest, nor a mask such as 0x0002f000",
			text);
		return false;
	}
	*ret_mask = words.classes << 16 | ALL_SUBCLASSES;
	return true;
}

uint32_t xen_events_for(const struct xen_filter *filter)
{
	const uint32_t only = filter->only.classes ? filter->only.classes : ALL_CLASSES;
	return (only & ~filter->hide.classes) << 16 | ALL_SUBCLASSES | RUNSTATES;
}

/* ---- Spans ---- */

void xen_filter_state_finish(struct xen_filter_state *state)
{
	free(state->vcpus);
	*state = (struct xen_filter_state){0};
}

/* More of them are damage. */
#define VCPUS_MAX 4096

/* The vCPU of a record, added if it is new; NULL: it is not known, or there is no room. */
static struct xen_filter_vcpu *find_vcpu(
	struct xen_filter_state *state, const struct weft_xentrace_record *record)
{
	if (record->domain >= WEFT_XENTRACE_IDLE)
		return NULL;
	for (size_t i = 0; i < state->count; i++)
		if (state->vcpus[i].domain == record->domain && state->vcpus[i].vcpu == record->vcpu)
			return &state->vcpus[i];
	if (state->count == VCPUS_MAX)
		return NULL;
	if (state->count == state->capacity) {
		size_t capacity = 2 * state->capacity + 16;
		struct xen_filter_vcpu *list = realloc(state->vcpus, capacity * sizeof(*list));
		if (!list)
			return NULL;
		state->vcpus = list;
		state->capacity = capacity;
	}
	state->vcpus[state->count] =
		(struct xen_filter_vcpu){.domain = record->domain, .vcpu = record->vcpu};
	return &state->vcpus[state->count++];
}

static bool names_span(
	const struct xen_filter_words *words, const struct weft_xentrace_record *record)
{
	const char *name = record->detail ? record->detail : record->name;
	for (unsigned i = 0; i < words->span_count; i++)
		if (strlen(name) == words->spans[i].size &&
			memcmp(name, words->spans[i].bytes, words->spans[i].size) == 0)
			return true;
	return false;
}

/* Whether the record is in a span that the words of `only`, and of `hide`, name. */
static void find_spans(const struct xen_filter *filter, struct xen_filter_state *state,
	const struct weft_xentrace_record *record, bool ret_in[2])
{
	const struct xen_filter_words *words[2] = {&filter->only, &filter->hide};
	struct xen_filter_vcpu *vcpu = find_vcpu(state, record);
	const uint32_t id = record->id;
	const bool is_exit = (id & ~0x500u) == ID_EXIT || (id & ~0x500u) == ID_EXIT_SVM;
	for (int i = 0; i < 2 && vcpu; i++) {
		if (id >> 12 == CLASS_ENTRY || is_exit) {
			vcpu->is_entry[i] = names_span(words[i], record);
			vcpu->is_part[i] = false;
		} else if (id >> 12 == CLASS_SUBCALL || id == ID_VMMCALL) {
			vcpu->is_part[i] = names_span(words[i], record);
		}
		ret_in[i] = vcpu->is_entry[i] || vcpu->is_part[i];
		if ((id & ~0x400u) == ID_ENTRY || id == ID_LOST)
			vcpu->is_entry[i] = vcpu->is_part[i] = false;
	}
}

static bool has_domain(
	const struct xen_filter_words *words, const struct weft_xentrace_record *record)
{
	for (unsigned i = 0; i < words->domain_count; i++)
		if (words->domains[i] == record->domain)
			return true;
	return false;
}

bool xen_filter_has(const struct xen_filter *filter, struct xen_filter_state *state,
	const struct weft_xentrace_record *record)
{
	const struct xen_filter_words *only = &filter->only, *hide = &filter->hide;
	bool is_in[2] = {false, false};
	if (only->span_count || hide->span_count)
		find_spans(filter, state, record, is_in);
	/* Where records are lost, wanted ones may be among them. */
	if (record->id == ID_LOST)
		return true;
	if ((only->span_count && !is_in[0]) || is_in[1])
		return false;
	if ((only->classes && !(only->classes & record->id >> 16)) || hide->classes & record->id >> 16)
		return false;
	return (!only->domain_count || has_domain(only, record)) && !has_domain(hide, record);
}

bool xen_filter_keeps(const struct xen_filter *filter, const struct weft_xentrace_record *record)
{
	const uint32_t id = record->id;
	const bool is_state = (id & 0xff00fu) == ID_RUNSTATE || id == ID_CONTINUE;
	return is_state && !(filter->hide.classes & id >> 16);
}
