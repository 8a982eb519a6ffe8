// Everything the views show: jobs, GPUs, the queue and groups, as the server last said.
//
// Jobs are kept in a plain map, and one signal tells that something in it changed: 100,000 signals would cost more than
// the rows that are visible. Changes that arrive together are shown together.
import { batch, computed, signal } from "/page/lib/signals.js";

/** @typedef {import("/page/data/types.js").Job} Job */

export const AT_WORK = ["starting", "running", "paused", "stopping", "unknown"];
export const WAITING = ["queued", "held", "draft"];
export const ENDED = ["succeeded", "failed", "cancelled"];
const MOST_ENDED = 1000; // ended jobs that are kept
export const MANY = 5000; // from here on, changes are gathered for longer

/** @type {Map<number, Job>} */
export const jobs = new Map();
/** Counts up when `jobs` changed. */
export const jobsVersion = signal(0);
/** Counts up when a job came, went or changed its place: not when only its progress did. */
export const orderVersion = signal(0);
export const gpus = signal(/** @type {import("/page/data/types.js").Gpu[]} */ ([]));
export const nodes = signal(/** @type {import("/page/data/types.js").Node[]} */ ([]));
export const gpuError = signal(/** @type {string | null} */ (null));
export const queue = signal(/** @type {import("/page/data/types.js").Queue | null} */ (null));
export const groups = signal(/** @type {Map<number, import("/page/data/types.js").Group>} */ (new Map()));
/** Ids of the jobs that failed since midnight. */
export const failedToday = signal(/** @type {Set<number>} */ (new Set()));
/** Counts the jobs that ended while the page was open. */
export const ends = signal(0);
/** True once the first lists have arrived. */
export const isLoaded = signal(false);
/** How many jobs are still to be read, if the queue is long. */
export const isLoadingMore = signal(false);

/** @param {Job} job */
export const isEnded = (job) => ENDED.includes(job.state) || job.ended_at !== null;
/** @param {Job} job */
export const isAtWork = (job) => AT_WORK.includes(job.state) && job.ended_at === null;
/** @param {Job} job */
export const isWaiting = (job) => WAITING.includes(job.state);

/** @param {() => number} read */
const ofJobs = (read) => computed(() => (jobsVersion.value, read()));
const count = (/** @type {(job: Job) => boolean} */ wanted) => {
  let found = 0;
  for (const job of jobs.values()) if (wanted(job)) found += 1;
  return found;
};
/** The jobs on each GPU, by its UUID. Jobs tell it earlier than the next reading of a GPU does. */
export const jobsOnGpus = computed(() => {
  orderVersion.value;
  /** @type {Map<string, number[]>} */
  const found = new Map();
  for (const job of jobs.values()) {
    if (!isAtWork(job)) continue;
    for (const { uuid } of job.gpus ?? []) found.set(uuid, [...(found.get(uuid) ?? []), job.id]);
  }
  return found;
});
export const atWorkCount = ofJobs(() => count(isAtWork));
export const waitingCount = ofJobs(() => count(isWaiting));

let isScheduled = false;
let isOrderChanged = false;

/** Show what changed: with the next frame, or four times a second if the queue is long, once a second while it is read. */
function showSoon() {
  if (isScheduled) return;
  isScheduled = true;
  const show = () => {
    isScheduled = false;
    batch(() => {
      jobsVersion.value += 1;
      if (isOrderChanged) orderVersion.value += 1;
      isOrderChanged = false;
    });
  };
  if (jobs.size > MANY) setTimeout(show, isLoadingMore.value ? 1000 : 250);
  else requestAnimationFrame(show);
}

/** @param {Job[]} some */
export function putJobs(some) {
  const now = Date.now();
  for (const job of some) {
    const before = jobs.get(job.id);
    if (before) {
      isOrderChanged ||= isReplaced(before, job);
      texts.delete(before);
      Object.assign(before, job, { readAt: now });
    } else {
      isOrderChanged = true;
      jobs.set(job.id, { ...job, readAt: now });
    }
  }
  if (some.length) showSoon();
}

