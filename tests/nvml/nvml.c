/* A stand-in for the NVIDIA driver's libnvidia-ml.so.1, for machines without a GPU. Build: standin.py. State: world.h.
 * It has the entry points that nvidia-ml-py, and the monitors built on it, call to list GPUs and who is on them.
 */
#include <stddef.h>

#include "world.h"

enum { OK = 0, BAD_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7, TIMEOUT = 10,
       FUNCTION_NOT_FOUND = 13 };

typedef struct device_handle *handle; /* its value is the index plus one; of a MIG instance, 1000 more */
typedef struct { bytes total, free, used; } memory_v1;
typedef struct { unsigned version; bytes total, reserved, free, used; } memory_v2;
typedef struct { unsigned gpu, memory; } utilization;
typedef struct { unsigned pid; bytes used; unsigned gpu_instance, compute_instance; } process_info;
typedef struct { char legacy_id[16]; unsigned domain, bus, device, device_id, subsystem_id; char id[32]; } pci_info;

static handle handle_of(int index) { return (handle)(size_t)(index + 1); }
static handle instance_handle(int index) { return handle_of(1000 + index); }
static int index_of(handle h) { return (int)(size_t)h - 1; }

/* Every call on a device begins here: finds the device, or the code to fail with. */
static int find(handle h, const char *call, const struct device **device) {
    const struct world *world = look();
    int code = fault_of(&world->faults, call);
    if (code) return code;
    int index = index_of(h), is_instance = index >= 1000;
    if (is_instance) index -= 1000;
    if (index < 0 || index >= (is_instance ? world->instance_count : world->device_count)) return BAD_ARGUMENT;
    *device = is_instance ? &world->instances[index] : &world->devices[index];
    return fault_of(&(*device)->faults, call);
}

static int copy(char *to, unsigned size, const char *from) {
    if (strlen(from) >= size) return TOO_SMALL;
    strcpy(to, from);
    return OK;
}

static int lacks(const char *function) {
    const struct world *world = look();
    for (int i = 0; i < world->without_count; i++)
        if (strcmp(world->without[i], function) == 0) return 1;
    return 0;
}

/* The system */

int nvmlInitWithFlags(unsigned flags) { (void)flags; return fault_of(&look()->faults, "init"); }
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlShutdown(void) { return OK; }
int nvmlSystemGetDriverVersion(char *text, unsigned size) { return copy(text, size, look()->driver); }
int nvmlSystemGetNVMLVersion(char *text, unsigned size) { return copy(text, size, "12.550.54.15"); }
int nvmlSystemGetCudaDriverVersion_v2(int *version) { *version = 12040; return OK; }
int nvmlSystemGetCudaDriverVersion(int *version) { return nvmlSystemGetCudaDriverVersion_v2(version); }

int nvmlDeviceGetCount_v2(unsigned *count) {
    const struct world *world = look();
    *count = (unsigned)world->device_count;
    return fault_of(&world->faults, "count");
}

const char *nvmlErrorString(int code) {
    switch (code) {
    case OK: return "Success";
    case 1: return "Uninitialized";
    case NOT_SUPPORTED: return "Not Supported";
    case 4: return "Insufficient Permissions";
    case NOT_FOUND: return "Not Found";
    case 9: return "Driver Not Loaded";
    case 15: return "GPU is lost";
    case 18: return "Driver/library version mismatch";
    default: return "Unknown Error";
    }
}

/* Handles */

int nvmlDeviceGetHandleByIndex_v2(unsigned index, handle *h) {
    const struct device *device;
    *h = handle_of((int)index);
    return find(*h, "handle", &device);
}

int nvmlDeviceGetHandleByUUID(const char *uuid, handle *h) {
    const struct world *world = look();
    for (int i = 0; i < world->device_count; i++)
        if (strcmp(world->devices[i].uuid, uuid) == 0) { *h = handle_of(i); return OK; }
    return NOT_FOUND;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *id, handle *h) {
    unsigned domain, bus;
    if (sscanf(id, "%x:%x:", &domain, &bus) != 2 || bus == 0 || (int)bus > look()->device_count) return NOT_FOUND;
    *h = handle_of((int)bus - 1);
    return OK;
}

/* Static properties */

int nvmlDeviceGetIndex(handle h, unsigned *index) { *index = (unsigned)index_of(h); return OK; }
int nvmlDeviceGetMinorNumber(handle h, unsigned *minor) { return nvmlDeviceGetIndex(h, minor); }

int nvmlDeviceGetUUID(handle h, char *text, unsigned size) {
    const struct device *device;
    int code = find(h, "uuid", &device);
    return code ? code : copy(text, size, device->uuid);
}

