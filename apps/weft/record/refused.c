/* SPDX-License-Identifier: ISC
 *
 * Says why SIGSYS has ended a program: a filter of system calls did not allow one of them. Only the
 * kernel's log tells which one (as a record of the kind 1326), if this process may read it:
 *
 *     audit: type=1326 audit(…): … pid=10933 comm="sleep" … arch=c000003e syscall=230 …
 */
#include <inttypes.h>
#include <linux/audit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include <weft/parse.h>

#include "cli/call_names.h"
#include "cli/cli.h"
#include "record/record.h"
#include "runs/message.h"

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define OWN_ARCHITECTURE AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define OWN_ARCHITECTURE 0
#endif

enum {
	READ_ALL = 3, /* syslog(2): copies the last part of the log */
	LOG_BYTES = 65536,
	TRIES = 10, /* the kernel writes it a little later, in a thread of its own */
	PAUSE_NS = 20000000
};

struct refused {
	uint64_t architecture, call;
};

/* When the record was made: "audit(SECONDS.MS:NUMBER)". An earlier process may have had the same
 * number. */
static bool is_since(const char *line, time_t since)
{
	uint64_t seconds;
	const char *time = strstr(line, "audit(");
	if (!time)
		return false;
	time += strlen("audit(");
	return weft_parse_number(time, strcspn(time, ".:)\n"), &seconds) == WEFT_PARSE_OK &&
		   seconds >= (uint64_t)since;
}

/* The last record of that process in the log, since it began. */
static bool find_record(const char *log, pid_t process, time_t since, struct refused *ret)
{
	char wanted[32];
	const char *found = NULL;
	snprintf(wanted, sizeof(wanted), " pid=%ld ", (long)process);
	for (const char *line = log; (line = strstr(line, "type=1326 ")); line++) {
		size_t size = strcspn(line, "\n");
		if (memmem(line, size, wanted, strlen(wanted)) && is_since(line, since))
			found = line;
	}
	const char *architecture = found ? strstr(found, " arch=") : NULL;
	const char *call = architecture ? strstr(architecture, " syscall=") : NULL;
	if (!call)
		return false;
	architecture += strlen(" arch=");
	call += strlen(" syscall=");
	return weft_parse_hexadecimal(architecture, strcspn(architecture, " \n"), &ret->architecture) ==
			   WEFT_PARSE_OK &&
		   weft_parse_number(call, strcspn(call, " \n"), &ret->call) == WEFT_PARSE_OK;
}

static bool read_log(pid_t process, time_t since, struct refused *ret)
{
	const struct timespec pause = {0, PAUSE_NS};
	char *log = malloc(LOG_BYTES + 1);
	int size = 0;
	bool found = false;
	for (int i = 0; log && i < TRIES && !found; i++) {
		if (i)
			nanosleep(&pause, NULL);
		size = klogctl(READ_ALL, log, LOG_BYTES);
		if (size < 0)
			break;
		log[size] = '\0';
		found = find_record(log, process, since, ret);
	}
	free(log);
	return found;
}

static const char *name_of(const struct refused *refused)
{
	const char *name =
		refused->architecture == OWN_ARCHITECTURE ? cli_call_name(refused->call) : NULL;
	return name ? name : "the system call";
}

void record_report_refused(const char *program, pid_t process, time_t since, int status)
{
	struct refused refused;
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
		return;
	if (read_log(process, since, &refused))
		cli_error("%s ended by SIGSYS: a filter of system calls does not allow %s (%" PRIu64 ")",
			weft__runs_shown(program), name_of(&refused), refused.call);
	else
		cli_error(
			"%s ended by SIGSYS: if nobody sent it, a filter of system calls does not allow one "
			"of its calls, which the kernel's log names (dmesg, type=1326)",
			weft__runs_shown(program));
}
