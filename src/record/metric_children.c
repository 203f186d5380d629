/* SPDX-License-Identifier: ISC
 *
 * Children of metrics. Unused ones are in a list whose head has a count of its changes, so that a
 * compare-and-exchange cannot take an old head for the present one.
 */
#include "record/metrics.h"

#include <weft/error.h>

#include <string.h>

struct weft__metric_child *weft__record_metric_find_child(
	const struct weft__metrics *m, weft_metric metric)
{
	const uint32_t index = (uint32_t)metric, sequence = (uint32_t)(metric >> 32);
	struct weft__metric_child *child = weft__load_acquire(&m->child);
	if (!(metric & WEFT__METRIC_CHILD) || !child || index >= weft__load(&m->child_count))
		return NULL;
	child += index;
	if (((weft__load_acquire(&child->sequence) ^ sequence) & WEFT__METRIC_SEQUENCE) == 0)
		return child;
	struct weft_abi_metrics *shared = weft__load(&m->own.shared);
	if (shared)
		weft__fetch_add(&shared->stale, 1);
	return NULL;
}

/* ---- Values ---- */

/* The part that other processes see; NULL in a forked child. */
static struct weft_abi_child *shared_child(
	const struct weft__metrics *m, const struct weft__metric_child *child)
{
	struct weft_abi_children *children = weft__load(&m->own.children);
	struct weft_abi_child *first = (struct weft_abi_child *)(void *)(children + 1);
	return children ? first + (child - m->child) : NULL;
}

/* The child that this one is below; NULL if it is none, or has ended. */
static const struct weft__metric_child *above(
	const struct weft__metrics *m, const struct weft__metric_child *child)
{
	const uint32_t below = weft__load(&child->below);
	if (!below || below > m->child_count)
		return NULL;
	const struct weft__metric_child *it = &m->child[below - 1];
	return weft__load(&it->sequence) == weft__load(&child->below_sequence) ? it : NULL;
}

/* True if a child above has ended: then what this one has was taken from its levels with that. */
static bool is_orphan(const struct weft__metrics *m, const struct weft__metric_child *child)
{
	for (unsigned i = 0; child && i < WEFT_METRIC_PAIRS_MAX; i++, child = above(m, child))
		if (!weft__load(&child->below))
			return false;
	return true;
}

/* The levels of a gauge have only what an end can take from them again. */
void weft__record_metric_change_child(struct weft__metrics *m,
	const struct weft__metric_child *child, uint32_t row, uint64_t change, bool and_itself)
{
	if (m->row[row].kind == WEFT_METRIC_GAUGE && (!shared_child(m, child) || is_orphan(m, child)))
		return;
	weft__record_metric_add_to(m, m->row[row].cell, change);
	const struct weft__metric_child *it = above(m, child);
	/* Each child is below an older one; the bound is for a list that is being changed. */
	for (unsigned i = 0; it && i < WEFT_METRIC_PAIRS_MAX; i++, it = above(m, it)) {
		struct weft_abi_child *shared = shared_child(m, it);
		if (shared)
			weft__fetch_add(&shared->cell, change);
	}
	struct weft_abi_child *own = and_itself ? shared_child(m, child) : NULL;
	if (own)
		weft__fetch_add(&own->cell, change);
}

/* `base` is read from the shared memory, where nobody trusts it: it is the value of a detail. */
uint64_t weft__record_metric_value_of_child(
	const struct weft__metrics *m, const struct weft__metric_child *child)
{
	const struct weft_abi_child *shared = shared_child(m, child);
	return shared ? weft__load(&shared->cell) - weft__load(&shared->base) : 0;
}

void weft__record_metric_set_child(
	struct weft__metrics *m, const struct weft__metric_child *child, uint64_t value)
{
	struct weft_abi_child *shared = shared_child(m, child);
	if (!shared)
		return;
	const uint64_t after = weft__load(&shared->base) + value;
	const uint64_t before = __atomic_exchange_n(&shared->cell, after, __ATOMIC_RELAXED);
	weft__record_metric_change_child(m, child, weft__load(&child->row), after - before, false);
}

/* ---- Making and ending ---- */

