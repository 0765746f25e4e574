// SPDX-License-Identifier: MIT
// Starts a program of this machine with the loader and the libraries of the store: /…/bin/NAME runs
// /…/libexec/NAME.
// Without a C library, as it must run where there is none.

#if defined(__x86_64__)
enum { READLINK = 89, EXECVE = 59, EXIT = 60, OPENAT = 257, DUP3 = 292 };
__asm__(".globl _start\n_start:\n mov %rsp, %rdi\n and $-16, %rsp\n call launch\n");

static long system_call(long number, long a, long b, long c, long d)
{
	register long fourth __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
			 : "rcx", "r11", "memory");
	return result;
}

#define read_link(path, buffer, size) system_call(READLINK, (long)(path), (long)(buffer), (size), 0)
#elif defined(__aarch64__)
enum { READLINKAT = 78, EXECVE = 221, EXIT = 93, OPENAT = 56, DUP3 = 24 };
__asm__(".globl _start\n_start:\n mov x0, sp\n bl launch\n");

static long system_call(long number, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
}

#define read_link(path, buffer, size) \
	system_call(READLINKAT, -100, (long)(path), (long)(buffer), (size))
#endif

enum { PATH_SIZE = 512, MOST_WORDS = 4096, OPEN_PATH = 010000000 };

static const char *words[MOST_WORDS];
static const char *variables[MOST_WORDS];
static char self[PATH_SIZE];
static char real[2 * PATH_SIZE];

static char *copy(char *to, const char *from, const char *end)
{
	while (from != end && *from)
		*to++ = *from++;
	*to = '\0';
	return to;
}

// …/bin/NAME -> …/libexec/NAME
static void find_real(void)
{
	const char *name = self;
	const char *directory = self;

	for (const char *s = self; *s; s++)
		if (*s == '/') {
			directory = name;
			name = s + 1;
		}
	copy(copy(copy(real, self, directory), "libexec/", 0), name, 0);
}

__attribute__((used)) void launch(long *stack)
{
	long argc = stack[0];
	const char *const *argv = (const char *const *)(stack + 1);
	const char *const *environment = argv + argc + 1;
	int count = 0;

#ifdef SCRIPTS // of node, where collect.py lets it look for them
	system_call(DUP3, system_call(OPENAT, -100, (long)SCRIPTS, OPEN_PATH, 0), 99, 0, 0);
#endif
	read_link("/proc/self/exe", self, PATH_SIZE - 1);
	find_real();
	words[count++] = LOADER;
	words[count++] = "--library-path";
	words[count++] = LIBRARIES;
	words[count++] = "--argv0";
	words[count++] = argv[0];
	words[count++] = real;
	for (long i = 1; i < argc && count < MOST_WORDS - 1; i++)
		words[count++] = argv[i];
	count = 0;
	variables[count++] = "GIT_EXEC_PATH=" PREFIX "/bin"; // only git reads it
	while (*environment && count < MOST_WORDS - 1)
		variables[count++] = *environment++;
	system_call(EXECVE, (long)LOADER, (long)words, (long)variables, 0);
	system_call(EXIT, 127, 0, 0, 0);
}
