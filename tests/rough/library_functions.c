/* SPDX-License-Identifier: ISC
 *
 * Rule: a function that is not libc's is jumped to, untouched. The program's library has functions
 * of its own with libc's names; the program itself calls others of libc, which are recorded.
 */
#include <stdio.h>
#include <unistd.h>

int use_own(void);

int main(void)
{
	int ends[2];
	char byte = 'a';
	usleep(2000);
	if (pipe(ends) || write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
		return 1;
	printf("%c\n", byte);
	fflush(stdout);
	return use_own();
}
