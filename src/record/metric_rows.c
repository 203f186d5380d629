/* SPDX-License-Identifier: ISC
 *
 * Rows of metrics: finding and making them. Lock-free as those of counters (counters.c): a row is
 * written into space that no other thread has, then published by one compare-and-exchange.
 */
#include "record/metrics.h"

#include <string.h>

#include <weft/error.h>

#include "record/name.h"

_Static_assert(WEFT_METRIC_TEXT_MAX == WEFT_ABI_METRIC_TEXT_MAX, "readers refuse longer texts");
_Static_assert(WEFT_METRIC_PAIRS_MAX == WEFT_ABI_METRIC_DEPTH_MAX, "and deeper rows");

struct weft__metrics weft__metrics;

/* A row that is looked for. `key` and `value` are a label, or the name of a metric and nothing. */
struct wanted {
	const char *key, *value;
	uint32_t key_size, value_size;
	uint32_t below; /* 1 + the row above */
	uint32_t hash;
	const struct weft_metric_type *type;
};

void weft__record_metric_refuse(struct weft__metrics *m)
{
	struct weft_abi_metrics *shared = weft__load(&m->own.shared);
	if (shared)
		weft__fetch_add(&shared->refused, 1);
}

static bool has_room(const uint32_t *used, uint32_t count, uint32_t most)
{
	return count <= most - weft__load(used);
}

/* The size of a text, at most WEFT_METRIC_TEXT_MAX; a character that is cut is left out whole. */
static uint32_t measure_text(const char *text)
{
	uint32_t size = 0;
	while (size < WEFT_METRIC_TEXT_MAX && text[size])
		size++;
	if (text[size])
		while (size && ((unsigned char)text[size] & 0xc0) == 0x80)
			size--;
	return size;
}

/* True if a text with a NUL is those bytes, none of which is NUL. */
static bool is_text(const char *text, const char *bytes, uint32_t size)
{
	uint32_t same = 0;
	while (same < size && text[same] == bytes[same])
		same++;
	return same == size && !text[size];
}

/* ---- Kinds ---- */

static uint32_t first_of(const struct weft_metric_type *type)
{
	return type->first_exponent || type->last_exponent ? type->first_exponent : 10;
}

static uint32_t last_of(const struct weft_metric_type *type)
{
	return type->first_exponent || type->last_exponent ? type->last_exponent : 40;
}

static uint32_t cells_of(const struct weft_metric_type *type)
{
	return type->type == WEFT_METRIC_HISTOGRAM
			   ? WEFT_ABI_METRIC_CELLS_OF(first_of(type), last_of(type)) + 1
			   : 1;
}

static uint8_t flags_of(const struct weft_metric_type *type)
{
	return type->is_billable && type->type == WEFT_METRIC_COUNTER ? WEFT_ABI_METRIC_BILLABLE : 0;
}

static bool is_valid(const struct weft_metric_type *type)
{
	return type && type->name && *type->name && !type->name[measure_text(type->name)] &&
		   type->type >= WEFT_METRIC_COUNTER && (int)type->type < WEFT_ABI_METRIC_KINDS &&
		   first_of(type) < last_of(type) && last_of(type) < 64;
}

/* True if a row has the kind that the type says. */
static bool is_of_type(
	const struct weft__metrics *m, uint32_t row, const struct weft_metric_type *type)
{
	const struct weft__metric_row *it = &m->row[row];
	const char *unit = type->unit ? type->unit : "";
	const char *own = m->text + it->text + it->size;
	return it->kind == type->type && it->scale == type->scale &&
		   it->first_exponent == first_of(type) && it->last_exponent == last_of(type) &&
		   it->flags == flags_of(type) && is_text(own, unit, measure_text(unit));
}

/* ---- Making ---- */

/* Appends a text and its NUL; returns the place behind it. */
static uint32_t put_text(struct weft__metrics *m, uint32_t at, const char *text, uint32_t size)
{
	memcpy(m->text + at, text, size);
	m->text[at + size] = '\0';
	return at + size + 1;
}

