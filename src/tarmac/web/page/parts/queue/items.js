// Which rows the queue shows: filter, order and fold. Pure, apart from what it reads of the store.
import { isAtWork, isEnded, isWaiting, groups, jobs, MANY, texts } from "/page/data/store.js";
import { COLUMNS } from "/page/parts/queue/columns.js";

/**
 * @typedef {import("/page/data/types.js").Job} Job
 * @typedef {{ kind: "job", key: string, job: Job, isInGroup: boolean }} JobItem
 * @typedef {{ kind: "group", key: string, id: number, jobs: Job[], isOpen: boolean }} GroupItem
 * @typedef {JobItem | GroupItem} Item
 */

/** @type {Record<string, (job: Job) => boolean>} */
export const FILTERS = {
  active: (job) => !isEnded(job),
  running: isAtWork,
  waiting: isWaiting,
  held: (job) => job.state === "held" || job.state === "draft",
  paused: (job) => job.state === "paused",
  failed: (job) => job.state === "failed",
  ended: isEnded,
  all: () => true,
};

/** Everything about a job that the text filter looks at. @param {Job} job */
function textOf(job) {
  let text = texts.get(job);
  if (text === undefined) {
    const params = Object.entries(job.params ?? {}).map(([name, value]) => `${name}=${value}`);
    const parts = [`#${job.id}`, job.name, job.owner, job.command.join(" "), job.project && `project:${job.project}`];
    const tags = (job.tags ?? []).map((tag) => `tag:${tag}`);
    text = [...parts, ...params, ...tags, job.node && `node:${job.node}`].filter(Boolean).join("\n").toLowerCase();
    texts.set(job, text);
  }
  return text;
}

/** Read the texts of all jobs while the browser has nothing else to do. @returns {() => void} ends it */
export function prepareTexts() {
  const all = jobs.values();
  let handle = 0;
  const go = (/** @type {IdleDeadline} */ deadline) => {
    while (deadline.timeRemaining() > 2) {
      for (let i = 0; i < 100; i += 1) {
        const { done, value } = all.next();
        if (done) return;
        textOf(value);
      }
    }
    handle = requestIdleCallback(go);
  };
  if (typeof requestIdleCallback === "function") handle = requestIdleCallback(go);
  return () => handle && cancelIdleCallback(handle);
}

/** True if it runs there, or ran there last. @param {Job} job @param {string} node */
export const isOn = (job, node) => job.node === node || (job.gpus ?? []).some((gpu) => gpu.node === node);

/** True if it runs there, or waits and its owner lets it run there. @param {Job} job @param {import("/page/data/types.js").Node} node */
export function mayRunOn(job, { name, watch_only }) {
  if (!isWaiting(job)) return isOn(job, name);
  if (watch_only || job.exclude_nodes?.includes(name)) return false;
  return !job.only_nodes?.length || job.only_nodes.includes(name);
}

/** @typedef {{ state: string, owner: string, project: string, tag: string, node: string, text: string }} Wanted */

/** @param {Wanted} wanted @returns {Job[]} */
export function matching({ state, owner, project, tag, node, text }) {
  const isWanted = FILTERS[state] ?? FILTERS.active;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [];
  for (const job of jobs.values()) {
    if (!isWanted(job) || (owner && job.owner !== owner) || (project && job.project !== project)) continue;
    if ((node && !isOn(job, node)) || (tag && !job.tags?.includes(tag))) continue;
    if (words.length && !words.every((word) => textOf(job).includes(word))) continue;
    found.push(job);
  }
  return found;
}

/** At work, then queued as they are served, then held, then ended. @param {Job} job */
function rank(job) {
  return job.ended_at === null ? (RANKS[job.state] ?? 0) : 3;
}

/** Of jobs that have not ended; those at work are 0. @type {Record<string, number>} */
const RANKS = { queued: 1, held: 2, draft: 2 };
/** @type {Record<string, number>} */
const TIERS = { urgent: 0, normal: 1, preemptible: 2 };

/**
 * The place of each queued job among all: the jobs of an owner take the ids of the same jobs in the order of their
 * positions. So a moved job stands between its siblings, and jobs of different owners keep the order of their submits.
 * @type {Map<number, number>}
 */
const slots = new Map();

/** @param {Job[]} found */
function giveSlots(found) {
  slots.clear();
  /** @type {Map<string, Job[]>} */
  const lines = new Map();
  for (const job of found) {
    if (job.state !== "queued") continue;
    const key = `${job.tier} ${job.owner}`;
    const line = lines.get(key);
    if (line) line.push(job);
    else lines.set(key, [job]);
  }
  for (const line of lines.values()) {
    if (isOrdered(line)) continue;
    const ids = line.map((job) => job.id);
    const byPlace = (/** @type {Job} */ a, /** @type {Job} */ b) => (a.position ?? 0) - (b.position ?? 0) || a.id - b.id;
    line.sort(byPlace);
    ids.sort((a, b) => a - b);
    line.forEach((job, at) => job.id !== ids[at] && slots.set(job.id, ids[at]));
  }
}

