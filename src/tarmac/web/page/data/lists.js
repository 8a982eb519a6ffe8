// Reads the lists that the event stream then keeps up to date.
import { batch } from "/page/lib/signals.js";
import { get } from "/page/data/http.js";
import {
  failedToday,
  isLoaded,
  isLoadingMore,
  jobs,
  midnight,
  putGroups,
  putJobs,
  queue,
  removeJobs,
  replaceGpus,
} from "/page/data/store.js";

const FIRST_WAITING = 500; // enough for the first screen
const NEXT_WAITING = 2500; // the server answers others between two pages
const RECENT = 300; // ended jobs
const FIELDS = [
  "id name owner state reason tags project exit_code signal attempt attempts_max retry_at gpus_asked gpus node command",
  "cwd submitted_at started_at ended_at elapsed_s pause_s paused_at paused_by estimated_start estimate_basis progress",
  "peak_gpu_memory_bytes group index params position priority tier held_by waits_for utilization warnings",
  "gpu_memory_bytes gpu_share time_limit_s stale_s stale_reason only_nodes exclude_nodes",
]
  .join(" ")
  .replaceAll(" ", ",");

/**
 * Read what the first screen shows: everything but the rest of a long queue.
 * @param {AbortSignal} signal @returns {Promise<Rest>} what is still to be read
 *
 * @typedef {{ after: number | null, began: number }} Rest began: when the first list was asked for
 */
export async function readFirst(signal) {
  const began = Date.now();
  const [recent, gpuList, state, groupPage] = await Promise.all([
    get("/jobs/recent", { ended: RECENT, waiting: FIRST_WAITING, fields: FIELDS, waiting_fields: FIELDS }, signal),
    get("/gpus", {}, signal),
    get("/queue", {}, signal),
    get("/groups", { limit: 1000 }, signal),
  ]);
  batch(() => {
    putJobs([...recent.at_work, ...recent.waiting, ...recent.ended]);
    replaceGpus(gpuList);
    queue.value = state;
    putGroups(groupPage.groups);
    isLoaded.value = true;
  });
  return { after: recent.next, began };
}

/** Read the rest of a long queue, page by page, then drop the jobs that no list and no event had since. @param {Rest} rest @param {AbortSignal} signal */
export async function readRest({ after, began }, signal) {
  isLoadingMore.value = after !== null;
  try {
    const failures = readFailures(signal);
    while (after !== null) {
      const asked = Date.now();
      const page = await get("/jobs", { state: "waiting", after, limit: NEXT_WAITING, fields: FIELDS }, signal);
      putJobs(page.jobs.filter((/** @type {{ id: number }} */ job) => (jobs.get(job.id)?.readAt ?? 0) < asked));
      after = page.next;
      await idle();
    }
    removeJobs([...jobs.values()].filter((job) => (job.readAt ?? 0) < began).map((job) => job.id));
    await failures;
  } finally {
    isLoadingMore.value = false;
  }
}

/** Let the browser draw and answer the user. @returns {Promise<void>} */
const idle = () => new Promise((resolve) => setTimeout(resolve, 0));

/** @param {AbortSignal} signal */
async function readFailures(signal) {
  const page = await get("/history", { state: "failed", since: midnight() / 1000, limit: 2000, fields: "id" }, signal);
  failedToday.value = new Set(page.jobs.map((/** @type {{ id: number }} */ job) => job.id));
}
