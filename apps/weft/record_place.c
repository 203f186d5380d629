/* SPDX-License-Identifier: ISC
 *
 * Where rings live while a program records: a fresh directory of mode 0700, root's of 01733, in the
 * user's run directory, or in /dev/shm. Both are in memory: on a disk, writing pages back would
 * stall the program.
 *
 * Who made it keeps it open with a lock, which the kernel takes back however that process ends: so
 * others know whether somebody is still there to save what is in it.
 *
 * /dev/shm is everybody's: somebody else may have put something in the place of our directory, so
 * what is there is opened without following links, and must be a directory of ours. If it is not,
 * ours gets another name, which readers find because it begins in the same way.
 *
 * In root's directory children without privileges may have created anything: entries that
 * cannot be rings are listed apart, with the reason, and nothing opens them.
 */
#include "record.h"

#include "cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* What all rings may take together, see src/platform/total.c. */
#define TOTAL "total"

/* Is it a directory, not a link to one, and ours? With `make_private`, nobody else can look into it
 * from now on; but go through it, if it is root's. */
static bool is_ours(const char *path, bool make_private)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	struct stat status;
	bool ours = fstat(fd, &status) == 0 && status.st_uid == geteuid();
	mode_t mode = geteuid() == 0 ? 0711 : 0700;
	if (ours && make_private && (status.st_mode & 07777) != mode)
		ours = fchmod(fd, mode) == 0;
	int reason = ours ? 0 : EPERM;
	close(fd);
	errno = reason;
	return ours;
}

/* Ours, and nobody else may create or rename entries in it. */
static bool is_private(const char *path)
{
	struct stat status;
	return is_ours(path, false) && stat(path, &status) == 0 && !(status.st_mode & 022);
}

#define SHARED_DIRECTORY "/dev/shm"

/* weft-UID, or weft-UID-XXXXXX where another user had taken that name. */
static bool is_base_name(const char *name)
{
	char usual[32];
	size_t length = (size_t)snprintf(usual, sizeof(usual), "weft-%u", (unsigned)geteuid());
	return strncmp(name, usual, length) == 0 && (name[length] == '\0' || name[length] == '-');
}

/* Another user's run directory, as sudo may leave it in the environment, is none: its owner could
 * put something else in the place of ours. Empty: /dev/shm is to be used. */
static bool find_private_base(char ret_base[PATH_MAX])
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	ret_base[0] = '\0';
	if (!run || run[0] != '/' || !is_ours(run, false))
		return true;
	if (strlen(run) >= PATH_MAX - 64) {
		errno = ENAMETOOLONG;
		return false;
	}
	snprintf(ret_base, PATH_MAX, "%s/weft", run);
	return true;
}

/* Calls `visit` for each run directory of ours until it answers false. */
static void visit_bases(bool (*visit)(void *context, const char *base), void *context)
{
	char base[PATH_MAX];
	if (!find_private_base(base))
		return;
	if (base[0]) {
		if (is_private(base))
			visit(context, base);
		return;
	}
	DIR *entries = opendir(SHARED_DIRECTORY);
	bool goes_on = true;
	for (struct dirent *entry; goes_on && entries && (entry = readdir(entries));) {
		snprintf(base, sizeof(base), SHARED_DIRECTORY "/%s", entry->d_name);
		if (is_base_name(entry->d_name) && is_private(base))
			goes_on = visit(context, base);
	}
	if (entries)
		closedir(entries);
}

static bool take_base(void *context, const char *base)
{
	snprintf(context, PATH_MAX, "%s", base);
	return false;
}

static bool make_base(const char *base)
{
	return (mkdir(base, 0700) == 0 || errno == EEXIST) && is_ours(base, true);
}

/* Any user can create /dev/shm/weft-UID of another: then ours gets a name that cannot be guessed.
 * `ret_base` also names what failed. */
