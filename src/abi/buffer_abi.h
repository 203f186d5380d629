/* SPDX-License-Identifier: ISC
 *
 * A buffer, as processes share it: everything before the packets. Little-endian, fixed width.
 *
 *     0        4096
 *     ┌────────┬───────┬───────┬────────┬──────────┬──────────┬───┬────────────┐
 *     │ header │ slots │ names │ tables │ packet 0 │ packet 1 │ … │ packet n-1 │
 *     └────────┴───────┴───────┴────────┴──────────┴──────────┴───┴────────────┘
 *
 * The header says where each part begins, so that a reader never computes a layout. The first half
 * of it is written once, before `magic`; the second half changes while the program records.
 *
 * A change that an old reader would misread raises WEFT_ABI_VERSION; new fields take reserved
 * bytes, which are zero.
 */
#ifndef WEFT_ABI_BUFFER_H
#define WEFT_ABI_BUFFER_H

#include <stddef.h>
#include <stdint.h>

/* Not text, not valid UTF-8, and visibly damaged by a text-mode transfer. Stored last: a buffer
 * that has it is complete. */
#define WEFT_ABI_MAGIC   "\x89WEFT\r\n\x1a"
#define WEFT_ABI_VERSION 1

#define WEFT_ABI_BUFFER_MIN_BYTES 65536
#define WEFT_ABI_PACKET_MIN_BYTES 4096
#define WEFT_ABI_PACKET_MAX_BYTES 65536

#define WEFT_ABI_LEVELS  64 /* one for each category; further ones share the last */
#define WEFT_ABI_CHANGES 64
#define WEFT_ABI_REFUSED 7

/* Categories with a number of their own, in `levels` and `categories`. */
#define WEFT_ABI_CATEGORY_PROGRAM 0  /* calls without a category */
#define WEFT_ABI_CATEGORY_OTHER   63 /* categories that found no free number */
#define WEFT_ABI_CATEGORY_ALL     255

/* Ids of a category's name and description: see name_abi.h. 0: no such category. */
#define WEFT_ABI_CATEGORY(name, description) ((uint32_t)(name) | (uint32_t)(description) << 16)

#define WEFT_ABI_LOSSES 16 /* by the numbers of losses.def */

enum weft_abi_loss {
#define LOSS(number, id, name) WEFT_ABI_LOSS_##id = number,
#include <weft/losses.def>
#undef LOSS
};

/* Why the record ends at the time `end` of the header. */
enum weft_abi_ending {
#define ENDING(number, id, name, sentence) WEFT_ABI_ENDING_##id = number,
#include <weft/endings.def>
#undef ENDING
};

/* In `wait_status`: the lower 16 bits are the status that waitpid(2) gave. */
#define WEFT_ABI_WAITED 0x10000u

enum weft_abi_clock {
	WEFT_ABI_CLOCK_CALLER = 0,    /* a counter that the program provides */
	WEFT_ABI_CLOCK_TSC = 1,       /* x86's invariant time stamp counter */
	WEFT_ABI_CLOCK_CNTVCT = 2,    /* aarch64's virtual counter */
	WEFT_ABI_CLOCK_MONOTONIC = 3, /* CLOCK_MONOTONIC, in ns */
	WEFT_ABI_CLOCK_UNIX = 4,      /* ns since 1970, in a converted trace */
	WEFT_ABI_CLOCK_XEN = 5,       /* Xen's system time: ns since Xen started, in all its domains */
};

/* The clock that `monotonic_ns` of a reading plus the header's `time_offset_ns` is of. */
enum weft_abi_time {
	WEFT_ABI_TIME_MONOTONIC = 0, /* CLOCK_MONOTONIC */
	WEFT_ABI_TIME_XEN = 1,       /* Xen's system time */
	/* The processor's counter, in cycles; the ticks are CLOCK_MONOTONIC of a Linux guest of Xen.
	 * `time_offset_ns` is from that to Xen's system time; 0: to be computed. */
	WEFT_ABI_TIME_COUNTER = 2,
};

