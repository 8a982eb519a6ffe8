/* The job of the fault tests: tells an outside record that it ran, holds its GPUs so that others see it, and ends in a
   way that its id alone decides.

   witness FOLDER MILLISECONDS [WORD...]
     FOLDER/witness     one line per event, appended with a single write: job attempt gpus event pid nanoseconds
     FOLDER/gpu.NODE-N.U  locked as long as any process of the job lives: a quarter of GPU N of that node
     FOLDER/job.N       the same for the job itself: a process that finds it locked is too early
     FOLDER/hold        while it exists, the job does not end
   straggler:  leaves a child behind that holds the GPUs until it is told to end.
   detached:   the same, out of reach of its session and its parent.
   stubborn:   SIGTERM is ignored.
   quarters:N  takes that much of each GPU, not all of it.
   array:NAME:N  at most N jobs with this name live at once.
   after:N     job N has to be over; a negative one counts back from the job's own id.
   Events beside start and end tell of a promise that was broken: clash (a GPU was not free), overlap (an earlier attempt
   still lives), crowd (too many of the array), early (what it was to wait for still lives). */
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

static int file(const char *kind, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", folder, kind, name);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0) _exit(98);
    return fd;
}

/* Held until the last process that inherits the descriptor is gone. */
static int hold(const char *kind, const char *name) {
    int fd = file(kind, name);
    if (!flock(fd, LOCK_EX | LOCK_NB)) return 1;
    close(fd);
    return 0;
}

/* Takes `count` of the `all` parts of something, one after the other, so that two takers do not mislead each other. */
static void hold_parts(const char *kind, const char *name, int count, int all, const char *broken) {
    char part[512];
    int turn = file(kind, name);
    while (flock(turn, LOCK_EX)) {}
    for (int number = 0; number < all && count; number++) {
        snprintf(part, sizeof part, "%s.%d", name, number);
        count -= hold(kind, part);
    }
    close(turn);
    if (count) tell(broken);
}

static void hold_gpus(int quarters) {
    char list[256], name[300];
    if (!strcmp(gpus, "-")) return;
    snprintf(list, sizeof list, "%s", gpus);
    for (char *gpu = strtok(list, ","); gpu; gpu = strtok(NULL, ",")) {
        snprintf(name, sizeof name, "%s-%s", text("TARMAC_NODE", ""), gpu);
        hold_parts("gpu", name, quarters, 4, "clash");
    }
}

static void hold_job(void) {
    char name[32];
    snprintf(name, sizeof name, "%ld", job);
    if (!hold("job", name)) tell("overlap");
}

static void look_at(long other) {
    char name[32];
    snprintf(name, sizeof name, "%ld", other > 0 ? other : job + other);
    int fd = file("job", name);
    if (flock(fd, LOCK_SH | LOCK_NB)) tell("early");
    close(fd);
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

/* What follows a word's colon; NULL when it is another word. */
static char *said(char *word, const char *name) {
    size_t length = strlen(name);
    return !strncmp(word, name, length) && word[length] == ':' ? word + length + 1 : NULL;
}

int main(int count, char **words) {
    char *value, *leave = NULL;
    int quarters = 4;
    folder = words[1];
    job = atol(text("TARMAC_JOB_ID", "0"));
    attempt = atol(text("TARMAC_ATTEMPT", "0"));
    gpus = text("CUDA_VISIBLE_DEVICES", "-");
    for (int i = 3; i < count; i++)
        if (!strcmp(words[i], "stubborn")) signal(SIGTERM, SIG_IGN);
    tell("start");
    hold_job();
    for (int i = 3; i < count; i++) {
        if (!strcmp(words[i], "straggler") || !strcmp(words[i], "detached")) leave = words[i];
        if ((value = said(words[i], "quarters"))) quarters = atoi(value);
        if ((value = said(words[i], "after"))) look_at(atol(value));
        if ((value = said(words[i], "array"))) {
            char *most = strchr(value, ':');
            *most++ = 0;
            hold_parts("array", value, 1, atoi(most), "crowd");
        }
    }
    hold_gpus(quarters);
    if (leave) leave_behind(!strcmp(leave, "detached"));
    work(atol(words[2]));
    tell("end");
    /* The same rule as in judge.py. */
    if (job % 16 == 5) raise(SIGKILL);
    return job % 3 ? 0 : 1 + job % 100;
}