/** True if nothing was moved: ids and positions rise together. @param {Job[]} line */
function isOrdered(line) {
  for (let at = 1; at < line.length; at += 1) {
    if (line[at].id < line[at - 1].id || (line[at].position ?? 0) < (line[at - 1].position ?? 0)) return false;
  }
  return true;
}

/** @param {Job} a @param {Job} b */
function served(a, b) {
  const of = rank(a);
  const ranks = of - rank(b);
  if (ranks) return ranks;
  if (of === 3) return (a.ended_at ?? "") === (b.ended_at ?? "") ? b.id - a.id : (a.ended_at ?? "") < (b.ended_at ?? "") ? 1 : -1;
  if (of !== 1) return a.id - b.id;
  return (
    (TIERS[a.tier] ?? 1) - (TIERS[b.tier] ?? 1) ||
    a.priority - b.priority || // the lower goes first
    (slots.get(a.id) ?? a.id) - (slots.get(b.id) ?? b.id)
  );
}

/**
 * As the queue serves them, or by a column. `before` is the last result: what is nearly sorted is sorted quickly.
 * @param {Job[]} found @param {string} by @param {Job[]} before
 */
export function sorted(found, by, before) {
  const column = COLUMNS[by.replace("-", "")];
  if (!column) {
    giveSlots(found);
    return found.sort(served);
  }
  const sign = by.startsWith("-") ? -1 : 1;
  return nearly(found, before).sort((a, b) => sign * column.compare(a, b) || a.id - b.id);
}

/** The same jobs in the order that they had before, then the new ones. @param {Job[]} found @param {Job[]} before */
function nearly(found, before) {
  if (!before.length) return found;
  const rest = new Set(found);
  const like = before.filter((job) => rest.delete(job));
  for (const job of rest) like.push(job);
  return like;
}

/** Put the jobs of a group into one row, where its first job is, unless it is open. @param {Job[]} found @param {Set<number>} open @returns {Item[]} */
export function folded(found, open) {
  /** @type {Map<number, Job[]>} */
  const members = new Map();
  for (const job of found) {
    if (job.group === null) continue;
    const some = members.get(job.group);
    if (some) some.push(job);
    else members.set(job.group, [job]);
  }
  /** @type {Item[]} */
  const items = [];
  for (const job of found) {
    const some = job.group === null ? undefined : members.get(job.group);
    if (job.group === null || !some || some.length < 2) {
      items.push({ kind: "job", key: `j${job.id}`, job, isInGroup: false });
    } else if (some[0] === job) {
      const isOpen = open.has(job.group);
      items.push({ kind: "group", key: `g${job.group}`, id: job.group, jobs: some, isOpen });
      if (isOpen) for (const one of some) items.push({ kind: "job", key: `j${one.id}`, job: one, isInGroup: true });
    }
  }
  return items;
}

/** @param {Item} item */
export const idsOf = (item) => (item.kind === "job" ? [item.job.id] : item.jobs.map((job) => job.id));

/** @param {GroupItem} item @returns {Record<string, number>} */
export function countsOf(item) {
  const known = groups.value.get(item.id);
  if (known) return known.counts;
  /** @type {Record<string, number>} */
  const counts = {};
  for (const job of item.jobs) counts[job.state] = (counts[job.state] ?? 0) + 1;
  return counts;
}

/** @typedef {{ owner: string[], project: string[], tag: string[], node: string[] }} Values */

const VALUES_GOOD_MS = 3000;
let values = { at: 0, of: -1, found: /** @type {Values} */ ({ owner: [], project: [], tag: [], node: [] }) };

/** The values that jobs have, for the filters. Looked up now and then: a long queue is not walked at every change. */
export function valuesOf() {
  const isGood = Date.now() - values.at < VALUES_GOOD_MS && (jobs.size === values.of || jobs.size > MANY);
  if (isGood) return values.found;
  const [owner, project, tag, node] = [0, 1, 2, 3].map(() => /** @type {Set<string>} */ (new Set()));
  for (const job of jobs.values()) {
    owner.add(job.owner);
    if (job.project) project.add(job.project);
    if (job.node) node.add(job.node);
    for (const one of job.tags ?? []) tag.add(one);
  }
  const found = { owner: [...owner].sort(), project: [...project].sort(), tag: [...tag].sort(), node: [...node].sort() };
  values = { at: Date.now(), of: jobs.size, found };
  return found;
}
