/* SPDX-License-Identifier: ISC
 *
 * Tags of tasks that stand for what processes share. Those of one end of a pipe or connection:
 * their value is a number that both ends know: what one end writes, the other reads. A recorder
 * writes them when it first knows the number, and readers then find the process at the other end,
 * also if nothing is sent any more. Those of a lock: the system's number of the thread or process
 * that holds it when a wait begins; 0: unknown, or one that the trace shows. A tag of conditions,
 * and parts of the keys of messages, are here as well.
 */
#ifndef WEFT_ENDS_H
#define WEFT_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#define WEFT_TAG_READS  "reads from end"
#define WEFT_TAG_WRITES "writes to end"

/* A thread that has a tag of an end, as it keeps a pipe open, has closed that; or another task
 * stands for the end now. */
#define WEFT_TAG_LEAVES "leaves end"

/* Tags of a pipe, one of a pair of sockets or an eventfd, to which a thread waits to write or from
 * which it waits to read, and which no other process has: it was made in this one, which has no
 * child, has not forked since, nor sent a message that may have descriptors. If a thread waits to
 * read, no handler of a signal could write either. The descriptors by which the process writes and
 * reads. The second one is -1 once that may not be true any more. */
#define WEFT_TAG_OWN_WRITER "own writing descriptor"
#define WEFT_TAG_OWN_READER "own reading descriptor"

/* Tags of a connection or pipe that a program reads when epoll reports it. The program waits for
 * the next report, which does not come, as that many bytes were left (EPOLLET), or as epoll was not
 * told to report it again (EPOLLONESHOT: 1). 0: no longer. */
#define WEFT_TAG_UNREAD  "left unread"
#define WEFT_TAG_UNARMED "not armed again"

/* The number of children of a process. A process that waits for the end of any child tags the task
 * for which it waits; one that waits for a signal while children have ended for which it has not
 * waited tags its first task. */
#define WEFT_TAG_CHILDREN "children"

/* How many children of a process have ended for which it has not waited; a tag of its first task.
 */
#define WEFT_TAG_UNREAPED "children not waited for"

/* A thread has made one call after the other that returned at once and had nothing for it: a note
 * of its task with the call, or with one of several kinds, then tags with their number, and for how
 * long, in ns. */
#define WEFT_NOTE_VAIN        "busy loop of "
#define WEFT_NOTE_VAIN_OTHERS " and others"
#define WEFT_TAG_VAIN_CALLS   "calls in vain"
#define WEFT_TAG_VAIN_NS      "ns in vain"

/* The process id of a child that a signal has killed: a tag of the task that waited for it, or that
 * asked. A note after it says by which signal. */
#define WEFT_TAG_KILLED "killed child"

#define WEFT_TAG_HELD_BY_THREAD  "held by thread"
#define WEFT_TAG_HELD_BY_PROCESS "held by process"

/* The holder of a lock that processes do not share: a thread of the parent, which had the lock at
 * the fork. No thread of this process can release it. */
#define WEFT_TAG_HELD_AT_FORK "held at fork by thread"

/* A tag of a condition, before WEFT_TAG_SIGNALLED_BY: how many signals met no waiter since the last
 * wait, if there was more than one. */
#define WEFT_TAG_SIGNALLED_TIMES "signals before"

/* A tag of a condition, right after WEFT_TAG_SIGNALLED_BY: so many signals in a row, each for one
 * waiter, have met none: 64, 128, and so on. A queue behind the condition has not been empty since.
 */
#define WEFT_TAG_UNHEARD "signals without a waiter"

/* The keys of messages through a pipe or connection have this in their bits 56 to 63. Bytes come in
 * the order in which they were written, so a receive takes the first send that no receive has
 * taken; and all later ones with it, as a read may get what several writes have left. */
#define WEFT_KEY_STREAM_FIRST 6
#define WEFT_KEY_STREAM_LAST  8

/* The same of a queue of messages or a semaphore of the kernel: each wait takes back what was sent
 * before, so the first send after that ends it. A task that has sent has a tag of the writing end.
 */
#define WEFT_KEY_QUEUE 14

static inline bool weft_key_is_stream(uint64_t key)
{
	const uint64_t channel = key >> 56;
	return (channel >= WEFT_KEY_STREAM_FIRST && channel <= WEFT_KEY_STREAM_LAST) ||
		   channel == WEFT_KEY_QUEUE;
}

/* The same of a port of this host that takes datagrams: the socket that is bound to it writes what
 * one that has sent there reads. There are no messages. */
#define WEFT_KEY_DATAGRAMS 13

/* The same of the messages that the adapters send when a program executes another one, or ends. */
#define WEFT_KEY_EXECS       2
#define WEFT_KEY_EXITS       3
#define WEFT_KEY_CHILD_EXITS 5

#endif