/* Writes a new row, not published. False if there is no room. */
static bool write_row(struct weft__metrics *m, const struct wanted *wanted, uint32_t *ret_row)
{
	const struct weft_metric_type *type = wanted->type;
	const char *unit = type->unit ? type->unit : "", *help = type->help ? type->help : "";
	const bool is_level = wanted->below;
	const uint32_t unit_size = measure_text(unit), help_size = measure_text(help);
	const uint32_t size = wanted->key_size + 1 + (is_level ? wanted->value_size + 1 : 0);
	const uint32_t rest = is_level ? 0 : unit_size + 1 + help_size + 1;
	uint32_t text, cell, row;
	/* Room that was taken cannot be given back: if one kind is used up, none of another is taken.
	 */
	if (!has_room(&m->text_used, size + rest, WEFT_ABI_METRIC_TEXT) ||
		!has_room(&m->cells_used, cells_of(type), weft__record_metric_cell_count(m)) ||
		!has_room(&m->rows_used, 1, WEFT_ABI_METRIC_ROWS))
		return false;
	if (!weft__record_take_room(&m->text_used, size + rest, WEFT_ABI_METRIC_TEXT, &text) ||
		!weft__record_take_room(
			&m->cells_used, cells_of(type), weft__record_metric_cell_count(m), &cell) ||
		!weft__record_take_room(&m->rows_used, 1, WEFT_ABI_METRIC_ROWS, &row))
		return false;
	uint32_t at = put_text(m, text, wanted->key, wanted->key_size);
	if (is_level)
		at = put_text(m, at, wanted->value, wanted->value_size);
	else {
		at = put_text(m, at, unit, unit_size);
		put_text(m, at, help, help_size);
	}
	m->row[row] = (struct weft__metric_row){
		.hash = wanted->hash,
		.text = text,
		.size = (uint16_t)size,
		.below = (uint16_t)wanted->below,
		.cell = (uint16_t)cell,
		.kind = (uint8_t)type->type,
		.flags = flags_of(type),
		.scale = type->scale,
		.first_exponent = (uint8_t)first_of(type),
		.last_exponent = (uint8_t)last_of(type),
	};
	*ret_row = row;
	return true;
}

/* The bytes of a row's texts: a label's key and value, or a metric's name, unit and help. */
static uint32_t text_bytes(const struct weft__metrics *m, const struct weft__metric_row *it)
{
	uint32_t at = it->text + it->size;
	for (unsigned more = it->below ? 0 : 2; more; at++)
		more -= m->text[at] == '\0';
	return at - it->text;
}

/* Copies the row to the shared memory, if there is some. Texts are there at the same offsets. */
static void share_row(struct weft__metrics *m, uint32_t row)
{
	struct weft_abi_metrics *shared = weft__load(&m->own.shared);
	const struct weft__metric_row *it = &m->row[row];
	if (!shared)
		return;
	/* Both follow the header at once, wherever the cells are. */
	struct weft_abi_metric_row *rows = (struct weft_abi_metric_row *)(void *)(shared + 1);
	char *texts = (char *)(rows + WEFT_ABI_METRIC_ROWS);
	const uint32_t size = text_bytes(m, it);
	for (uint32_t i = 0; i < size; i++)
		weft__store(&texts[it->text + i], m->text[it->text + i]);
	uint64_t created_unix_ns = 0;
	if (weft__platform_clock(WEFT_CLOCK_REALTIME, &created_unix_ns))
		weft__store(&rows[row].created_unix_ns, created_unix_ns);
	weft__store(&rows[row].text, it->text);
	weft__store(&rows[row].below, it->below);
	weft__store(&rows[row].kind, it->kind);
	weft__store(&rows[row].flags, it->flags);
	weft__store(&rows[row].scale, it->scale);
	weft__store(&rows[row].first_exponent, it->first_exponent);
	weft__store(&rows[row].last_exponent, it->last_exponent);
	weft__store(&rows[row].cell, (uint32_t)it->cell);
	weft__store_release(&rows[row].is_there, 1);
	/* If threads do this at the same time, the last one stores the newest. */
	uint32_t used;
	do {
		used = weft__load(&m->rows_used);
		weft__store_release(&shared->rows_used, used);
		weft__fence();
	} while (used != weft__load(&m->rows_used));
}

#ifdef WEFT_FREESTANDING
void weft__record_metric_fold(struct weft__metrics *m)
{
	(void)m;
}
#else
/* Moves to the shared cells what was counted before there were any. */
void weft__record_metric_fold(struct weft__metrics *m)
{
	weft__fence();
	uint64_t *cells = weft__load(&m->own.cells);
	const uint32_t used = cells ? weft__load(&m->cells_used) : 0;
	for (uint32_t i = 0; i < used; i++)
		if (weft__load(&m->own.private_cells[i]))
			weft__fetch_add(
				&cells[i], __atomic_exchange_n(&m->own.private_cells[i], 0, __ATOMIC_RELAXED));
}
#endif

/* ---- Finding ---- */

static bool is_wanted(const struct weft__metrics *m, uint32_t row, const struct wanted *wanted)
{
	const struct weft__metric_row *it = &m->row[row];
	const char *text = m->text + it->text;
	const uint32_t size = wanted->key_size + 1 + (wanted->below ? wanted->value_size + 1 : 0);
	return it->hash == wanted->hash && it->below == wanted->below && it->size == size &&
		   memcmp(text, wanted->key, wanted->key_size) == 0 && !text[wanted->key_size] &&
		   (!wanted->below ||
			   memcmp(text + wanted->key_size + 1, wanted->value, wanted->value_size) == 0);
}

