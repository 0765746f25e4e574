// SPDX-License-Identifier: MIT
// Memory for programs without a C library.
#include "freestanding/memory.h"

#include "freestanding/syscall.h"

#include <linux/mman.h>

enum { LAST_ERROR = 4095 }; // results from -LAST_ERROR to -1 are errors, not addresses

// The pointers are volatile so that the compiler does not turn the loop into a call of memcpy.
void *memcpy(void *to, const void *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		((volatile char *)to)[i] = ((const char *)from)[i];
	return to;
}

void *memset(void *to, int value, size_t count)
{
	for (size_t i = 0; i < count; i++)
		((volatile char *)to)[i] = (char)value;
	return to;
}

void *map_memory(long size, int flags, long file)
{
	long address = call6(__NR_mmap, 0, size, PROT_READ | PROT_WRITE, flags, file, 0);

	if (address < 0 && address >= -LAST_ERROR)
		return NULL;
	// NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel returns addresses as numbers
	return (void *)address;
}
