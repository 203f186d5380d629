/* SPDX-License-Identifier: ISC
 *
 * Rows as the picture has them: rows that are too close to be told apart share a lane, so that
 * there are never more lanes than the height has room for, however many rows there are.
 */
#include <math.h>
#include <stdlib.h>

#include "render/painter.h"

void weft__make_lanes(struct painter *p)
{
	uint32_t rows = p->layout->row_count, capacity;
	capacity = 2 + (uint32_t)(p->view->height / WEFT__LANE_HEIGHT * 2);
	p->lanes = malloc(capacity * sizeof(*p->lanes));
	p->lane_of_row = malloc((rows + (size_t)1) * sizeof(*p->lane_of_row));
	if (!p->lanes || !p->lane_of_row) {
		p->error = WEFT_ERROR_MEMORY;
		return;
	}
	for (uint32_t row = 0; row < rows;) {
		double y = weft_view_y(p->view, row), spacing = weft_view_row_spacing(p->view, row);
		uint32_t next = row + 1;
		if (spacing < WEFT__LANE_HEIGHT) {
			double below = weft_view_row(p->view, y + WEFT__LANE_HEIGHT);
			next = below >= rows - 1 ? rows : (uint32_t)ceil(below);
			if (next <= row)
				next = row + 1;
			if (p->lane_count + 1 == capacity)
				next = rows;
		}
		double last_y = weft_view_y(p->view, next - 1);
		p->lanes[p->lane_count++] = (struct weft__lane){
			row, next - row, floor(p->y0 + (y + last_y) / 2), fmax(spacing, last_y - y)};
		for (; row < next; row++)
			p->lane_of_row[row] = (uint16_t)(p->lane_count - 1);
	}
}
