// What a user can do to jobs. Each action has its command, and the server's own sentence if it is refused.
import { html, useState } from "/page/lib/preact.js";
import { post, session } from "/page/data/http.js";
import { isAtWork, isEnded, isWaiting } from "/page/data/store.js";
import { CopyCommand, elapsed } from "/page/parts/bits.js";
import { confirm } from "/page/parts/dialog.js";
import { mayChange } from "/page/parts/job/rights.js";
import { say, sayRefusal } from "/page/parts/toast.js";
import { go } from "/page/router/router.js";
import { duration, ranges } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {import("/page/data/types.js").Job} Job
 * @typedef {{
 *   name: string, applies: (job: Job) => boolean, isDanger?: boolean, undo?: string,
 *   run: (ids: string[]) => Promise<{ done: number[], left: number, notice?: string | null }>,
 * }} Action
 */

/** @param {string} path @param {string} done @param {string} left @param {object} [extra] */
const change =
  (path, done, left, extra = {}) =>
  async (/** @type {string[]} */ ids) => {
    const answer = await post(path, { ids, ...extra });
    return { done: answer[done], left: answer[left]?.length ?? 0, notice: answer.notice };
  };

/** @param {string[]} states */
const inState =
  (...states) =>
  (/** @type {Job} */ job) =>
    states.includes(job.state);

/** @type {Record<string, Action>} */
export const ACTIONS = {
  kill: {
    name: "kill",
    applies: (job) => !isEnded(job) && job.state !== "stopping",
    isDanger: true,
    run: change("/jobs/kill", "asked", "already_ended"),
  },
  hold: { name: "hold", applies: inState("queued"), undo: "release", run: change("/jobs/hold", "held", "not_waiting") },
  release: {
    name: "release",
    applies: inState("held", "draft"),
    undo: "hold",
    run: change("/jobs/release", "released", "not_held"),
  },
  pause: {
    name: "pause",
    applies: inState("running"),
    undo: "resume",
    run: change("/jobs/pause", "paused", "not_running"),
  },
  resume: {
    name: "resume",
    applies: inState("paused"),
    undo: "pause",
    run: change("/jobs/resume", "resumed", "not_paused"),
  },
  retry: { name: "retry", applies: isEnded, run: change("/jobs/retry", "retried", "not_retried") },
};

/** @param {string} name @param {number[]} ids */
export const commandOf = (name, ids) => `tarmac ${name} ${ranges(ids).join(" ")}`;

/** Do it to these jobs, after a question if work would be lost. @param {Action} action @param {Job[]} jobs */
export async function act(action, jobs) {
  const ids = jobs.filter(action.applies).map((job) => job.id);
  const command = commandOf(action.name, ids);
  if (!ids.length) {
    say({ text: t("nothing_to", { action: t(`do.${action.name}`) }), isBad: true });
    return;
  }
  if (action.name === "kill" && !(await confirmKill(jobs.filter(action.applies), command))) return;
  try {
    const { done, notice } = await action.run(ranges(ids));
    const back = action.undo && ACTIONS[action.undo];
    say({
      text: t(`did.${action.name}`, { n: done.length, id: done[0] }),
      hint: notice,
      command,
      undo: back && done.length ? () => void undo(back, done) : undefined,
    });
  } catch (error) {
    sayRefusal(error, command);
  }
}

/** @param {Action} action @param {number[]} ids */
async function undo(action, ids) {
  try {
    await action.run(ranges(ids));
    say({ text: t("undone") });
  } catch (error) {
    sayRefusal(error, commandOf(action.name, ids));
  }
}

/** Say what would be lost. @param {Job[]} jobs @param {string} command */
async function confirmKill(jobs, command) {
  const atWork = jobs.filter(isAtWork);
  if (jobs.length === 1 && !atWork.length) return true;
  const ran = atWork.reduce((sum, job) => sum + (elapsed(job) ?? 0), 0);
  const waiting = jobs.length - atWork.length;
  const text = [];
  if (atWork.length) text.push(t("kill.ran", { n: atWork.length, time: duration(ran), id: atWork[0].id }));
  if (waiting) text.push(t("kill.waiting", { n: waiting }));
  const title = t("kill.title", { n: jobs.length, id: jobs[0].id });
  return confirm({ title, text, action: t("do.kill"), command, isDanger: true });
}

/** @param {Job} job @param {number} position */
export const moveCommand = (job, position) => `tarmac move ${job.id} ${position}`;

/** Give a waiting job another place among its owner's jobs. @param {Job} job @param {number} position */
export async function move(job, position) {
  const before = job.position;
  const command = moveCommand(job, position);
  if (before === null || position < 1 || position === before) return;
  try {
    const answer = await post(`/jobs/${job.id}/move`, { position });
    if (answer.position === before) return;
    const undo = () =>
      void post(`/jobs/${job.id}/move`, { position: before }).then(() => say({ text: t("undone") }), sayRefusal);
    say({ text: t("did.move", { id: job.id, position: answer.position }), command, undo });
  } catch (error) {
    sayRefusal(error, command);
  }
}

/** Queue a copy of the job, linked to it. @param {Job} job @param {object} [changes] */
export async function rerun(job, changes) {
  const command = `tarmac rerun ${job.id}`;
  try {
    const { ids } = await post("/jobs/clone", { ids: [String(job.id)], rerun: true, ...(changes && { changes }) });
    say({ text: t("did.rerun", { id: ids[0] }), command });
    go(`/jobs/${ids[0]}`);
  } catch (error) {
    sayRefusal(error, command);
  }
}

/** A button and, beside it, its command. @param {{ action: Action, jobs: Job[], isFirst?: boolean }} props */
export function ActionButton({ action, jobs, isFirst = false }) {
  const [isBusy, setBusy] = useState(false);
  const fitting = jobs.filter(action.applies);
  const own = fitting.filter(mayChange);
  const ids = own.map((job) => job.id);
  const onClick = async () => {
    setBusy(true);
    await act(action, own);
    setBusy(false);
  };
  return html`<span class="split">
    <button type="button" class="button ${action.isDanger ? "danger" : ""} ${isFirst ? "first" : ""}"
      disabled=${isBusy || !ids.length} title=${own.length ? undefined : t("not_yours", { owner: fitting[0]?.owner ?? "" })}
      onClick=${onClick}>${t(`do.${action.name}`)}</button>
    ${ids.length > 0 && html`<${CopyCommand} command=${commandOf(action.name, ids)} />`}
  </span>`;
}

/** The forms of a job: to edit it while it waits, and to run it again with changes. @param {{ job: Job }} props */
export function FormLinks({ job }) {
  const isOwn = session.value?.user === job.owner;
  const isEditable = isWaiting(job) && (isOwn || session.value?.is_admin);
  return html`${
    isEditable &&
    html`<span class="split"><a class="button" href=${`/jobs/${job.id}/edit`}>${t("do.edit")}</a>
      <${CopyCommand} command=${`tarmac edit ${job.id}`} /></span>`
  }
  ${isOwn && html`<a class="button" href=${`/new?from=${job.id}`}>${t("do.edit_and_rerun")}</a>`}`;
}
