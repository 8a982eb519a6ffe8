/* Preloaded into a process, shifts its wall clock by the seconds stored in the file that SHIFTED_CLOCK names.
 * The file may change at any time. Monotonic clocks are not affected, as when an administrator sets the date. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *shift;

__attribute__((constructor)) static void map_shift(void)
{
	const char *path = getenv("SHIFTED_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	void *mapped = mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, fd, 0);
	if (mapped != MAP_FAILED)
		shift = mapped;
	close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	static int (*real)(clockid_t, struct timespec *);
	if (!real)
		real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	int result = real(clock, now);
	if (!result && shift && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		now->tv_sec += *shift;
	return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	(void)zone;
	struct timespec precise;
	int result = clock_gettime(CLOCK_REALTIME, &precise);
	now->tv_sec = precise.tv_sec;
	now->tv_usec = precise.tv_nsec / 1000;
	return result;
}

time_t time(time_t *now)
{
	struct timespec precise;
	clock_gettime(CLOCK_REALTIME, &precise);
	if (now)
		*now = precise.tv_sec;
	return precise.tv_sec;
}