int nvmlDeviceGetName(handle h, char *text, unsigned size) {
    const struct device *device;
    int code = find(h, "name", &device);
    return code ? code : copy(text, size, device->name);
}

int nvmlDeviceGetPciInfo_v3(handle h, pci_info *pci) {
    const struct device *device;
    int code = find(h, "pci", &device);
    if (code) return code;
    memset(pci, 0, sizeof *pci);
    pci->bus = (unsigned)index_of(h) + 1;
    pci->device_id = 0x20B010DE;
    snprintf(pci->legacy_id, sizeof pci->legacy_id, "0000:%02X:00.0", pci->bus & 0xFF);
    snprintf(pci->id, sizeof pci->id, "00000000:%02X:00.0", pci->bus & 0xFF);
    return OK;
}

/* Readings */

int nvmlDeviceGetMemoryInfo(handle h, memory_v1 *memory) {
    const struct device *device;
    int code = find(h, "memory", &device);
    if (code) return code;
    memory->total = device->total;
    memory->used = device->used + device->reserved; /* the old call does not distinguish them */
    memory->free = memory->total - memory->used;
    return OK;
}

int nvmlDeviceGetMemoryInfo_v2(handle h, memory_v2 *memory) {
    const struct device *device;
    if (lacks("nvmlDeviceGetMemoryInfo_v2")) return FUNCTION_NOT_FOUND;
    int code = find(h, "memory", &device);
    if (code) return code;
    memory->total = device->total;
    memory->reserved = device->reserved;
    memory->used = device->used;
    memory->free = memory->total - memory->used - memory->reserved;
    return OK;
}

int nvmlDeviceGetUtilizationRates(handle h, utilization *rates) {
    const struct device *device;
    int code = find(h, "utilization", &device);
    if (code) return code;
    if (device->gpu_percent == NOT_SET) return NOT_SUPPORTED;
    rates->gpu = (unsigned)device->gpu_percent;
    rates->memory = (unsigned)device->memory_percent;
    return OK;
}

static int number(handle h, const char *call, size_t offset, unsigned *value) {
    const struct device *device;
    int code = find(h, call, &device);
    if (code) return code;
    int found = *(const int *)((const char *)device + offset);
    if (found == NOT_SET) return NOT_SUPPORTED;
    *value = (unsigned)found;
    return OK;
}

int nvmlDeviceGetTemperature(handle h, int sensor, unsigned *celsius) {
    (void)sensor;
    return number(h, "temperature", offsetof(struct device, temperature), celsius);
}
int nvmlDeviceGetPowerUsage(handle h, unsigned *milliwatts) {
    return number(h, "power", offsetof(struct device, power), milliwatts);
}
int nvmlDeviceGetEnforcedPowerLimit(handle h, unsigned *milliwatts) {
    return number(h, "power", offsetof(struct device, power_limit), milliwatts);
}
int nvmlDeviceGetPowerManagementLimit(handle h, unsigned *milliwatts) {
    return nvmlDeviceGetEnforcedPowerLimit(h, milliwatts);
}

/* Processes */

static int processes(handle h, const char *call, char kind, unsigned *count, process_info *list) {
    const struct device *device;
    int code = find(h, call, &device);
    if (code) return code;
    unsigned room = *count, found = 0;
    for (int i = 0; i < device->process_count; i++) {
        const struct process *process = &device->processes[i];
        if (process->kind != kind) continue;
        if (list && found < room) list[found] = (process_info){process->pid, process->used, ~0u, ~0u};
        found++;
    }
    *count = found;
    return found > room ? TOO_SMALL : OK;
}

