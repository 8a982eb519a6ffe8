/* Shows the file TARMAC_TEST_MOUNTINFO to a process that reads /proc/self/mountinfo. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *shown(const char *path) {
    const char *other = getenv("TARMAC_TEST_MOUNTINFO");
    return other && !strcmp(path, "/proc/self/mountinfo") ? other : path;
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
    return real(shown(path), flags, mode);
}
