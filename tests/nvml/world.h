/* The world of the stand-in: read from the text file named by NVML_STANDIN whenever that has changed, so that a test can
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
 *   ecc 2                            uncorrected memory errors since the driver was loaded
 *   remap 0 1                        rows: one is to be remapped at the next reset, one could not be
 *   retire 1                         a page is to be retired at the next reset
 *   xid 3 79                         serial number of the event, Xid; told once to each program that watches
 *   near GPU-2222 20                 how far another GPU is (NVML's topology level)
 *   nvlink GPU-2222                  a direct link to another GPU ("nvlink switch": to a switch)
 *   mig                              this GPU is divided; what follows each "instance" describes one, as a device
 *   instance
 */
#ifndef WORLD_H
#define WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_DEVICES 64
#define MOST_PROCESSES 64
#define MOST_FAULTS 16
#define MOST_NEIGHBOURS 64
#define MOST_LINKS 18
#define HANGS (-1)
#define NOT_SET (-2)

typedef unsigned long long bytes;

struct fault { char call[48]; int code; };
struct faults { int count; struct fault list[MOST_FAULTS]; };
struct process { unsigned pid; bytes used; char kind; };
struct neighbour { char uuid[96]; int level; };
struct device {
    char uuid[96], name[96];
    bytes total, used, reserved;
    int gpu_percent, memory_percent, temperature, power, power_limit;
    int process_count;
    struct process processes[MOST_PROCESSES];
    struct faults faults;
    int ecc, is_retiring, is_remapping, has_failed_to_remap, xid_serial, xid;
    int neighbour_count, link_count;
    struct neighbour neighbours[MOST_NEIGHBOURS];
    char links[MOST_LINKS][96];
    int is_divided, parent; /* of an instance: the index of its GPU */
};
struct world {
    char driver[80];
    int device_count, instance_count;
    struct device devices[MOST_DEVICES];
    struct device instances[MOST_DEVICES];
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

static struct device *unread(struct device *device) {
    device->gpu_percent = device->temperature = device->power = device->ecc = NOT_SET;
    return device;
}

static struct device *add_instance(struct world *world) {
    struct device *device = unread(&world->instances[world->instance_count++]);
    device->parent = world->device_count - 1;
    return device;
}

static void read_device_line(struct device *d, const char *line) {
    struct process p;
    struct neighbour n;
    if (strncmp(line, "mig", 3) == 0) { d->is_divided = 1; return; }
    if (sscanf(line, "ecc %d", &d->ecc) == 1) return;
    if (sscanf(line, "retire %d", &d->is_retiring) == 1) return;
    if (sscanf(line, "remap %d %d", &d->is_remapping, &d->has_failed_to_remap) == 2) return;
    if (sscanf(line, "xid %d %d", &d->xid_serial, &d->xid) == 2) return;
    if (sscanf(line, "near %95s %d", n.uuid, &n.level) == 2) {
        if (d->neighbour_count < MOST_NEIGHBOURS) d->neighbours[d->neighbour_count++] = n;
        return;
    }
    if (d->link_count < MOST_LINKS && sscanf(line, "nvlink %95s", d->links[d->link_count]) == 1) {
        d->link_count++;
        return;
    }
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
        if (world->device_count < MOST_DEVICES) *device = unread(&world->devices[world->device_count++]);
    } else if (*device && strncmp(line, "instance", 8) == 0) {
        if (world->instance_count < MOST_DEVICES) *device = add_instance(world);
    } else if (sscanf(line, "fail %47s %d", call, &code) == 2) add_fault(faults, call, code);
    else if (sscanf(line, "hang %47s", call) == 1) add_fault(faults, call, HANGS);
    else if (*device) read_device_line(*device, line);
    else if (strncmp(line, "without ", 8) == 0 && world->without_count < MOST_FAULTS)
        sscanf(line, "without %63s", world->without[world->without_count++]);
    else sscanf(line, "driver %79s", world->driver);
}

static const struct world *look(void) {
    static struct world world;
    static struct stat seen;
    struct device *device = NULL;
    struct stat now;
    char line[256];
    const char *path = getenv("NVML_STANDIN");
    if (path && stat(path, &now) == 0 && now.st_ino == seen.st_ino && now.st_size == seen.st_size &&
        now.st_mtim.tv_sec == seen.st_mtim.tv_sec && now.st_mtim.tv_nsec == seen.st_mtim.tv_nsec)
        return &world;
    memset(&world, 0, sizeof world);
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) return &world;
    fstat(fileno(file), &seen);
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
