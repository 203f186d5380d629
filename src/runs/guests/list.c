/* SPDX-License-Identifier: ISC
 *
 * Guests are hostile: the memory of one domain that is mapped for the list is bounded, because to
 * map 256 MiB takes a second, and a domain can announce 64 buffers of that size.
 */
#include "runs/guests/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runs/guests/guest.h"

static const char *state_of(enum weft_guest_state state, const struct weft__runs_listed_guest *row)
{
	switch (state) {
	case WEFT_GUEST_OPEN:
		break;
	case WEFT_GUEST_CRASHED:
		return "crashed";
	case WEFT_GUEST_SHUT:
		return "dead";
	case WEFT_GUEST_CLOSED:
	case WEFT_GUEST_GONE:
		return NULL;
	}
	return row->summary.is_stopped ? "stopped" : "running";
}

/* Reads what the buffer holds. False: it has gone. */
static bool summarize(struct weft__runs_listed_guest *row, struct weft_guest *guest)
{
	const void *bytes;
	bool is_mirage = weft_guest_bytes(guest, &bytes, &row->bytes);
	int error = is_mirage ? 0 : weft_buffer_summarize(bytes, row->bytes, &row->summary);
	if (error) {
		snprintf(row->reason, sizeof(row->reason), "%s", weft_error_text(error));
		memset(&row->summary, 0, sizeof(row->summary));
	}
	row->is_summarized = !error && !is_mirage;
	row->state = state_of(weft_guest_look(guest), row);
	if (row->state && error)
		row->state = "unread";
	return row->state != NULL;
}

/* False: there is nothing to list. */
static bool read_row(struct weft_host *host, const struct weft_guest_name *name, size_t *room,
	struct weft__runs_listed_guest *row)
{
	struct weft_guest *guest;
	*row = (struct weft__runs_listed_guest){.domain = name->domain, .state = "unread"};
	snprintf(row->domain_name, sizeof(row->domain_name), "%s", name->domain_name);
	char domain[WEFT__RUNS_GUEST_OPERAND_BYTES];
	weft__runs_guest_operand(name->domain, name->domain_name, domain);
	snprintf(row->operand, sizeof(row->operand), "%s/%s", domain, name->buffer);
	if (*room == 0) {
		snprintf(
			row->reason, sizeof(row->reason), "its domain shares too much memory in other buffers");
		return true;
	}
	int error = weft_guest_open(host, name, &guest, row->reason);
	if (error)
		return error != WEFT_ERROR_STATE;
	bool is_there = summarize(row, guest);
	*room -= row->bytes < *room ? row->bytes : *room;
	weft_guest_close(guest);
	return is_there;
}

void weft__runs_guests_list(
	struct weft_host *host, size_t mapped_max, weft__runs_guest_row *add, void *context)
{
	char reason[WEFT_GUEST_REASON_BYTES];
	struct weft_guest_name *list;
	size_t count, room = mapped_max;
	if (weft_host_find(host, "all", &list, &count, reason))
		return;
	for (size_t i = 0; i < count; i++) {
		struct weft__runs_listed_guest row;
		if (i && list[i].domain != list[i - 1].domain)
			room = mapped_max;
		if (list[i].mark && read_row(host, &list[i], &room, &row))
			add(context, &row);
	}
	free(list);
}
