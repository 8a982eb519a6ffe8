/* The job of the fault tests: tells an outside record that it ran, holds its GPUs so that others see it, and ends in a
   way that its id alone decides.

   witness FOLDER MILLISECONDS [straggler|detached]
     FOLDER/witness     one line per event, appended with a single write: job attempt gpus event pid nanoseconds
     FOLDER/gpu.N       locked as long as any process of the job lives
     FOLDER/hold        while it exists, the job does not end
   straggler: leaves a child behind that holds the GPUs until it is told to end.
   detached:  the same, out of reach of its session and its parent. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *folder, *gpus;
static long job, attempt;

static const char *text(const char *name, const char *fallback) {
    const char *value = getenv(name);
    return value && *value ? value : fallback;
}

static void tell(const char *event) {
    char path[4096], line[512];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(path, sizeof path, "%s/witness", folder);
    int length = snprintf(line, sizeof line, "%ld %ld %s %s %d %lld\n", job, attempt, gpus, event, (int)getpid(),
                          now.tv_sec * 1000000000LL + now.tv_nsec);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, line, length) != length) _exit(99);
    close(fd);
}

/* Held until the last process that inherits the descriptor is gone. */
static void hold(const char *gpu) {
    char path[4096];
    snprintf(path, sizeof path, "%s/gpu.%s", folder, gpu);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0) _exit(98);
    if (flock(fd, LOCK_EX | LOCK_NB)) tell("clash");
}

static void hold_all(void) {
    char list[256];
    if (!strcmp(gpus, "-")) return;
    snprintf(list, sizeof list, "%s", gpus);
    for (char *gpu = strtok(list, ","); gpu; gpu = strtok(NULL, ",")) hold(gpu);
}

static void nap(long milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&time, &time)) {}
}

static void work(long milliseconds) {
    char gate[4096];
    snprintf(gate, sizeof gate, "%s/hold", folder);
    nap(milliseconds);
    while (!access(gate, F_OK)) nap(2);
}

static void leave_behind(int is_detached) {
    pid_t child = fork();
    if (child == 0) {
        if (is_detached) {
            setsid();
            if (fork()) _exit(0);
        }
        for (;;) pause();
    }
    if (is_detached) waitpid(child, NULL, 0);
}

int main(int count, char **words) {
    folder = words[1];
    job = atol(text("TARMAC_JOB_ID", "0"));
    attempt = atol(text("TARMAC_ATTEMPT", "0"));
    gpus = text("CUDA_VISIBLE_DEVICES", "-");
    tell("start");
    hold_all();
    if (count > 3) leave_behind(!strcmp(words[3], "detached"));
    work(atol(words[2]));
    tell("end");
    /* The same rule as in judge.py. */
    if (job % 16 == 5) raise(SIGKILL);
    return job % 3 ? 0 : 1 + job % 100;
}
