/* SPDX-License-Identifier: ISC
 *
 * Tags of tasks that stand for what processes share. Those of one end of a pipe or connection:
 * their value is a number that both ends know: what one end writes, the other reads. A recorder
 * writes them when it first knows the number, and readers then find the process at the other end,
 * also if nothing is sent any more. Those of a lock: the system's number of the thread or process
 * that holds it when a wait begins; 0: unknown, or one that the trace shows. And parts of the keys
 * of messages.
 */
#ifndef WEFT_ENDS_H
#define WEFT_ENDS_H

#define WEFT_TAG_READS  "reads from end"
#define WEFT_TAG_WRITES "writes to end"

#define WEFT_TAG_HELD_BY_THREAD  "held by thread"
#define WEFT_TAG_HELD_BY_PROCESS "held by process"

/* Bits 56 to 63 of the keys of the messages that the adapters send when a program executes another
 * one, or ends. */
#define WEFT_KEY_EXECS 2
#define WEFT_KEY_EXITS 3

#endif