/* An unused child; NULL without room. */
static struct weft__metric_child *take_child(struct weft__metrics *m)
{
	uint64_t head = weft__load_acquire(&m->unused_child);
	while ((uint32_t)head && (uint32_t)head <= m->child_count) {
		struct weft__metric_child *child = &m->child[(uint32_t)head - 1];
		uint64_t next = ((head >> 32) + 1) << 32 | weft__load(&child->below);
		if (weft__compare_exchange(&m->unused_child, head, next))
			return child;
		head = weft__load_acquire(&m->unused_child);
	}
	struct weft_abi_children *memory = weft__load(&m->own.children);
	uint32_t used, used_now;
	do {
		used = weft__load(&m->children_used);
		if (used >= m->child_count || !memory)
			return NULL;
	} while (!weft__compare_exchange(&m->children_used, used, used + 1));
	do {
		used_now = weft__load(&m->children_used);
		weft__store(&memory->used, used_now);
		weft__fence();
	} while (used_now != weft__load(&m->children_used));
	return &m->child[used];
}

static void give_back(struct weft__metrics *m, struct weft__metric_child *child)
{
	uint64_t head, next;
	do {
		head = weft__load(&m->unused_child);
		weft__store(&child->below, (uint32_t)head);
		next = ((head >> 32) + 1) << 32 | (uint32_t)(child - m->child + 1);
	} while (!weft__compare_exchange(&m->unused_child, head, next));
}

/* A label: its key and value, one behind the other with their NULs. */
struct label {
	char text[WEFT_ABI_CHILD_TEXT];
	uint8_t size;
};

/* The value is cut between characters. */
static void put_label(struct label *label, const char *key, const char *value)
{
	uint32_t size = 0, at = 0;
	while (size < WEFT_METRIC_CHILD_MAX && key[size])
		size++;
	memcpy(label->text, key, size);
	label->text[size++] = '\0';
	while (size + at < WEFT_ABI_CHILD_TEXT - 1 && value[at])
		at++;
	if (value[at])
		while (at && ((unsigned char)value[at] & 0xc0) == 0x80)
			at--;
	memcpy(label->text + size, value, at);
	label->text[size + at] = '\0';
	label->size = (uint8_t)(size + at + 1);
}

/* Stores the part that other processes see, the sequence last. */
static void share_child(struct weft__metrics *m, const struct weft__metric_child *child,
	const struct label *label, uint32_t sequence)
{
	struct weft_abi_child *shared = shared_child(m, child);
	uint64_t created_unix_ns = 0;
	if (!shared)
		return; /* a handler of ours has forked, and this is the child */
	(void)weft__platform_clock(WEFT_CLOCK_REALTIME, &created_unix_ns);
	weft__store(&shared->base, weft__load(&shared->cell));
	weft__store(&shared->below, child->below);
	weft__store(&shared->below_sequence, child->below_sequence);
	weft__store(&shared->row, child->row);
	weft__store(&shared->created_unix_ns, created_unix_ns);
	weft__store(&shared->text_size, label->size);
	for (uint32_t i = 0; i < label->size; i++)
		weft__store(&shared->text[i], label->text[i]);
	weft__store_release(&shared->sequence, sequence);
}

/* Without room, the level or child above counts instead of the new one; not of a gauge, because
 * nobody would know what to take from it at the end. */
static weft_metric instead(struct weft__metrics *m, weft_metric parent, uint32_t row)
{
	weft__record_metric_refuse(m);
	return m->row[row].kind == WEFT_METRIC_GAUGE ? 0 : parent | WEFT__METRIC_INSTEAD;
}

/* The children above a new one, whose parent that is. */
static unsigned depth_of(const struct weft__metrics *m, const struct weft__metric_child *up)
{
	unsigned depth = 0;
	for (; up && depth <= WEFT_METRIC_PAIRS_MAX; up = above(m, up))
		depth++;
	return depth;
}

