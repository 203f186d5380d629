/* SPDX-License-Identifier: ISC
 *
 * The names of the runtime's phases and counters. The file does not say which version of OCaml
 * wrote it, and the numbers of phases differ.
 */
#ifndef WEFT_FORMAT_OCAML_NAMES_H
#define WEFT_FORMAT_OCAML_NAMES_H

#include <stdbool.h>
#include <stdint.h>

enum weft__ocaml_version {
	WEFT__OCAML_UNKNOWN,
	WEFT__OCAML_5_0, /* to 5.2 */
	WEFT__OCAML_5_3, /* and later */
};

/* The phase that ends after the ring's start without a beginning is the one that started it, whose
 * number tells the version. */
enum weft__ocaml_version weft__format_ocaml_version(uint32_t first_end);

/* NULL if it is unknown, or if versions differ. */
const char *weft__format_ocaml_phase(enum weft__ocaml_version version, uint32_t phase);
const char *weft__format_ocaml_counter(uint32_t counter);

/* True for the phase in which a domain waits to be told to run. */
bool weft__format_ocaml_is_idle(enum weft__ocaml_version version, uint32_t phase);

#endif
