// The shapes of the API that the page reads. docs/api.md describes each field.

/**
 * @typedef {{ node: string, index: number | null, uuid: string, name: string }} GpuRef
 *
 * @typedef {{
 *   id: number, name: string | null, owner: string, state: string, reason: string | null, tags: string[],
 *   project: string | null, exit_code: number | null, signal: number | null, attempt: number,
 *   attempts_max: number | null, retry_at: string | null, gpus_asked: number, gpus: GpuRef[], node: string | null,
 *   command: string[], cwd: string, submitted_at: string, started_at: string | null, ended_at: string | null,
 *   elapsed_s: number | null, pause_s: number, paused_at: string | null, paused_by: string | null,
 *   estimated_start: string | null, estimate_basis: string | null,
 *   progress: { fraction: number, eta_s: number | null } | null, peak_gpu_memory_bytes: number | null,
 *   group: number | null, index: number | null, params: Record<string, string>, position: number | null,
 *   priority: number, tier: string, held_by: string | null, waits_for: number[], utilization: number | null,
 *   warnings: string[], links: { kind: string, url: string }[], gpu_memory_bytes: number | null,
 *   gpu_share: number | null, time_limit_s: number | null, stale_s: number | null, stale_reason: string | null,
 *   only_nodes: string[], exclude_nodes: string[], parts?: { node: string }[],
 *   host_memory_bytes?: number | null, readAt?: number, changes?: number,
 * }} Job
 *
 * @typedef {{
 *   pid: number, user: string | null, command: string | null, memory_bytes: number | null,
 *   started_at: string | null, job: number | null, ignored: boolean, holds_gpu: boolean,
 * }} GpuProcess
 *
 * @typedef {{
 *   node: string, index: number | null, uuid: string, model: string, memory_total_bytes: number,
 *   memory_used_bytes: number | null, utilization: number | null, temperature: number | null, jobs: number[],
 *   processes: GpuProcess[], drained: boolean, drained_by: string | null, reason: string | null,
 *   power_w: number | null, slots: number, booked_bytes: number, parent: string | null, health: string | null,
 *   gone_since: string | null, held: string | null,
 *   reserved: { id: number, owner: string, begins_at: string, ends_at: string, active: boolean } | null,
 *   warnings: string[], stale_s: number | null,
 * }} Gpu
 *
 * @typedef {{
 *   name: string, kind: "local" | "ssh", address: string | null, state: string, reason: string | null, since: string,
 *   connected: boolean, problem: string | null, version: string | null, agent_pid: number | null,
 *   containment: string | null, watch_only: boolean, drained: boolean, drained_by: string | null,
 *   drain_reason: string | null, gpus: number, running: number, queued: number, cpus: number | null,
 *   memory_total_bytes: number | null, memory_available_bytes: number | null, host: string | null,
 *   user: string | null, port: number | null, warnings: string[],
 * }} Node
 *
 * @typedef {{
 *   paused: boolean, draining: boolean, by: string | null, reason: string | null, since: string | null,
 *   queued: number, running: number, suspended: { owner: string, reason: string, since: string }[],
 *   notice: { text: string, by: string, at: string } | null,
 * }} Queue
 *
 * @typedef {{
 *   id: number, kind: string, name: string | null, owner: string, command: string, varies: string, params: string[],
 *   count: number, last: number, counts: Record<string, number>, ended: number,
 * }} Group
 */

export {};