static weft_metric add_child(weft_metric parent, const struct label *label)
{
	struct weft__metrics *m = weft__record_metrics();
	const struct weft__metric_child *up = weft__record_metric_find_child(m, parent);
	uint32_t row = up ? up->row : weft__record_metric_row(m, parent);
	if (row >= WEFT_ABI_METRIC_ROWS)
		return 0;
	if (m->row[row].kind == WEFT_METRIC_HISTOGRAM || !weft__load_acquire(&m->own.children) ||
		depth_of(m, up) >= WEFT_METRIC_PAIRS_MAX)
		return instead(m, parent, row);
	struct weft__metric_child *child = take_child(m);
	if (!child)
		return instead(m, parent, row);
	weft__store(&child->below, up ? (uint32_t)(up - m->child + 1) : 0);
	weft__store(&child->below_sequence, up ? weft__load(&up->sequence) : 0);
	weft__store(&child->row, (uint16_t)row);
	const uint32_t sequence = child->sequence + 1;
	share_child(m, child, label, sequence);
	weft__store_release(&child->sequence, sequence);
	return WEFT__METRIC_CHILD | (uint64_t)(sequence & WEFT__METRIC_SEQUENCE) << 32 |
		   (uint64_t)(child - m->child);
}

WEFT__EXPORT weft_metric weft_metric_child(weft_metric parent, const char *key, const char *value)
{
	struct label label;
	if (!key || !*key || !value)
		return parent ? parent | WEFT__METRIC_INSTEAD : 0;
	put_label(&label, key, value);
	return add_child(parent, &label);
}

/* Returns the rest. In parts: a processor of 32 bits needs a function of libgcc to divide 64. */
static unsigned divide_by_ten(uint64_t *value)
{
	enum {
		PART = 16
	};
	uint64_t quotient = 0;
	uint32_t rest = 0;
	for (int shift = 64 - PART; shift >= 0; shift -= PART) {
		rest = rest << PART | (uint16_t)(*value >> shift);
		quotient |= (uint64_t)(rest / 10) << shift;
		rest %= 10;
	}
	*value = quotient;
	return rest;
}

WEFT__EXPORT weft_metric weft_metric_child_n(weft_metric parent, const char *key, uint64_t value)
{
	char digits[21], *at = digits + sizeof(digits) - 1;
	*at = '\0';
	do
		*--at = (char)('0' + divide_by_ten(&value));
	while (value);
	return weft_metric_child(parent, key, at);
}

WEFT__EXPORT void weft_metric_end(weft_metric metric)
{
	struct weft__metrics *m = weft__record_metrics();
	struct weft__metric_child *child =
		metric & WEFT__METRIC_INSTEAD ? NULL : weft__record_metric_find_child(m, metric);
	if (!child)
		return;
	const uint32_t sequence = weft__load(&child->sequence);
	/* If two threads end it, one of them does; it may be another one's by now. */
	if (!(sequence & 1) || ((sequence ^ (uint32_t)(metric >> 32)) & WEFT__METRIC_SEQUENCE) ||
		!weft__compare_exchange(&child->sequence, sequence, sequence + 1))
		return;
	if (m->row[child->row].kind == WEFT_METRIC_GAUGE)
		weft__record_metric_set_child(m, child, 0);
	struct weft_abi_child *shared = shared_child(m, child);
	if (shared)
		weft__store_release(&shared->sequence, sequence + 1);
	give_back(m, child);
}

/* ---- Memory ---- */

void weft__record_metrics_share_children(struct weft_abi_children *memory, uint32_t owner,
	struct weft__metric_child *own, uint32_t count)
{
	struct weft__metrics *m = weft__record_metrics();
	memory->version = WEFT_ABI_METRICS_VERSION;
	memory->owner = owner;
	memory->count = count;
	memory->used = weft__load(&m->children_used);
	weft__fence_release();
	memcpy(memory->magic, WEFT_ABI_CHILDREN_MAGIC, sizeof(memory->magic));
	if (own) {
		weft__store(&m->child_count, count);
		weft__store_release(&m->child, own);
	}
	weft__store_release(&m->own.children, memory);
}

WEFT__EXPORT int weft_metrics_reserve(uint32_t children)
{
	struct weft__metrics *m = weft__record_metrics();
	if (children == 0 || children > WEFT_ABI_CHILDREN_MAX)
		return WEFT_ERROR_ARGUMENT;
	if (weft__load(&m->own.children))
		return WEFT_ERROR_STATE;
	return weft__platform_metrics_reserve(children);
}