/* One instant, read on every clock; 0 ticks: not taken. */
struct weft_abi_clock_reading {
	uint64_t ticks;
	uint64_t monotonic_ns;
	uint64_t unix_ns; /* 0: unknown */
};

/* One instant on three clocks of a host of Xen, as dom0 read them. */
struct weft_abi_comparison {
	uint64_t xen_ns;       /* Xen's system time */
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC of dom0 */
	uint64_t counter;      /* of the processor; 0: unknown */
	uint32_t error_ns;     /* the instants are at most this far apart */
	uint32_t reserved;
};

#define WEFT_ABI_COMPARISONS 24

/* A level change; the last 64 are kept, the newest at (changes_count - 1) % 64. A writer gets a
 * number by an atomic add to changes_count, and stores it here after the rest. An entry with
 * another number than the count implies is incomplete: its writer was stopped. */
struct weft_abi_change {
	uint64_t ticks;
	uint8_t category; /* or WEFT_ABI_CATEGORY_ALL */
	uint8_t level;
	uint8_t reserved[2];
	uint32_t number; /* the first is 1 */
};

/* In `hold_until`: stop recording at the next event that claims a packet. The process that stores
 * this also sets the limits of all slots to 0, so that every thread's next event does. */
#define WEFT_ABI_HOLD_STOP UINT64_MAX

#define WEFT_ABI_RULES 64

/* A program's requests to its watcher. The watcher announces how long it listens; when that time is
 * over, a killed watcher no longer causes holds. */
struct weft_abi_snapshots {
	uint64_t requests;     /* count of requests << 32 | name of the newest one's reason, or 0 */
	uint64_t served;       /* stored by the watcher: requests that were answered or skipped */
	uint64_t listen_until; /* ticks: a request before then holds the past … */
	uint64_t hold_ticks;   /* … for this long */
	uint32_t rule_count;   /* rules that the program added: see trigger.h */
	uint32_t reserved1;
	uint16_t rules[WEFT_ABI_RULES]; /* their names */
	uint8_t reserved2[88];
};

struct weft_abi_buffer {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes; /* 4096 */
	uint64_t buffer_bytes;
	uint32_t packet_bytes; /* a power of two */
	uint32_t packet_count;
	uint64_t packets_offset;
	uint64_t names_offset;
	uint32_t names_bytes; /* index and entries */
	uint32_t names_index; /* buckets of the index, a power of two: see name_abi.h */
	uint64_t slots_offset;
	uint32_t slot_bytes;
	uint32_t slot_count;
	uint64_t tables_offset; /* see table_abi.h */
	uint64_t tables_bytes;
	uint8_t uuid[16];    /* the run's */
	uint8_t boot_id[16]; /* buffers of one boot share a clock; zero: unknown */

	uint32_t clock;                       /* enum weft_abi_clock */
	uint32_t ending;                      /* enum weft_abi_ending, stored after `end` */
	uint64_t clock_hz;                    /* 0: the clock readings below give it */
	struct weft_abi_clock_reading start;  /* when the program started */
	struct weft_abi_clock_reading second; /* a while later: together they give the clock's rate */
	struct weft_abi_clock_reading end;    /* when the record ended: see `ending` */

	uint32_t pid;
	uint32_t wait_status; /* 0: unknown; else with WEFT_ABI_WAITED */
	char program[64];     /* padded with NULs, like all text here */
	char command[512];    /* arguments, each ended by a NUL; cut at the end */
	char source[256];     /* the name of the trace that this is a part of; else empty */
	char host[64];        /* the machine's name; empty: unknown */
	uint32_t is_quiet;  /* 1: only a thread's first event makes system calls, so nobody is woken */
	uint32_t time_base; /* enum weft_abi_time */
	int64_t time_offset_ns;  /* to add to `monotonic_ns` of all readings */
	uint32_t has_categories; /* 1: a task whose creation names no category is of "program" */
	/* The rest of this part is stored by the reader of a guest of Xen, in its copy. */
	uint32_t guest;            /* 1 + the number of the domain; 0: not a guest, or unknown */
	uint32_t comparison_count; /* in order of time; the first one is in time_offset_ns, too */
	uint32_t offset_error_ns;  /* of `time_offset_ns` in a part of a trace of a Linux guest */
	struct weft_abi_comparison comparisons[WEFT_ABI_COMPARISONS];
	/* Tables that were made at the program's end, behind the packets (table_abi.h): so a reader
	 * that has mapped the buffer before does not see them. The bytes are stored last; 0: none. */
	uint64_t added_offset, added_bytes;
	uint8_t reserved6[56];

