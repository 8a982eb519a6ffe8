/* Preloaded into a process, shifts its wall clock by the seconds stored in the file that TARMAC_SHIFTED_CLOCK names.
 * The file may change at any time. Monotonic clocks are not affected, as when an administrator sets the date. A second
 * number in the file shifts the boot clock, which alone goes on while a machine is suspended.
 *
 * A timer on the wall clock is an eventfd here: a thread makes it readable when it is due by the shifted clock, and when
 * the shift changes, which the kernel reports by ECANCELED. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *shift;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int timer_fd = -1, is_armed, is_cancelled, cancels_on_set;
static struct timespec due;
static int64_t shift_when_armed;

__attribute__((constructor)) static void map_shift(void)
{
	const char *path = getenv("TARMAC_SHIFTED_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	void *mapped = mmap(NULL, 2 * sizeof *shift, PROT_READ, MAP_SHARED, fd, 0);
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
		now->tv_sec += shift[0];
	if (!result && shift && clock == CLOCK_BOOTTIME)
		now->tv_sec += shift[1];
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

static int is_due(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec > due.tv_sec || (now.tv_sec == due.tv_sec && now.tv_nsec >= due.tv_nsec);
}

static void *watch_timer(void *unused)
{
	(void)unused;
	for (;;) {
		usleep(2000);
		pthread_mutex_lock(&lock);
		int is_set = cancels_on_set && *shift != shift_when_armed;
		if (is_armed && (is_set || is_due())) {
			is_armed = 0;
			is_cancelled = is_set;
			eventfd_write(timer_fd, 1);
		}
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int timerfd_create(clockid_t clock, int flags)
{
	if (!shift || clock != CLOCK_REALTIME || timer_fd >= 0)
		return syscall(SYS_timerfd_create, clock, flags);
	pthread_t thread;
	timer_fd = eventfd(0, flags);
	pthread_create(&thread, NULL, watch_timer, NULL);
	pthread_detach(thread);
	return timer_fd;
}

int timerfd_settime(int fd, int flags, const struct itimerspec *value, struct itimerspec *old)
{
	if (fd != timer_fd)
		return syscall(SYS_timerfd_settime, fd, flags, value, old);
	uint64_t count;
	pthread_mutex_lock(&lock);
	syscall(SYS_read, fd, &count, sizeof count);
	due = value->it_value;
	cancels_on_set = flags & TFD_TIMER_CANCEL_ON_SET;
	shift_when_armed = *shift;
	is_cancelled = 0;
	is_armed = 1;
	pthread_mutex_unlock(&lock);
	return 0;
}

ssize_t read(int fd, void *buffer, size_t size)
{
	if (fd != timer_fd || timer_fd < 0)
		return syscall(SYS_read, fd, buffer, size);
	pthread_mutex_lock(&lock);
	ssize_t got = syscall(SYS_read, fd, buffer, size);
	if (got > 0 && is_cancelled) {
		is_cancelled = 0;
		errno = ECANCELED;
		got = -1;
	}
	pthread_mutex_unlock(&lock);
	return got;
}
