/* SPDX-License-Identifier: ISC
 *
 * Times and rows to pixels, for everything that is painted.
 */
#include <math.h>

#include "render/painter.h"

double weft__x(const struct painter *p, uint64_t time)
{
	return p->x0 + weft_view_x(p->view, time);
}

double weft__y(const struct painter *p, uint32_t row)
{
	return p->lanes[p->lane_of_row[row]].y;
}

bool weft__are_apart(const struct painter *p, uint32_t a, uint32_t b)
{
	const struct weft_layout *l = p->layout;
	if (l->row[a] == WEFT_NONE || l->row[b] == WEFT_NONE)
		return false;
	return l->row[a] != l->row[b] || l->form[a] == WEFT_FORM_LINE || l->form[b] == WEFT_FORM_LINE;
}

double weft__crisp(double at)
{
	return floor(at) + 0.5;
}
