/* SPDX-License-Identifier: ISC
 *
 * The memory in which running and ended programs have their counters: files in the agent's folder
 * (abi/counter_abi.h), and nameless memory of living processes.
 *
 * Each user may put files into the folder and change their content at any time. A region belongs to
 * the user who owns the file, whatever its content says.
 */
#ifndef WEFT_AGENT_REGIONS_H
#define WEFT_AGENT_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/counter_abi.h"
#include "abi/metric_abi.h"
#include "agent/search.h"
#include "base/index.h"
#include "runs/attach/counters.h"
#include "runs/guests/guest.h"

/* A value in a region. */
struct weft__agent_item {
	uint32_t series;
	bool is_real;
	bool is_refused; /* the series has another type than the value */
	bool is_written; /* `now` is in the ledger once the transaction is committed */
	bool is_read;    /* in the present look */
	int64_t seen;    /* what of `now` is in the ledger */
	int64_t now;
	double real;
	uint64_t exemplar_ns; /* when its exemplar was that was taken last */
};

/* Memory with counters, or metrics with types and labels; or no memory: the values are asked for by
 * the number of the process, or of the domain of Xen. */
enum weft__agent_kind {
	WEFT__AGENT_COUNTERS,
	WEFT__AGENT_METRICS,
	WEFT__AGENT_KINDS,
	WEFT__AGENT_PROCESS = WEFT__AGENT_KINDS,
	WEFT__AGENT_DOMAIN
};

struct weft__agent_region {
	enum weft__agent_kind kind;
	char name[33]; /* in hexadecimal */
	char program[WEFT__RUNS_GUEST_OPERAND_BYTES];
	char trouble[128]; /* the last incident, which is not repeated */
	unsigned trouble_count;
	uint64_t user;
	pid_t pid; /* 0: a domain */
	uint32_t domain;
	uint64_t started; /* the process, in the kernel's ticks; 0: the region has a name */
	double born;      /* in seconds since 1970 */
	int fd;
	off_t at;           /* the counters' offset in the file */
	bool is_loaded;     /* what of it was seen before is known */
	bool is_known;      /* to the database */
	bool is_dead;       /* no process can change it any more */
	bool is_away;       /* a domain has another name now */
	bool is_begun;      /* its process has filled the header */
	bool is_damaged;    /* the last look could not take all its values */
	int64_t dead_since; /* the time of the first look that found it dead; 0: none did */
	uint64_t digest;    /* of the content at the last look; 0: none */
	bool has_process;   /* it was looked for */
	int64_t asked;      /* a process: the time of the last look that did; 0: none */
	struct weft__agent_item *items;
	size_t item_count;
	struct weft__index index; /* of the items by their series; no slots if there are none */
};

struct weft__agent_regions {
	int folder;       /* locked; -1: there is none */
	const char *path; /* of the folder; "" */
	bool cleans; /* the folder is the system's: what other users put there in vain is removed */
	struct weft__agent_region **list;
	size_t count, capacity;
	size_t limit; /* no more than these are taken */
	struct weft__agent_search search;
	void *memory; /* room for one copy of either kind */
	/* Reads what a process has, at most once in so many units of time. 0 or an errno. */
	int64_t ask_each;
	int (*reads)(pid_t pid, struct weft__runs_counters *ret_counters);
	struct weft_host *xen;  /* whose domains are counted, too; or NULL */
	bool has_found_domains; /* XenStore has said which there are */
};

/* Instead of the ticks at which a process started, of a domain: none did so late. */
#define WEFT__AGENT_DOMAIN_STARTED INT64_MAX

/* Opens the folder, which must be safe, and locks it. NULL: only nameless memory. 0 or an errno;
 * EWOULDBLOCK: another agent has it; EPERM: others could remove files there. */
int weft__agent_regions_open(struct weft__agent_regions *regions, const char *folder);
void weft__agent_regions_close(struct weft__agent_regions *regions);

/* Finds regions that are new. 0 or an errno. */
int weft__agent_regions_find(struct weft__agent_regions *regions);

/* The same for the nameless memory of living processes, some of them at each call. */
void weft__agent_regions_search(struct weft__agent_regions *regions);

/* Adds an empty region. NULL: there is no memory, or there are too many. */
struct weft__agent_region *weft__agent_regions_add(struct weft__agent_regions *regions,
	enum weft__agent_kind kind, const char *name, uint64_t user);

/* Adds a process, unless it is there already. `born`: when its values were 0. */
void weft__agent_regions_add_process(struct weft__agent_regions *regions, pid_t pid,
	const char *program, const char *boot, double born);

/* domains.c: adds the domains of Xen that are there now, and sets is_dead of those that are no
 * more. `born`: a time at which values of new ones were 0. */
void weft__agent_regions_find_domains(
	struct weft__agent_regions *regions, const char *boot, double born);

/* Sets is_dead of all regions. Values that are read afterwards are the last ones of the dead. */
void weft__agent_regions_look(struct weft__agent_regions *regions);

/* Copies the counters of a region into `regions->memory`. NULL, or why they are damaged. */
const char *weft__agent_regions_read(
	struct weft__agent_regions *regions, struct weft__agent_region *region);

/* True if the copy differs from the one before, or is the last one. */
bool weft__agent_regions_differs(
	const struct weft__agent_regions *regions, struct weft__agent_region *region);

/* Removes a finished region's file. False, with errno, if that failed. */
bool weft__agent_regions_remove(
	struct weft__agent_regions *regions, const struct weft__agent_region *region);

/* Forgets a region. */
void weft__agent_regions_drop(struct weft__agent_regions *regions, size_t number);

/* The region of that name, or NULL. */
struct weft__agent_region *weft__agent_regions_named(
	const struct weft__agent_regions *regions, const char *name);

/* True if the folder has no file of that name, of either kind. */
bool weft__agent_regions_is_gone(const struct weft__agent_regions *regions, const char *name);

/* True if the process that started then is known to run no more. */
bool weft__agent_regions_has_ended(pid_t pid, uint64_t started);

#endif
