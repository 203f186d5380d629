/* SPDX-License-Identifier: ISC
 *
 * Eight cells for each power of two are OTLP's scale 3: bucket n has the values above 2^(n/8), up
 * to 2^((n+1)/8). Cell 0, with all small values, is the zero bucket. Values beyond the last cell's
 * bound have no bucket there.
 */
#include "otlp/histogram.h"

#include <math.h>
#include <stdlib.h>

#include "otlp/writer.h"

#define SCALE           3
#define CELLS_PER_POWER (1 << SCALE)

bool weft__otlp_is_exponential(const struct weft_otlp_metric *m)
{
	return m->factor == 1 && m->cell_count > 1 && m->cells[m->cell_count - 1] == 0;
}

static uint64_t count_of(const struct weft_otlp_metric *m)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < m->cell_count; i++)
		count += m->cells[i];
	return count;
}

/* The cells that are not empty: [first, end). */
struct cells {
	uint32_t first, end;
};

static struct cells used(const struct weft_otlp_metric *m, uint32_t from)
{
	struct cells c = {from, m->cell_count};
	while (c.end > c.first && !m->cells[c.end - 1])
		c.end--;
	while (c.first < c.end && !m->cells[c.first])
		c.first++;
	return c;
}

static void write_totals(struct weft__otlp_encoder *e, const struct weft_otlp_metric *m)
{
	weft__otlp_put_integer(e, WEFT__OTLP_POINT_COUNT, count_of(m));
	weft__otlp_put_real(e, WEFT__OTLP_POINT_SUM, m->sum);
}

int weft__otlp_write_exponential(struct weft__otlp_encoder *e, const struct weft_otlp_metric *m)
{
	const struct cells c = used(m, 1);
	write_totals(e, m);
	weft__otlp_put_integer(e, WEFT__OTLP_EXPONENTIAL_SCALE, SCALE);
	weft__otlp_put_integer(e, WEFT__OTLP_EXPONENTIAL_ZEROS, m->cells[0]);
	if (c.end > c.first) {
		weft__otlp_begin(e, WEFT__OTLP_EXPONENTIAL_POSITIVE);
		weft__otlp_put_integer(e, WEFT__OTLP_BUCKETS_OFFSET,
			(uint64_t)((int64_t)CELLS_PER_POWER * m->first_exponent + c.first - 1));
		weft__otlp_put_integers(e, WEFT__OTLP_BUCKETS_COUNTS, m->cells + c.first, c.end - c.first);
		weft__otlp_end(e);
	}
	weft__otlp_put_real(e, WEFT__OTLP_EXPONENTIAL_THRESHOLD, exp2(m->first_exponent));
	return e->text.error;
}

/* There is a count more than there are bounds: the last one is of what is above all of them. */
int weft__otlp_write_histogram(struct weft__otlp_encoder *e, const struct weft_otlp_metric *m)
{
	const struct cells c = used(m, 0);
	const uint32_t first = c.first ? c.first - 1 : 0;
	const uint32_t end = c.end < m->cell_count ? c.end : m->cell_count - 1;
	const uint32_t bounds = m->cell_count && end > first ? end - first : 0;
	uint64_t *counts = calloc(bounds + (size_t)1, sizeof(*counts));
	double *limits = calloc(bounds + (size_t)1, sizeof(*limits));
	if (!counts || !limits)
		e->text.error = WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; counts && limits && i < bounds; i++) {
		counts[i] = m->cells[first + i];
		limits[i] = m->factor * exp2(m->first_exponent + (first + i) / (double)CELLS_PER_POWER);
	}
	if (!e->text.error) {
		counts[bounds] = m->cell_count ? m->cells[m->cell_count - 1] : 0;
		write_totals(e, m);
		weft__otlp_put_integers(e, WEFT__OTLP_HISTOGRAM_COUNTS, counts, bounds + (size_t)1);
		weft__otlp_put_reals(e, WEFT__OTLP_HISTOGRAM_BOUNDS, limits, bounds);
	}
	free(counts);
	free(limits);
	return e->text.error;
}
