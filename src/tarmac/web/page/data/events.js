// What each event of the stream changes. docs/api.md describes them.
import {
  changeGpu,
  changeJob,
  failedToday,
  jobs,
  placeJobs,
  putGroups,
  putJobs,
  queue,
  removeJobs,
  replaceNodes,
} from "/page/data/store.js";

/** @type {Record<string, (data: any) => void>} */
const CHANGES = {
  job: changeJob,
  gpu: changeGpu,
  queue: (data) => (queue.value = data),
  progress: (data) => putJobs(data.jobs.filter(isCurrent)),
  estimates: (data) => putJobs(data.jobs.filter((/** @type {{ id: number }} */ one) => jobs.has(one.id))),
  line: (data) => placeJobs(numbersOf(data.ids)),
  group: (data) => putGroups([data]),
  removed: (data) => remove([...numbersOf(data.ids)]),
  nodes: replaceNodes,
};

/** @param {string} kind @param {any} data */
export function apply(kind, data) {
  CHANGES[kind]?.(data);
}

/** False for an attempt that is over: progress is read apart from what is committed. @param {{ id: number, attempt: number }} one */
function isCurrent({ id, attempt }) {
  const job = jobs.get(id);
  return job !== undefined && job.attempt === attempt && job.ended_at === null;
}

/** @param {string} text such as 9,3-7 */
function* numbersOf(text) {
  for (const part of text.split(",").filter(Boolean)) {
    const [first, last = first] = part.split("-").map(Number);
    for (let number = first; number <= last; number += 1) yield number;
  }
}

/** @param {number[]} ids */
function remove(ids) {
  removeJobs(ids);
  if (!ids.some((id) => failedToday.value.has(id))) return;
  const left = new Set(failedToday.value);
  for (const id of ids) left.delete(id);
  failedToday.value = left;
}