int nvmlDeviceGetComputeRunningProcesses_v3(handle h, unsigned *count, process_info *list) {
    if (lacks("nvmlDeviceGetComputeRunningProcesses_v3")) return FUNCTION_NOT_FOUND;
    return processes(h, "processes", 'C', count, list);
}
int nvmlDeviceGetComputeRunningProcesses_v2(handle h, unsigned *count, process_info *list) {
    return processes(h, "processes", 'C', count, list);
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(handle h, unsigned *count, process_info *list) {
    return processes(h, "processes", 'G', count, list);
}
int nvmlDeviceGetGraphicsRunningProcesses_v2(handle h, unsigned *count, process_info *list) {
    return processes(h, "processes", 'G', count, list);
}

/* MIG instances */

int nvmlDeviceGetMigMode(handle h, unsigned *current, unsigned *pending) {
    const struct device *device;
    int code = find(h, "mig", &device);
    if (code) return code;
    if (!device->is_divided) return NOT_SUPPORTED;
    *current = *pending = 1;
    return OK;
}

int nvmlDeviceGetMaxMigDeviceCount(handle h, unsigned *count) { (void)h; *count = 7; return OK; }

int nvmlDeviceGetMigDeviceHandleByIndex(handle h, unsigned index, handle *instance) {
    const struct world *world = look();
    for (int i = 0; i < world->instance_count; i++)
        if (world->instances[i].parent == index_of(h) && index-- == 0) {
            *instance = instance_handle(i);
            return OK;
        }
    return NOT_FOUND;
}

int nvmlDeviceIsMigDeviceHandle(handle h, unsigned *is) { *is = index_of(h) >= 1000; return OK; }

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(handle h, handle *card) {
    const struct device *device;
    int code = find(h, "handle", &device);
    *card = code ? h : handle_of(device->parent);
    return code;
}

/* Health */

int nvmlDeviceGetTotalEccErrors(handle h, int kind, int counter, unsigned long long *count) {
    unsigned found = 0;
    int code = number(h, "ecc", offsetof(struct device, ecc), &found);
    *count = kind == 1 && counter == 0 ? found : 0; /* uncorrected, since the driver was loaded */
    return code;
}

int nvmlDeviceGetRetiredPagesPendingStatus(handle h, unsigned *pending) {
    return number(h, "retire", offsetof(struct device, is_retiring), pending);
}

int nvmlDeviceGetRemappedRows(handle h, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed) {
    *corrected = *uncorrected = 0;
    int code = number(h, "remap", offsetof(struct device, is_remapping), pending);
    return code ? code : number(h, "remap", offsetof(struct device, has_failed_to_remap), failed);
}

typedef struct { handle device; unsigned long long type, data; unsigned gpu_instance, compute_instance; } event;
static int told[MOST_DEVICES], is_watched[MOST_DEVICES];

int nvmlEventSetCreate(void **set) { *set = told; return OK; }
int nvmlEventSetFree(void *set) { (void)set; memset(is_watched, 0, sizeof is_watched); return OK; }

int nvmlDeviceRegisterEvents(handle h, unsigned long long types, void *set) {
    const struct device *device;
    int code = find(h, "events", &device);
    (void)set;
    if (code || !(types & 8)) return code;
    if (!is_watched[index_of(h)]) told[index_of(h)] = device->xid_serial; /* earlier events are not reported */
    is_watched[index_of(h)] = 1;
    return OK;
}

int nvmlEventSetWait_v2(void *set, event *data, unsigned timeout_ms) {
    const struct world *world = look();
    int code = fault_of(&world->faults, "wait");
    (void)set;
    if (code) return code;
    for (int i = 0; i < world->device_count; i++)
        if (is_watched[i] && world->devices[i].xid_serial > told[i]) {
            told[i] = world->devices[i].xid_serial;
            *data = (event){handle_of(i), 8, (unsigned)world->devices[i].xid, ~0u, ~0u};
            return OK;
        }
    usleep(timeout_ms * 1000);
    return TIMEOUT;
}

/* Topology */

int nvmlDeviceGetTopologyCommonAncestor(handle h, handle other, int *level) {
    const struct device *device, *far;
    int code = find(h, "topology", &device);
    if (!code) code = find(other, "topology", &far);
    if (code) return code;
    for (int i = 0; i < device->neighbour_count; i++)
        if (strcmp(device->neighbours[i].uuid, far->uuid) == 0) { *level = device->neighbours[i].level; return OK; }
    return NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkState(handle h, unsigned link, unsigned *is_active) {
    const struct device *device;
    int code = find(h, "nvlink", &device);
    if (code) return code;
    *is_active = link < (unsigned)device->link_count;
    return device->link_count ? OK : NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(handle h, unsigned link, unsigned *type) {
    const struct device *device;
    int code = find(h, "nvlink", &device);
    if (code) return code;
    *type = strcmp(device->links[link], "switch") == 0 ? 2 : 0;
    return OK;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(handle h, unsigned link, pci_info *pci) {
    const struct device *device;
    handle other;
    int code = find(h, "nvlink", &device);
    if (!code) code = nvmlDeviceGetHandleByUUID(device->links[link], &other);
    return code ? code : nvmlDeviceGetPciInfo_v3(other, pci);
}

/* Calls that monitors make and many real GPUs refuse as well */

#define REFUSED(function) \
    int function(handle h) { (void)h; return NOT_SUPPORTED; }
REFUSED(nvmlDeviceGetComputeMode)
REFUSED(nvmlDeviceGetDecoderUtilization)
REFUSED(nvmlDeviceGetDisplayActive)
REFUSED(nvmlDeviceGetDriverModel)
REFUSED(nvmlDeviceGetEncoderUtilization)
REFUSED(nvmlDeviceGetFanSpeed)
REFUSED(nvmlDeviceGetPerformanceState)
REFUSED(nvmlDeviceGetPersistenceMode)
REFUSED(nvmlDeviceGetProcessUtilization)