static bool find_base(char ret_base[PATH_MAX])
{
	if (!find_private_base(ret_base))
		return false;
	if (ret_base[0])
		return make_base(ret_base);
	snprintf(ret_base, PATH_MAX, SHARED_DIRECTORY "/weft-%u", (unsigned)geteuid());
	if (make_base(ret_base))
		return true;
	char other[PATH_MAX] = "";
	visit_bases(take_base, other);
	if (!other[0]) {
		snprintf(other, sizeof(other), SHARED_DIRECTORY "/weft-%u-XXXXXX", (unsigned)geteuid());
		if (!mkdtemp(other))
			return false;
	}
	if (!make_base(other))
		return false;
	strcpy(ret_base, other);
	return true;
}

/* Is the lock to be had? It is kept if `keep`, until we end. */
static bool try_lock(const char *directory, int operation, bool keep)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, operation) == 0;
	if (fd >= 0 && !(locked && keep))
		close(fd);
	return locked;
}

bool record_place_is_there(const char *directory)
{
	return is_ours(directory, false);
}

bool record_place_is_attended(const char *directory)
{
	return !try_lock(directory, LOCK_EX | LOCK_NB, false) && errno == EWOULDBLOCK;
}

bool record_place_attend(const char *directory)
{
	return try_lock(directory, LOCK_EX | LOCK_NB, true);
}

/* The bound comes first; libweft appends what each process takes of it. */
static bool set_total(const char *place, uint64_t bytes)
{
	char path[PATH_MAX + sizeof(TOTAL)];
	snprintf(path, sizeof(path), "%s/" TOTAL, place);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	/* A child that drops root's privileges takes its part as well. */
	bool good = fd >= 0 && write(fd, &bytes, sizeof(bytes)) == sizeof(bytes) &&
				(geteuid() != 0 || fchmod(fd, 0666) == 0);
	if (fd >= 0)
		close(fd);
	return good;
}

bool record_place_make(uint64_t total_bytes, char ret_directory[PATH_MAX])
{
	char base[PATH_MAX], place[PATH_MAX];
	bool good = find_base(base);
	if (good) {
		good = snprintf(place, sizeof(place), "%s/record-XXXXXX", base) < (int)sizeof(place) &&
			   mkdtemp(place) != NULL;
		/* A child that drops root's privileges makes its ring there, if it knows where. */
		if (good && geteuid() == 0)
			good = chmod(place, 01733) == 0;
		if (good && total_bytes)
			good = set_total(place, total_bytes);
	}
	if (!good) {
		cli_error("there is no place for the trace: %s: %s", record_shown(base),
			errno == EPERM ? "not a directory of ours" : strerror(errno));
		return false;
	}
	/* Shared, so that who only asks for the lock does not fail us. Without locks on this file
	 * system we are taken for gone, which only `weft ls` would say. */
	try_lock(place, LOCK_SH, true);
	snprintf(ret_directory, PATH_MAX, "%.*s/", PATH_MAX - 2, place);
	return true;
}

static bool add_place(struct record_places *places, const char *base, const char *name)
{
	char(*list)[PATH_MAX] = realloc(places->list, (places->count + 1) * sizeof(*list));
	if (!list) {
		cli_error("%s", strerror(errno));
		return false;
	}
	places->list = list;
	int length = snprintf(list[places->count], PATH_MAX, "%s/%s/", base, name);
	places->count += length < PATH_MAX;
	return true;
}

static bool add_places(void *context, const char *base)
{
	struct record_places *places = context;
	DIR *entries = opendir(base);
	bool good = true;
	for (struct dirent *entry; good && entries && (entry = readdir(entries));)
		if (strncmp(entry->d_name, "record-", 7) == 0)
			good = add_place(places, base, entry->d_name);
	if (entries)
		closedir(entries);
	places->has_failed = !good;
	return good;
}