	/* State while recording. Each cache line is written by the same type of operation. */
	uint64_t hand;        /* claims so far, and the newest sequence */
	uint64_t threads;     /* threads that recorded, and the newest one's number */
	uint64_t next_task;   /* the first id that no thread has taken */
	uint32_t names_used;  /* bytes of names that are in use */
	uint32_t slots_used;  /* slots from here on were never used */
	uint32_t stop_reason; /* 0, or an errno: why recording stopped early */
	uint32_t
		waiters; /* the count of claims at which to wake followers, modulo 2^32; 0: none waits */
	uint64_t hold_until;    /* no claims before these ticks: the past is being copied;
							 * WEFT_ABI_HOLD_STOP: stop recording */
	uint32_t rundown;       /* requests for a rundown so far */
	uint32_t changes_count; /* level changes so far */
	uint64_t reserved3;
	uint64_t
		losses[WEFT_ABI_LOSSES]; /* `overwritten` is the sum over the packets, see packet_abi.h */
	/* The level of each category: read before each event, written by any process with permission.
	 */
	uint8_t levels[WEFT_ABI_LEVELS];
	struct weft_abi_change changes[WEFT_ABI_CHANGES];
	uint32_t categories[WEFT_ABI_LEVELS]; /* WEFT_ABI_CATEGORY of each; set once */
	struct weft_abi_snapshots snapshots;
	uint32_t stream; /* 1: a stream, see stream_abi.h; no packets follow by offset */
	uint32_t
		piece; /* a stream may have several files: the number of this one, from 1; 0: unknown */
	uint64_t series; /* the same in all files of one stream: ticks when it began */
	/* 1: the category's calls are counted, not recorded. Its level is 0 then, so that programs
	 * whose calls do not look here take it for "off". At a fixed distance from `levels`. */
	uint8_t counting[WEFT_ABI_LEVELS];
	uint8_t reserved4[112];
	uint32_t stopped; /* 1: recording has stopped, though the program may still run */
	/* Forked children that could not make a buffer and could not report it elsewhere: their number,
	 * and the first ones as pid | errno << 32 | step << 48. */
	uint32_t refused_count;
	uint64_t refused[WEFT_ABI_REFUSED];
	uint8_t reserved5[64];
};

/* The step at which a child failed. */
enum weft_abi_step {
	WEFT_ABI_STEP_UNKNOWN = 0,
	WEFT_ABI_STEP_CREATE = 1,
	WEFT_ABI_STEP_ALLOCATE = 2,
	WEFT_ABI_STEP_MAP = 3,
	WEFT_ABI_STEP_START = 4,
	WEFT_ABI_STEPS
};

/* The state of a recording thread. Only that thread writes it, except for `owner` (by the thread
 * that takes the slot over), `limit` (set to 0 by a thread that wants the packet) and `taken`.
 *
 *     owner: epoch << 32 | tid. When a thread needs a slot or packet, it looks for ended threads
 *     and takes over their slots with the packets. Each new owner raises the epoch, which
 *     distinguishes owners with equal tids. A free slot has tid 0 and keeps its epoch.
 *
 *     No field is an address, and the recorder trusts none: it compares each with its own numbers
 *     before it uses it as a place in memory (record/region.h).
 *
 *     The names of the slots' threads follow the last slot, in the same order, 16 bytes each. Only
 *     the recorder uses them; readers find a thread's name in its packets.
 *
 *     taken: decides which thread closes the packet. The upper half is the lower half of the
 *     packet's sequence. One compare-and-exchange sets the lower half to the number of the
 *     packet's events + 1, with bit 31 if the slot's owner won. */
