/* SPDX-License-Identifier: ISC
 *
 * See mmv.h. A reader has the file mapped and reads values at any time; it maps a file again if
 * there is another one of that name. So the whole file is made in memory. If it is like the last
 * one but for values, these are stored one by one, each in one write of 8 aligned bytes; else the
 * file gets the place of the old one by rename(2).
 *
 *     header │ contents │ instance domains │ instances │ metrics │ values │ strings
 */
#include "agent/mmv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metrics/levels.h"
#include "metrics/names.h"

enum {
	SECTION_DOMAINS = 1,
	SECTION_INSTANCES,
	SECTION_METRICS,
	SECTION_VALUES,
	SECTION_STRINGS,
	SECTIONS = SECTION_STRINGS,

	VERSION = 2,
	FLAG_PROCESS = 2, /* the file counts only while the process runs */
	CLUSTER = 0x377,

	TYPE_U64 = 3,
	TYPE_DOUBLE = 5,
	SEMANTICS_COUNTER = 1,
	SEMANTICS_INSTANT = 3,

	ITEMS_MAX = 1023, /* metrics of a file: the identifiers have 10 bits */
	STRING_BYTES = 256,
};

struct mmv_header {
	char tag[4];
	uint32_t version;
	uint64_t generation[2];
	uint32_t sections, flags, process, cluster;
};

struct section {
	uint32_t type, count;
	uint64_t offset;
};

struct domain {
	uint32_t serial, count;
	uint64_t instances, help[2];
};

struct instance {
	uint64_t domain;
	uint32_t padding, number;
	uint64_t name;
};

struct metric {
	uint64_t name;
	uint32_t item, type, semantics, unit, domain, padding;
	uint64_t help[2];
};

struct value {
	uint64_t bits, extra, metric, instance;
};

_Static_assert(sizeof(struct mmv_header) == 40 && sizeof(struct section) == 16, "mmv");
_Static_assert(sizeof(struct domain) == 32 && sizeof(struct instance) == 24, "mmv");
_Static_assert(sizeof(struct metric) == 48 && sizeof(struct value) == 32, "mmv");

static const size_t entry_bytes[SECTIONS + 1] = {[SECTION_DOMAINS] = sizeof(struct domain),
	[SECTION_INSTANCES] = sizeof(struct instance),
	[SECTION_METRICS] = sizeof(struct metric),
	[SECTION_VALUES] = sizeof(struct value),
	[SECTION_STRINGS] = STRING_BYTES};

/* The sections as they grow. References to entries are their numbers, until place() makes offsets
 * of them. */
struct file {
	struct weft_text section[SECTIONS + 1];
	struct weft_text name; /* room for one */
	size_t left_out;
	size_t domain_first; /* the first instance of the last domain */
};

static size_t count_of(const struct file *file, unsigned section)
{
	return file->section[section].size / entry_bytes[section];
}

static void add(struct file *file, unsigned section, const void *entry)
{
	weft_text_add(&file->section[section], entry, entry_bytes[section]);
}

/* ---- Names ---- */

/* Adds a string, and returns its number. The text is cut off. */
static uint64_t add_string(struct file *file, const char *bytes, size_t size)
{
	char entry[STRING_BYTES] = "";
	memcpy(entry, bytes, size < STRING_BYTES - 1 ? size : STRING_BYTES - 1);
	add(file, SECTION_STRINGS, entry);
	return count_of(file, SECTION_STRINGS) - 1;
}

/* Names begin with a letter. */
static void name_metric(
	struct weft_text *name, const struct weft__runs_counter *counter, const char *suffix)
{
	name->size = 0;
	weft__metrics_add_name(name, counter->name);
	if (name->size && name->bytes[0] == '_') {
		struct weft_text rest = *name;
		*name = (struct weft_text){0};
		weft_text_add_string(name, "x");
		weft_text_add(name, rest.bytes, rest.size);
		weft_text_finish(&rest);
	}
	weft_text_add_string(name, suffix);
}

/* Names of instances differ before their first space, so they have none; nor what separates their
 * parts. */
