// One group and all its jobs, read once and then followed by the event stream.
import { useMemo, useRef } from "/page/lib/preact.js";
import { get } from "/page/data/http.js";
import { useAnswer } from "/page/data/reading.js";
import { groups, jobs, jobsVersion } from "/page/data/store.js";

/**
 * @typedef {import("/page/data/types.js").Job} Job
 * @typedef {import("/page/data/types.js").Group & { max_running: number | null, submitted_at: string, indices: string | null }} Group
 */

const PAGE = 10_000;
const MOST = 20_000; // jobs that are read; of a larger group, the first ones
const FIELDS =
  "id,name,owner,state,reason,exit_code,signal,gpus_asked,gpus,node,command,started_at,ended_at,elapsed_s,group,index,params,attempt,progress";

/** @param {string} id @param {AbortSignal} signal */
async function readAll(id, signal) {
  const group = /** @type {Group} */ (await get(`/groups/${id}`, {}, signal));
  /** @type {Job[]} */
  const members = [];
  for (let after = null; ; ) {
    const readAt = Date.now() - 1; // what the stream reports from now on is newer
    const page = await get("/jobs", { group: group.id, after, limit: PAGE, fields: FIELDS }, signal);
    members.push(...page.jobs.map((/** @type {Job} */ job) => ({ ...job, readAt })));
    after = page.next;
    if (after === null || members.length >= MOST) return { group, members };
  }
}

/**
 * @param {string} id @param {number} turn read again if it changes
 * @returns {{ group: Group | null, members: Job[], problem: string }}
 */
export function useGroup(id, turn) {
  const { value, problem } = useAnswer((ending) => readAll(id, ending), `${id} ${turn}`);
  const last = useRef(/** @type {{ value: typeof value, members: Job[] }} */ ({ value: null, members: [] }));
  const members = useMemo(() => {
    const known = last.current.value === value ? last.current.members : (value?.members ?? []);
    last.current = { value, members: renewed(known) };
    return last.current.members;
  }, [value, jobsVersion.value]);
  return { group: value?.group ?? null, members, problem };
}

/** The members as the event stream last reported them; the same list if nothing changed. @param {Job[]} members */
function renewed(members) {
  let isChanged = false;
  const next = members.map((job) => {
    const known = jobs.get(job.id);
    if (!known || (known.readAt ?? 0) <= (job.readAt ?? 0)) return job;
    isChanged = true;
    return { ...job, ...known };
  });
  return isChanged ? next : members;
}

/** How many jobs are in each state. @param {Group} group @param {Job[]} members @returns {Record<string, number>} */
export function countsOf(group, members) {
  if (group.count > MOST) return groups.value.get(group.id)?.counts ?? group.counts;
  /** @type {Record<string, number>} */
  const counts = {};
  for (const job of members) counts[job.state] = (counts[job.state] ?? 0) + 1;
  return counts;
}
