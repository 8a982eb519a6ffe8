/* The world of the stand-in: read from the text file named by NVML_STANDIN anew on every call, so that a test can
 * change it while programs look at it. The writer is standin.py; it replaces the file in one step.
 *
 *   driver 550.54.15
 *   fail init 9              a call that fails with this NVML code ("hang init" never returns)
 *   without nvmlDeviceGetMemoryInfo_v2      an entry point this driver does not have
 *   device 0
 *   uuid GPU-1111            one word each, but for the name
 *   name NVIDIA A100-SXM4-80GB
 *   memory 85899345920 1024 0        total, used, reserved (bytes)
 *   utilization 37 12                of the chip, of its memory (per cent)
 *   temperature 51
 *   power 120000 300000              now, limit (milliwatts)
 *   process 4711 1048576 C           pid, bytes, C compute or G graphics
 *   fail memory 15                   inside a device: this call on this device; "*" is every call
 */
#ifndef WORLD_H
#define WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_DEVICES 64
#define MOST_PROCESSES 64
#define MOST_FAULTS 16
#define HANGS (-1)
#define NOT_SET (-2)

typedef unsigned long long bytes;

struct fault { char call[48]; int code; };
struct faults { int count; struct fault list[MOST_FAULTS]; };
struct process { unsigned pid; bytes used; char kind; };
struct device {
    char uuid[96], name[96];
    bytes total, used, reserved;
    int gpu_percent, memory_percent, temperature, power, power_limit;
    int process_count;
    struct process processes[MOST_PROCESSES];
    struct faults faults;
};
struct world {
    char driver[80];
    int device_count;
    struct device devices[MOST_DEVICES];
    struct faults faults; /* those before the first device */
    int without_count;
    char without[MOST_FAULTS][64];
};

static void add_fault(struct faults *faults, const char *call, int code) {
    if (faults->count == MOST_FAULTS) return;
    struct fault *fault = &faults->list[faults->count++];
    snprintf(fault->call, sizeof fault->call, "%s", call);
    fault->code = code;
}

static struct device *add_device(struct world *world) {
    struct device *device = &world->devices[world->device_count++];
    device->gpu_percent = device->temperature = device->power = NOT_SET;
    return device;
}

static void read_device_line(struct device *d, const char *line) {
    struct process p;
    if (sscanf(line, "uuid %95s", d->uuid) == 1) return;
    if (sscanf(line, "name %95[^\n]", d->name) == 1) return;
    if (sscanf(line, "memory %llu %llu %llu", &d->total, &d->used, &d->reserved) >= 2) return;
    if (sscanf(line, "utilization %d %d", &d->gpu_percent, &d->memory_percent) >= 1) return;
    if (sscanf(line, "temperature %d", &d->temperature) == 1) return;
    if (sscanf(line, "power %d %d", &d->power, &d->power_limit) >= 1) return;
    if (sscanf(line, "process %u %llu %c", &p.pid, &p.used, &p.kind) == 3 && d->process_count < MOST_PROCESSES)
        d->processes[d->process_count++] = p;
}

static void read_line(struct world *world, struct device **device, const char *line) {
    char call[48];
    int code;
    struct faults *faults = *device ? &(*device)->faults : &world->faults;
    if (strncmp(line, "device", 6) == 0) {
        if (world->device_count < MOST_DEVICES) *device = add_device(world);
    } else if (sscanf(line, "fail %47s %d", call, &code) == 2) add_fault(faults, call, code);
    else if (sscanf(line, "hang %47s", call) == 1) add_fault(faults, call, HANGS);
    else if (*device) read_device_line(*device, line);
    else if (strncmp(line, "without ", 8) == 0 && world->without_count < MOST_FAULTS)
        sscanf(line, "without %63s", world->without[world->without_count++]);
    else sscanf(line, "driver %79s", world->driver);
}

static const struct world *look(void) {
    static struct world world;
    struct device *device = NULL;
    char line[256];
    memset(&world, 0, sizeof world);
    const char *path = getenv("NVML_STANDIN");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) return &world;
    while (fgets(line, sizeof line, file)) read_line(&world, &device, line);
    fclose(file);
    return &world;
}

/* The code a call fails with, or 0. A hanging call sleeps until the world says otherwise: as a driver does. */
static int fault_of(const struct faults *faults, const char *call) {
    for (int i = 0; i < faults->count; i++)
        if (strcmp(faults->list[i].call, call) == 0 || strcmp(faults->list[i].call, "*") == 0) {
            while (faults->list[i].code == HANGS) pause();
            return faults->list[i].code;
        }
    return 0;
}

#endif