static void add_part(struct weft_text *name, const char *text)
{
	static const char digits[] = "0123456789abcdef";
	for (; *text; text++) {
		const unsigned char byte = (unsigned char)*text;
		const char escaped[3] = {'%', digits[byte >> 4], digits[byte & 15]};
		if (byte <= ' ' || byte == 0x7f || strchr("%;=\"", byte))
			weft_text_add(name, escaped, sizeof(escaped));
		else
			weft_text_add(name, text, 1);
	}
}

static void name_instance(struct weft_text *name, const struct weft__metrics_sample *sample)
{
	name->size = 0;
	add_part(name, sample->program);
	weft_text_add_string(name, ";uid=");
	weft_text_add_string(name, sample->user ? sample->user : "");
	for (size_t i = 0; i < sample->counter->label_count; i++) {
		weft_text_add_string(name, ";");
		add_part(name, sample->counter->labels[i].key);
		weft_text_add_string(name, "=");
		add_part(name, sample->counter->labels[i].value);
	}
}

/* The same number for the same name, in every file that has it. */
static uint32_t number_of(const struct file *file, const struct weft_text *name)
{
	uint32_t hash = 2166136261u; /* FNV-1a */
	for (size_t i = 0; i < name->size; i++)
		hash = (hash ^ (unsigned char)name->bytes[i]) * 16777619u;
	hash &= INT32_MAX;
	const struct instance *list = (const void *)file->section[SECTION_INSTANCES].bytes;
	const size_t count = count_of(file, SECTION_INSTANCES);
	for (size_t i = file->domain_first; i < count; i++)
		if (list[i].number == hash) {
			hash = (hash + 1) & INT32_MAX;
			i = file->domain_first - 1;
		}
	return hash;
}

/* ---- Metrics ---- */

/* Bits from the highest on: dimensions of space, time and count, then their scales. */
static uint32_t unit_of(const struct weft__runs_counter *counter, bool is_count)
{
	const char *name = is_count ? "" : weft__metrics_base_unit(counter).name;
	if (strcmp(name, "bytes") == 0)
		return 1u << 28;
	if (strcmp(name, "seconds") == 0)
		return 1u << 24 | 3u << 12;
	return 1u << 20;
}

/* The metric of the last entry, or a new one. `is_count`: of a histogram, how many values. */
static bool find_metric(
	struct file *file, const struct weft__runs_counter *counter, bool is_count, bool is_whole)
{
	const size_t count = count_of(file, SECTION_METRICS);
	const bool is_histogram = counter->type == WEFT__RUNS_HISTOGRAM;
	const uint32_t domain = (uint32_t)count + 1;
	struct metric metric = {.item = (uint32_t)count + 1,
		.type = is_whole ? TYPE_U64 : TYPE_DOUBLE,
		.semantics = is_histogram || counter->type == WEFT__RUNS_COUNTER ? SEMANTICS_COUNTER
																		 : SEMANTICS_INSTANT,
		.unit = unit_of(counter, is_count),
		.domain = domain};
	const struct metric *list = (const void *)file->section[SECTION_METRICS].bytes;
	name_metric(&file->name, counter, !is_histogram ? "" : is_count ? "_count" : "_sum");
	if (file->name.error || file->name.size >= STRING_BYTES)
		return false;
	for (size_t i = count; i-- > 0;) {
		const char *name =
			file->section[SECTION_STRINGS].bytes + list[i].name * (size_t)STRING_BYTES;
		if (strlen(name) == file->name.size && memcmp(name, file->name.bytes, file->name.size) == 0)
			return i == count - 1 && list[i].type == metric.type &&
				   list[i].semantics == metric.semantics && list[i].unit == metric.unit;
	}
	if (count == ITEMS_MAX)
		return false;
	metric.name = add_string(file, file->name.bytes, file->name.size);
	metric.help[0] = add_string(file, counter->help, strlen(counter->help));
	metric.help[1] = metric.help[0];
	file->domain_first = count_of(file, SECTION_INSTANCES);
	const struct domain all = {domain, 0, file->domain_first, {metric.help[0], metric.help[0]}};
	add(file, SECTION_DOMAINS, &all);
	add(file, SECTION_METRICS, &metric);
	return !file->section[SECTION_METRICS].error && !file->section[SECTION_STRINGS].error;
}