bool record_places_find(struct record_places *ret_places)
{
	struct record_places places = {0};
	visit_bases(add_places, &places);
	bool good = !places.has_failed;
	if (!good)
		record_places_finish(&places);
	*ret_places = places;
	return good;
}

void record_places_finish(struct record_places *places)
{
	free(places->list);
	*places = (struct record_places){0};
}

/* A process that ended but whose parent has not asked yet records no more. */
static bool is_zombie(pid_t pid)
{
	char path[64], line[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	size_t size = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[size] = '\0';
	/* PID (NAME) STATE …, and a name may hold anything. */
	const char *name_end = strrchr(line, ')');
	return name_end && (name_end[1] == ' ') && (name_end[2] == 'Z' || name_end[2] == 'X');
}

/* -PID or -PID.N at the end of the `size` bytes of `name`. */
static bool parse_process(const char *name, size_t size, struct record_ring *ring)
{
	const char *dash = memrchr(name, '-', size);
	char *end;
	if (!dash)
		return false;
	ring->pid = (pid_t)strtol(dash + 1, &end, 10);
	ring->program = 1;
	if (*end == '.' && end < name + size)
		ring->program = (unsigned)strtoul(end + 1, &end, 10);
	return end == name + size && ring->pid > 0;
}

/* What the name alone tells: nothing is asked of the system. */
static bool parse_name(const char *name, struct record_ring *ret_ring)
{
	struct record_ring ring = {0};
	const char *suffix = strrchr(name, '.');
	if (!suffix || strlen(name) >= sizeof(ring.name))
		return false;
	ring.is_failure = strcmp(suffix, ".failed") == 0;
	ring.stem_size = (int)(suffix - name);
	if (!ring.is_failure && strcmp(suffix, ".weft") != 0)
		return false;
	if (!parse_process(name, (size_t)ring.stem_size, &ring))
		return false;
	strcpy(ring.name, name);
	*ret_ring = ring;
	return true;
}

static bool is_link(const char *path)
{
	struct stat status;
	return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

/* May it be a ring, or a link that says why there is none? Nothing is opened. */
static bool look_at(const char *directory, struct record_ring *ring, struct weft_ring_check *check)
{
	char path[PATH_MAX + NAME_MAX + 1];
	struct stat status;
	snprintf(path, sizeof(path), "%s%s", directory, ring->name);
	if (ring->is_failure) {
		ring->is_ours = lstat(path, &status) == 0 && status.st_uid == geteuid();
		return true;
	}
	bool good = weft_source_check_ring(path, ring->pid, check);
	ring->is_ours = check->is_ours;
	ring->is_link = is_link(path);
	ring->is_running = good && (ring->is_ours || check->has_process) &&
					   (kill(ring->pid, 0) == 0 || errno == EPERM) && !is_zombie(ring->pid);
	return good;
}

/* Files of other users come last, so that none delays or replaces a trace of ours. Numbers of
 * processes grow, and start again from the bottom. So the distance from the program's gives the
 * order in which its descendants were started. */
static int compare(const void *a, const void *b, void *program)
{
	const struct record_ring *left = a, *right = b;
	unsigned base = (unsigned)*(const pid_t *)program;
	unsigned x = (unsigned)left->pid - base, y = (unsigned)right->pid - base;
	if (left->is_ours != right->is_ours)
		return left->is_ours ? -1 : 1;
	if (x != y)
		return x > y ? 1 : -1;
	if (left->program != right->program)
		return left->program > right->program ? 1 : -1;
	return strcmp(left->name, right->name);
}

static bool reserve_ring(struct record_rings *rings)
{
	if (rings->count < rings->capacity)
		return true;
	size_t capacity = rings->capacity ? 2 * rings->capacity : 16;
	struct record_ring *list = realloc(rings->list, capacity * sizeof(*list));
	if (list) {
		rings->list = list;
		rings->capacity = capacity;
	}
	return list;
}

/* Entries that another user made cost time and memory: so many are looked at. */
#define OTHERS_MAX 16384

static bool has_too_many(const struct record_rings *rings, const char *directory, const char *name)
{
	char path[PATH_MAX + NAME_MAX + 1];
	struct stat status;
	if (rings->others_count + rings->refused_count < OTHERS_MAX)
		return false;
	snprintf(path, sizeof(path), "%s%s", directory, name);
	return lstat(path, &status) != 0 || status.st_uid != geteuid();
}

void record_rings_refuse(struct record_rings *rings, const char *name, const char *reason)
{
	if (rings->refused_count < RECORD_REFUSED_SHOWN) {
		struct record_refused *refused = &rings->refused[rings->refused_count];
		snprintf(refused->name, sizeof(refused->name), "%s", name);
		snprintf(refused->reason, sizeof(refused->reason), "%s", reason);
	}
	rings->refused_count++;
}

static void take_entry(const char *directory, const char *name, struct record_rings *rings)
{
	struct record_ring *ring = &rings->list[rings->count];
	struct weft_ring_check check;
	if (!parse_name(name, ring))
		return;
	if (has_too_many(rings, directory, name)) {
		rings->refused_count++;
	} else if (look_at(directory, ring, &check)) {
		rings->others_count += !ring->is_ours;
		rings->count++;
	} else {
		record_rings_refuse(rings, name, check.reason);
	}
}

bool record_rings_find(const char *directory, pid_t program, struct record_rings *ret_rings)
{
	struct record_rings rings = {0};
	DIR *entries = opendir(directory);
	if (!entries) {
		cli_error("%s: %s", record_shown(directory), strerror(errno));
		return false;
	}
	for (struct dirent *entry; (entry = readdir(entries));) {
		if (!reserve_ring(&rings)) {
			cli_error("%s; the trace stays in %s", strerror(ENOMEM), record_shown(directory));
			record_rings_finish(&rings);
			closedir(entries);
			return false;
		}
		take_entry(directory, entry->d_name, &rings);
	}
	closedir(entries);
	if (rings.count)
		qsort_r(rings.list, rings.count, sizeof(*rings.list), compare, &program);
	*ret_rings = rings;
	return true;
}

void record_rings_finish(struct record_rings *rings)
{
	free(rings->list);
	*rings = (struct record_rings){0};
}

/* Our own link to a ring that is elsewhere, see --in-place. */
static bool leads_to_ring(const char *directory, const char *name)
{
	char path[PATH_MAX + NAME_MAX + 1];
	struct weft_ring_check check;
	snprintf(path, sizeof(path), "%s%s", directory, name);
	return weft_source_check_ring(path, 0, &check);
}

/* What can be no ring is removed whatever it is called; a regular file if `all`, else it may be a
 * ring of a process that runs on. A directory that is not empty stays. */
static void remove_entries(const char *directory, bool all)
{
	DIR *entries = opendir(directory);
	struct stat status;
	for (struct dirent *entry; entries && (entry = readdir(entries));) {
		const char *name = entry->d_name;
		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
			fstatat(dirfd(entries), name, &status, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (all || !(S_ISREG(status.st_mode) || leads_to_ring(directory, name)))
			unlinkat(dirfd(entries), name, S_ISDIR(status.st_mode) ? AT_REMOVEDIR : 0);
	}
	if (entries)
		closedir(entries);
}

void record_place_remove(const char *directory, const struct record_rings *rings, bool all)
{
	char path[PATH_MAX + NAME_MAX + 1];
	for (size_t i = 0; i < rings->count; i++) {
		snprintf(path, sizeof(path), "%s%s", directory, rings->list[i].name);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s" RECORD_MARK, directory);
	unlink(path);
	snprintf(path, sizeof(path), "%s" TOTAL, directory);
	unlink(path);
	remove_entries(directory, all);
	/* A process that runs on may have begun to record meanwhile: then its ring stays. */
	rmdir(directory);
}