struct weft_abi_slot {
	uint64_t owner;
	uint32_t sequence;  /* odd from before an event's stamp is read until it is committed */
	uint32_t limit;     /* limit of `committed` in the packet; 0: there is no packet */
	uint64_t packet;    /* bytes from this slot to it; 0: none */
	uint32_t base_high; /* upper half of the base that stamps count from; the lower is 0 */
	uint32_t offset;    /* where the packet's next event goes: its `committed`, stored after that */
	uint64_t task;      /* the current one */
	uint64_t next_task; /* the next id of the thread's block */
	uint32_t tasks_left; /* ids left in the block */
	uint32_t surplus;    /* words of the packet's records beyond two per event; modulo 2^32 */
	uint32_t thread;     /* number of the thread: 1 is the first that recorded */
	uint32_t inherited;  /* events of earlier threads in the packet */

	uint64_t number;    /* events of this thread before the packet */
	uint64_t lost;      /* events of this thread that are missing, not counting overwritten ones */
	uint32_t nested;    /* events refused since the one at `nested_at` was begun */
	uint32_t nested_at; /* a value of `sequence` */
	uint32_t refuse;    /* events to refuse before looking for a packet again */
	uint32_t reserved;
	uint64_t taken;
	uint64_t unfinished;    /* sequence of the packet that the owner opens, or closes for another */
	uint64_t moment;        /* ticks that several events share */
	uint32_t moment_events; /* twice the number of events so far; odd inside an event */
	uint32_t is_in_moment;  /* in a moment: `sequence` stays odd until its end */
};

#define WEFT_ABI_AT(type, field, offset) \
	_Static_assert(offsetof(struct type, field) == (offset), #type "." #field)

WEFT_ABI_AT(weft_abi_buffer, buffer_bytes, 16);
WEFT_ABI_AT(weft_abi_buffer, packets_offset, 32);
WEFT_ABI_AT(weft_abi_buffer, slots_offset, 56);
WEFT_ABI_AT(weft_abi_buffer, uuid, 88);
WEFT_ABI_AT(weft_abi_buffer, clock, 120);
WEFT_ABI_AT(weft_abi_buffer, start, 136);
WEFT_ABI_AT(weft_abi_buffer, pid, 208);
WEFT_ABI_AT(weft_abi_buffer, command, 280);
WEFT_ABI_AT(weft_abi_buffer, host, 1048);
WEFT_ABI_AT(weft_abi_buffer, is_quiet, 1112);
WEFT_ABI_AT(weft_abi_buffer, time_offset_ns, 1120);
WEFT_ABI_AT(weft_abi_buffer, has_categories, 1128);
WEFT_ABI_AT(weft_abi_buffer, comparisons, 1144);
WEFT_ABI_AT(weft_abi_buffer, hand, 1984);
WEFT_ABI_AT(weft_abi_buffer, losses, 2048);
WEFT_ABI_AT(weft_abi_buffer, levels, 2176);
WEFT_ABI_AT(weft_abi_buffer, changes, 2240);
WEFT_ABI_AT(weft_abi_buffer, categories, 3264);
WEFT_ABI_AT(weft_abi_change, number, 12);
WEFT_ABI_AT(weft_abi_buffer, snapshots, 3520);
_Static_assert(sizeof(struct weft_abi_snapshots) == 256, "snapshots");
WEFT_ABI_AT(weft_abi_buffer, stream, 3776);
WEFT_ABI_AT(weft_abi_buffer, counting, 3792);
WEFT_ABI_AT(weft_abi_buffer, stopped, 3968);
WEFT_ABI_AT(weft_abi_buffer, refused, 3976);
_Static_assert(sizeof(struct weft_abi_clock_reading) == 24, "clock reading");
_Static_assert(sizeof(struct weft_abi_change) == 16, "change");
_Static_assert(sizeof(struct weft_abi_comparison) == 32, "comparison");
_Static_assert(sizeof(struct weft_abi_buffer) == 4096, "header");
_Static_assert(sizeof(struct weft_abi_slot) == 128, "slot");
WEFT_ABI_AT(weft_abi_slot, number, 64);

#endif
