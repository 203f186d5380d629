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

double weft__crisp(double at)
{
	return floor(at) + 0.5;
}
