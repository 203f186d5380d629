/* SPDX-License-Identifier: ISC
 *
 * Writes records of Xen in xentrace's format. Records do not name their vCPU: a reader knows it
 * from the last record that switched to it. If that one was left out, a record "continues running"
 * of the vCPU is added.
 */
#ifndef WEFT_APPS_XEN_WRITER_H
#define WEFT_APPS_XEN_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/xentrace.h>

struct xen_writer;

/* Writes bytes; false with errno. */
typedef bool xen_writer_put(void *context, const void *bytes, size_t size);

/* NULL without memory. */
struct xen_writer *xen_writer_create(xen_writer_put *put, void *context);
void xen_writer_destroy(struct xen_writer *writer);

/* Records of each pCPU come in the order of time. They are written when there are many, and by
 * xen_writer_flush(). */
void xen_writer_add(struct xen_writer *writer, const struct weft_xentrace_record *record);
void xen_writer_add_note(struct xen_writer *writer, const struct weft_xentrace_note *note);
void xen_writer_flush(struct xen_writer *writer);

/* The first error so far: 0, WEFT_ERROR_SYSTEM (errno) or WEFT_ERROR_MEMORY. */
int xen_writer_error(const struct xen_writer *writer);

#endif