static void add_value(struct file *file, const struct weft__metrics_sample *sample, bool is_count,
	bool is_whole, uint64_t bits)
{
	if (!find_metric(file, sample->counter, is_count, is_whole)) {
		file->left_out++;
		return;
	}
	name_instance(&file->name, sample);
	if (file->name.error || file->name.size >= STRING_BYTES) {
		file->left_out++;
		return;
	}
	const size_t metric = count_of(file, SECTION_METRICS) - 1;
	const struct instance instance = {.domain = metric,
		.number = number_of(file, &file->name),
		.name = add_string(file, file->name.bytes, file->name.size)};
	const struct value value = {bits, 0, metric, count_of(file, SECTION_INSTANCES)};
	add(file, SECTION_INSTANCES, &instance);
	add(file, SECTION_VALUES, &value);
	if (!file->section[SECTION_DOMAINS].error)
		((struct domain *)(void *)file->section[SECTION_DOMAINS].bytes)[metric].count++;
}

static uint64_t bits_of(double number)
{
	uint64_t bits;
	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

/* Whole numbers stay exact if they are in their base unit. */
static void add_sample(struct file *file, const struct weft__metrics_sample *sample, bool is_count)
{
	const struct weft__runs_counter *counter = sample->counter;
	const int scale = weft__metrics_base_unit(counter).scale;
	if (counter->type == WEFT__RUNS_HISTOGRAM && is_count)
		add_value(file, sample, true, true, counter->histogram.count);
	else if (counter->type == WEFT__RUNS_HISTOGRAM)
		add_value(file, sample, false, false,
			bits_of(weft__unit_scaled((double)counter->histogram.sum, scale)));
	else if (counter->type == WEFT__RUNS_COUNTER && !scale && !counter->is_real)
		add_value(file, sample, false, true, (uint64_t)counter->integer);
	else
		add_value(file, sample, false, false, bits_of(weft__unit_scaled(counter->real, scale)));
}

/* Those of one name come one after the other. A histogram has two metrics. */
static void add_samples(struct file *file, const struct weft__metrics_sample *samples, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		const char *name = samples[i].counter->name;
		bool has_histogram = false;
		for (end = i; end < count && strcmp(samples[end].counter->name, name) == 0; end++)
			has_histogram |= samples[end].counter->type == WEFT__RUNS_HISTOGRAM;
		for (size_t k = i; k < end; k++)
			add_sample(file, &samples[k], false);
		for (size_t k = i; has_histogram && k < end; k++)
			if (samples[k].counter->type == WEFT__RUNS_HISTOGRAM)
				add_sample(file, &samples[k], true);
	}
}

/* ---- The file ---- */

#define EACH(type, which, at, file)                                \
	for (struct type *at = (void *)(file)->section[which].bytes,   \
					 *end = at + (at ? count_of(file, which) : 0); \
		 at < end; at++)

static void place(struct file *file, const uint64_t *offset)
{
	const uint64_t strings = offset[SECTION_STRINGS];
	EACH(domain, SECTION_DOMAINS, it, file)
	{
		it->instances = offset[SECTION_INSTANCES] + it->instances * sizeof(struct instance);
		it->help[0] = strings + it->help[0] * STRING_BYTES;
		it->help[1] = it->help[0];
	}
	EACH(instance, SECTION_INSTANCES, it, file)
	{
		it->domain = offset[SECTION_DOMAINS] + it->domain * sizeof(struct domain);
		it->name = strings + it->name * STRING_BYTES;
	}
	EACH(metric, SECTION_METRICS, it, file)
	{
		it->name = strings + it->name * STRING_BYTES;
		it->help[0] = strings + it->help[0] * STRING_BYTES;
		it->help[1] = it->help[0];
	}
	EACH(value, SECTION_VALUES, it, file)
	{
		it->metric = offset[SECTION_METRICS] + it->metric * sizeof(struct metric);
		it->instance = offset[SECTION_INSTANCES] + it->instance * sizeof(struct instance);
	}
}

