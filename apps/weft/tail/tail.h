/* SPDX-License-Identifier: ISC
 *
 * The parts of weft tail.
 */
#ifndef WEFT_APPS_TAIL_H
#define WEFT_APPS_TAIL_H

#include <stdbool.h>

#include <weft/guest.h>

struct tail_pages_options {
	bool json, only_new;
};

/* Prints the events of a guest's pages with mirage's CTF as they come, until the guest ends or
 * Ctrl-C. An exit status. */
int tail_pages(struct weft_guest *guest, const struct tail_pages_options *options);

#endif
