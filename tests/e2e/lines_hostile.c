/* SPDX-License-Identifier: ISC
 *
 * Names code in files that no debug information can come from.
 */
#include <string.h>

#include <weft/weft.h>

int main(int argc, char **argv)
{
	static const char *const files[] = {
		"/dev/zero", "/dev/stdin", "/", "/none", "", "relative", "/proc/self/mem"};
	char long_path[3000];
	uint64_t task = weft_create(WEFT_KIND_TASK);
	weft_label_as(task, "serve\tmain");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		weft__code("serve", 5, files[i], UINT64_MAX - i);
	memset(long_path, '/', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = '\0';
	weft__code("serve", 5, long_path, 1);
	weft__code(long_path, sizeof(long_path) - 1, "/none", 1);
	for (int i = 1; i < argc; i++)
		for (uint64_t address = 0; address < 0x3000; address += 64)
			weft__code("serve\tmain", 10, argv[i], address);
	return 0;
}
