/* SPDX-License-Identifier: ISC
 *
 * Descriptors that epoll reports once (EPOLLONESHOT), or when something new has come (EPOLLET). A
 * program that waits again without having armed the one, or read all of the other, may wait for
 * ever: the descriptor's task has a tag then (weft/ends.h), until that is made up for.
 */
#ifndef WEFT_ADAPTERS_IO_EDGE_H
#define WEFT_ADAPTERS_IO_EDGE_H

#include "io/loop.h"

/* A wait of the thread has reported the descriptor as ready to be read. */
void weft__io_edge_reported(int fd, struct weft__io_object *object);

/* The thread is about to wait, perhaps for long. */
void weft__io_edge_wait(void);

/* All was read. errno stays. */
void weft__io_edge_read(struct weft__io_object *object);

/* Epoll has been told to report it again. errno stays. */
void weft__io_edge_armed(struct weft__io_object *object);

#endif