static uint32_t hash_of(const struct wanted *wanted)
{
	const struct weft__name_part parts[] = {
		{wanted->key, wanted->key_size}, {wanted->value, wanted->value_size}};
	const struct weft__name name = {parts, 2, wanted->key_size + wanted->value_size};
	return weft__record_name_hash(&name) + wanted->below * 0x9e3779b1u;
}

/* Any thread that finds the row does this, too: the thread that made it may be interrupted right
 * before, or missing in a forked child. The fence is share_rows()'s. */
static void publish(struct weft__metrics *m, uint32_t row)
{
	weft__store_release(&m->row[row].is_there, 1);
	weft__fence();
	share_row(m, row);
	weft__store_release(&m->row[row].is_there, 2);
}

/* The row, which is made if there is none; WEFT_ABI_METRIC_ROWS without room. */
static uint32_t find_or_add(struct weft__metrics *m, struct wanted *wanted)
{
	uint32_t written = WEFT_ABI_METRIC_ROWS;
	wanted->hash = hash_of(wanted);
	for (uint32_t probe = 0; probe < WEFT__METRIC_BUCKETS; probe++) {
		uint16_t *bucket = &m->bucket[(wanted->hash + probe) % WEFT__METRIC_BUCKETS];
		uint16_t known = weft__load_acquire(bucket);
		if (!known && written == WEFT_ABI_METRIC_ROWS && !write_row(m, wanted, &written)) {
			weft__record_metric_refuse(m);
			return WEFT_ABI_METRIC_ROWS;
		}
		if (!known && wanted->below)
			weft__store(&m->row[wanted->below - 1].has_levels, 1);
		if (!known && weft__compare_exchange(bucket, 0, (uint16_t)(written + 1))) {
			publish(m, written);
			weft__record_metric_fold(m);
			return written;
		}
		known = weft__load_acquire(bucket);
		if (is_wanted(m, known - 1u, wanted)) {
			if (weft__load(&m->row[known - 1u].is_there) != 2)
				publish(m, known - 1u);
			return known - 1u;
		}
	}
	return WEFT_ABI_METRIC_ROWS;
}

/* True if the row, or one above it, has a label of that key. */
static bool has_key(const struct weft__metrics *m, uint32_t row, const char *key, uint32_t size)
{
	for (; m->row[row].below; row = m->row[row].below - 1u)
		if (is_text(m->text + m->row[row].text, key, size))
			return true;
	return false;
}

/* The level below a row; that row itself if there is no such label, or no room, which is said in
 * `*ret_instead`. */
static uint32_t find_level(struct weft__metrics *m, uint32_t row, const char *key,
	const char *value, const struct weft_metric_type *type, uint64_t *ret_instead)
{
	struct wanted wanted = {.key = key, .value = value, .below = row + 1, .type = type};
	if (!key || !*key || !value)
		return row;
	wanted.key_size = measure_text(key);
	wanted.value_size = measure_text(value);
	if (has_key(m, row, key, wanted.key_size))
		return row;
	uint32_t level = find_or_add(m, &wanted);
	if (level >= WEFT_ABI_METRIC_ROWS)
		*ret_instead = WEFT__METRIC_INSTEAD;
	return level < WEFT_ABI_METRIC_ROWS ? level : row;
}

static weft_metric get(
	const struct weft_metric_type *type, const char *const *labels, unsigned pairs)
{
	struct weft__metrics *m = weft__record_metrics();
	struct wanted wanted = {
		.key = type->name, .key_size = measure_text(type->name), .value = "", .type = type};
	uint32_t row = find_or_add(m, &wanted);
	if (row >= WEFT_ABI_METRIC_ROWS || !is_of_type(m, row, type))
		return 0;
	uint64_t instead = 0;
	for (unsigned i = 0; labels && i < pairs && i < WEFT_METRIC_PAIRS_MAX; i++)
		row = find_level(m, row, labels[2 * i], labels[2 * i + 1], type, &instead);
	return weft__record_metric_of_row(m, row) | instead;
}

weft_metric weft__record_metric_level(
	weft_metric above, const struct weft_metric_type *type, const char *key, const char *value)
{
	struct weft__metrics *m = weft__record_metrics();
	uint64_t instead = above & WEFT__METRIC_INSTEAD;
	uint32_t row = weft__record_metric_row(m, above);
	if (row >= WEFT_ABI_METRIC_ROWS)
		return 0;
	row = find_level(m, row, key, value, type, &instead);
	return weft__record_metric_of_row(m, row) | instead;
}