static void assemble(struct file *file, uint64_t generation, struct weft_text *image)
{
	struct mmv_header header = {{'M', 'M', 'V', '\0'}, VERSION, {generation, generation}, SECTIONS,
		FLAG_PROCESS, (uint32_t)getpid(), CLUSTER};
	uint64_t offset[SECTIONS + 1], at = sizeof(header) + SECTIONS * sizeof(struct section);
	for (unsigned i = 1; i <= SECTIONS; i++) {
		offset[i] = at;
		at += file->section[i].size;
	}
	place(file, offset);
	weft_text_add(image, (const char *)&header, sizeof(header));
	for (unsigned i = 1; i <= SECTIONS; i++) {
		const struct section section = {i, (uint32_t)count_of(file, i), offset[i]};
		weft_text_add(image, (const char *)&section, sizeof(section));
	}
	for (unsigned i = 1; i <= SECTIONS; i++) {
		weft_text_add(image, file->section[i].bytes, file->section[i].size);
		image->error = image->error ? image->error : file->section[i].error;
	}
}

static bool make_path(const struct weft__agent_mmv *mmv, const char *name, char ret_path[PATH_MAX])
{
	if (snprintf(ret_path, PATH_MAX, "%s/%s", mmv->folder, name) < PATH_MAX)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

static bool write_all(int fd, const struct weft_text *image)
{
	for (size_t at = 0; at < image->size;) {
		const ssize_t size = write(fd, image->bytes + at, image->size - at);
		if (size < 0)
			return false;
		at += (size_t)size;
	}
	return true;
}

static bool replace(const struct weft__agent_mmv *mmv, const struct weft_text *image)
{
	char path[PATH_MAX], new_path[PATH_MAX];
	if (!make_path(mmv, "weft", path) || !make_path(mmv, ".weft.new", new_path))
		return false;
	unlink(new_path);
	int fd = open(new_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return false;
	bool good = write_all(fd, image);
	good = close(fd) == 0 && good && rename(new_path, path) == 0;
	const int reason = errno;
	if (!good)
		unlink(new_path);
	errno = reason;
	return good;
}

/* Where the two differ in words of values alone, stores these. False: they differ elsewhere. */
static bool update(const struct weft__agent_mmv *mmv, const struct weft_text *image, int fd)
{
	const struct section *sections = (const void *)(image->bytes + sizeof(struct mmv_header));
	const struct section *values = &sections[SECTION_VALUES - 1];
	const size_t first = values->offset, end = first + values->count * sizeof(struct value);
	if (mmv->last.size != image->size)
		return false;
	for (size_t at = sizeof(struct mmv_header); at < image->size; at += 8) {
		const bool is_value = at >= first && at < end && (at - first) % sizeof(struct value) == 0;
		if (memcmp(mmv->last.bytes + at, image->bytes + at, 8) == 0)
			continue;
		if (!is_value || (fd >= 0 && pwrite(fd, image->bytes + at, 8, (off_t)at) != 8))
			return false;
	}
	return true;
}

static bool store(struct weft__agent_mmv *mmv, const struct weft_text *image)
{
	char path[PATH_MAX];
	if (!mmv->last.size || !update(mmv, image, -1))
		return replace(mmv, image);
	int fd = make_path(mmv, "weft", path) ? open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
	bool good = fd >= 0 && update(mmv, image, fd);
	if (fd >= 0)
		close(fd);
	return good || replace(mmv, image);
}

bool weft__agent_mmv_write(struct weft__agent_mmv *mmv, const struct weft__metrics_sample *samples,
	size_t count, int64_t now)
{
	struct weft__metrics_levels levels = {0};
	struct weft_text image = {0};
	struct file file = {.left_out = 0};
	bool good = weft__metrics_levels_init(&levels, samples, count, mmv->depth);
	if (good) {
		add_samples(&file, levels.samples, levels.count);
		assemble(&file, (uint64_t)now, &image);
	}
	weft__metrics_levels_finish(&levels);
	for (unsigned i = 1; i <= SECTIONS; i++)
		weft_text_finish(&file.section[i]);
	weft_text_finish(&file.name);
	errno = ENOMEM;
	good = good && !image.error && store(mmv, &image);
	const int reason = errno;
	weft_text_finish(&mmv->last);
	if (good)
		mmv->last = image;
	else
		weft_text_finish(&image);
	mmv->left_out = file.left_out;
	errno = reason;
	return good;
}

void weft__agent_mmv_finish(struct weft__agent_mmv *mmv)
{
	char path[PATH_MAX];
	if (mmv->last.size && make_path(mmv, "weft", path))
		unlink(path);
	weft_text_finish(&mmv->last);
}
