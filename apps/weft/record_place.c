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
 * what is there is opened without following links, and must be a directory of ours.
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

/* Another user's run directory, as sudo may leave it in the environment, is none: its owner could
 * put something else in the place of ours. */
static bool find_base(char *ret_base, size_t size)
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	int length;
	if (run && run[0] == '/' && is_ours(run, false))
		length = snprintf(ret_base, size, "%s/weft", run);
	else
		length = snprintf(ret_base, size, "/dev/shm/weft-%u", (unsigned)geteuid());
	if (length >= (int)size)
		errno = ENAMETOOLONG;
	return length < (int)size;
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
	char base[PATH_MAX - 32], place[PATH_MAX];
	bool good = find_base(base, sizeof(base));
	if (good && mkdir(base, 0700) != 0)
		good = errno == EEXIST;
	good = good && is_ours(base, true);
	if (good) {
		snprintf(place, sizeof(place), "%s/record-XXXXXX", base);
		good = mkdtemp(place) != NULL;
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

bool record_places_find(struct record_places *ret_places)
{
	struct record_places places = {0};
	char base[PATH_MAX - 32];
	DIR *entries = find_base(base, sizeof(base)) && is_ours(base, false) ? opendir(base) : NULL;
	bool good = true;
	for (struct dirent *entry; good && entries && (entry = readdir(entries));)
		if (strncmp(entry->d_name, "record-", 7) == 0)
			good = add_place(&places, base, entry->d_name);
	if (entries)
		closedir(entries);
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

static bool parse_name(int directory, const char *name, struct record_ring *ret_ring)
{
	struct record_ring ring = {0};
	struct stat status;
	const char *suffix = strrchr(name, '.');
	if (!suffix || strlen(name) >= sizeof(ring.name))
		return false;
	ring.is_failure = strcmp(suffix, ".failed") == 0;
	ring.stem_size = (int)(suffix - name);
	if (!ring.is_failure && strcmp(suffix, ".weft") != 0)
		return false;
	ring.is_link = !ring.is_failure &&
				   fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
				   S_ISLNK(status.st_mode) && status.st_uid == geteuid();
	if (!parse_process(name, (size_t)ring.stem_size, &ring))
		return false;
	ring.is_running = (kill(ring.pid, 0) == 0 || errno == EPERM) && !is_zombie(ring.pid);
	strcpy(ring.name, name);
	*ret_ring = ring;
	return true;
}

/* Numbers of processes grow, and start again from the bottom. So the distance from the program's
 * gives the order in which its descendants were started. */
static int compare(const void *a, const void *b, void *program)
{
	const struct record_ring *left = a, *right = b;
	unsigned base = (unsigned)*(const pid_t *)program;
	unsigned x = (unsigned)left->pid - base, y = (unsigned)right->pid - base;
	if (x != y)
		return x > y ? 1 : -1;
	if (left->program != right->program)
		return left->program > right->program ? 1 : -1;
	return strcmp(left->name, right->name);
}

bool record_rings_find(const char *directory, pid_t program, struct record_rings *ret_rings)
{
	struct record_rings rings = {0};
	size_t capacity = 0;
	DIR *entries = opendir(directory);
	if (!entries) {
		cli_error("%s: %s", record_shown(directory), strerror(errno));
		return false;
	}
	for (struct dirent *entry; (entry = readdir(entries));) {
		if (rings.count == capacity) {
			capacity = capacity ? 2 * capacity : 16;
			struct record_ring *list = realloc(rings.list, capacity * sizeof(*list));
			if (!list) {
				cli_error("%s; the trace stays in %s", strerror(ENOMEM), record_shown(directory));
				record_rings_finish(&rings);
				closedir(entries);
				return false;
			}
			rings.list = list;
		}
		if (parse_name(dirfd(entries), entry->d_name, &rings.list[rings.count]))
			rings.count++;
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

void record_place_remove(const char *directory, const struct record_rings *rings)
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
	/* A process that runs on may have begun to record meanwhile: then its ring stays. */
	rmdir(directory);
}