WEFT__EXPORT weft_metric weft_metric_get(
	const struct weft_metric_type *type, const char *const *labels, unsigned pairs)
{
	struct weft__metrics *m = weft__record_metrics();
	if (!is_valid(type) || !weft__record_metric_cell_count(m))
		return 0;
	if (!weft__load(&m->has_begun) && weft__compare_exchange(&m->has_begun, 0, 1))
		weft__platform_metrics_begin(false);
	return get(type, labels, pairs);
}

#ifndef WEFT_FREESTANDING
WEFT__EXPORT weft_metric weft__metric_get_private(
	const struct weft_metric_type *type, const char *const *labels, unsigned pairs)
{
	return is_valid(type) ? get(type, labels, pairs) : 0;
}

WEFT__EXPORT void weft__metrics_prepare(void)
{
	weft__platform_metrics_prepare();
}

WEFT__EXPORT void weft__metrics_share(void)
{
	struct weft__metrics *m = weft__record_metrics();
	if (!weft__load(&m->has_begun) && weft__compare_exchange(&m->has_begun, 0, 1))
		weft__platform_metrics_begin(true);
}
#endif

/* ---- Memory ---- */

#define CELLS_OFFSET                                          \
	(sizeof(struct weft_abi_metrics) + WEFT_ABI_METRIC_TEXT + \
		WEFT_ABI_METRIC_ROWS * sizeof(struct weft_abi_metric_row))

static void begin_memory(
	struct weft_abi_metrics *memory, uint32_t owner, uint32_t cells, uint32_t shard_bytes)
{
	memory->version = WEFT_ABI_METRICS_VERSION;
	memory->owner = owner;
	memory->row_count = WEFT_ABI_METRIC_ROWS;
	memory->text_bytes = WEFT_ABI_METRIC_TEXT;
	memory->cell_count = cells;
	memory->shard_count = WEFT_ABI_METRIC_SHARDS;
	memory->rows_offset = sizeof(*memory);
	memory->text_offset = (uint32_t)sizeof(*memory) +
						  WEFT_ABI_METRIC_ROWS * (uint32_t)sizeof(struct weft_abi_metric_row);
	memory->cells_offset = (uint32_t)CELLS_OFFSET;
	memory->shard_bytes = shard_bytes;
	weft__fence_release();
	memcpy(memory->magic, WEFT_ABI_METRICS_MAGIC, sizeof(memory->magic));
}

static void share_rows(struct weft__metrics *m, struct weft_abi_metrics *memory)
{
	weft__store(&m->own.shared, memory);
	weft__fence(); /* either we see that a row is there, or its maker sees the memory */
	for (uint32_t row = 0; row < weft__load(&m->rows_used); row++)
		if (weft__load_acquire(&m->row[row].is_there))
			share_row(m, row);
}

#ifdef WEFT_FREESTANDING
#define LEAST_BYTES 16384

WEFT__EXPORT int weft_metrics_use(void *memory, size_t bytes)
{
	struct weft__metrics *m = weft__record_metrics();
	if (!memory || (uintptr_t)memory % 64 || bytes < LEAST_BYTES)
		return WEFT_ERROR_ARGUMENT;
	if (weft__load(&m->own.cells))
		return WEFT_ERROR_STATE;
	const size_t cells = (bytes - CELLS_OFFSET) / 8;
	memset(memory, 0, bytes);
	m->cell_count = cells < WEFT_ABI_METRIC_CELLS ? (uint32_t)cells : WEFT_ABI_METRIC_CELLS;
	begin_memory(memory, 0, m->cell_count, 8 * m->cell_count);
	share_rows(m, memory);
	weft__store_release(&m->own.cells, (uint64_t *)(void *)((char *)memory + CELLS_OFFSET));
	return 0;
}
#else
WEFT__EXPORT int weft_metrics_use(void *memory, size_t bytes)
{
	(void)memory, (void)bytes;
	return WEFT_ERROR_UNSUPPORTED;
}

void weft__record_metrics_begin_memory(struct weft_abi_metrics *memory, uint32_t owner)
{
	begin_memory(memory, owner, WEFT_ABI_METRIC_CELLS, WEFT_ABI_METRIC_SHARD_BYTES);
}

void weft__record_metrics_share(struct weft_abi_metrics *memory)
{
	struct weft__metrics *m = weft__record_metrics();
	share_rows(m, memory);
	weft__store_release(&m->own.cells, (uint64_t *)(void *)((char *)memory + CELLS_OFFSET));
	weft__record_metric_fold(m);
}
#endif