const PLACED_BY = /** @type {const} */ (["state", "priority", "position", "name", "owner", "tags", "project", "node", "only_nodes", "exclude_nodes"]);

/** True if a list would show the job elsewhere, or not at all. Parts of a job lack these fields. @param {Job} before @param {Job} job */
function isReplaced(before, job) {
  return PLACED_BY.some((name) => job[name] !== undefined && String(job[name]) !== String(before[name]));
}

/** What the text filter looks at, by job. @type {WeakMap<Job, string>} */
export const texts = new WeakMap();

/** Give the waiting jobs of a line their positions. @param {Iterable<number>} line */
export function placeJobs(line) {
  let position = 0;
  for (const id of line) {
    position += 1;
    const job = jobs.get(id);
    if (!job || job.position === position) continue;
    job.position = position;
    isOrderChanged = true;
  }
  if (isOrderChanged) showSoon();
}

/** A change that the event stream reports. @param {Job} job */
export function changeJob(job) {
  const before = jobs.get(job.id);
  if (isEnded(job) && !(before && isEnded(before))) ends.value += 1;
  putJobs([{ ...job, changes: (before?.changes ?? 0) + 1 }]);
  if (job.state === "failed" && job.ended_at && Date.parse(job.ended_at) >= midnight()) {
    if (!failedToday.value.has(job.id)) failedToday.value = new Set(failedToday.value).add(job.id);
  }
  forgetOldEnds();
}

/** @param {number[]} ids */
export function removeJobs(ids) {
  for (const id of ids) isOrderChanged = jobs.delete(id) || isOrderChanged;
  if (isOrderChanged) showSoon();
}

/** @param {import("/page/data/types.js").Group[]} some */
export function putGroups(some) {
  groups.value = new Map([...groups.value, ...some.map((one) => /** @type {const} */ ([one.id, one]))]);
}

function forgetOldEnds() {
  if (jobs.size % 500) return; // not at every change
  const ended = [...jobs.values()].filter(isEnded);
  if (ended.length <= MOST_ENDED) return;
  ended.sort((a, b) => (a.ended_at ?? "").localeCompare(b.ended_at ?? ""));
  for (const job of ended.slice(0, ended.length - MOST_ENDED)) jobs.delete(job.id);
}

/** @type {Map<string, import("/page/data/types.js").Gpu>} */
const changedGpus = new Map();

/** @param {import("/page/data/types.js").Gpu} gpu */
export function changeGpu(gpu) {
  if (!changedGpus.size) requestAnimationFrame(showGpus);
  changedGpus.set(gpu.uuid, gpu);
}

function showGpus() {
  const known = new Map(gpus.value.map((gpu) => [gpu.uuid, gpu]));
  for (const [uuid, gpu] of changedGpus) known.set(uuid, gpu);
  changedGpus.clear();
  gpus.value = [...known.values()];
}

/** @param {{ gpus: any[], nodes: any[], error: string | null }} list */
export function replaceGpus(list) {
  batch(() => {
    changedGpus.clear();
    gpus.value = list.gpus;
    nodes.value = list.nodes;
    gpuError.value = list.error;
  });
}

/** The GPUs of a node that was removed go with it. @param {{ nodes: any[], error: string | null }} list */
export function replaceNodes(list) {
  const names = new Set(list.nodes.map((node) => node.name));
  const gone = new Set(nodes.value.map((node) => node.name).filter((name) => !names.has(name)));
  batch(() => {
    nodes.value = list.nodes;
    gpuError.value = list.error;
    if (gone.size) gpus.value = gpus.value.filter((gpu) => !gone.has(gpu.node));
  });
}

/** What an answer says about one node, before the next event does. @param {import("/page/data/types.js").Node} node */
export function putNode(node) {
  const isKnown = nodes.value.some((one) => one.name === node.name);
  nodes.value = isKnown ? nodes.value.map((one) => (one.name === node.name ? node : one)) : [...nodes.value, node];
}

/** @param {string} name */
export function dropNode(name) {
  replaceNodes({ nodes: nodes.value.filter((node) => node.name !== name), error: gpuError.value });
}

export function midnight() {
  return new Date().setHours(0, 0, 0, 0);
}
