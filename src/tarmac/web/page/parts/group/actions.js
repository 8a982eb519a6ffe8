// What can be done to a whole group, or to its failed jobs. Each has its command.
import { html, useState } from "/page/lib/preact.js";
import { post } from "/page/data/http.js";
import { AT_WORK, ENDED, isAtWork, WAITING } from "/page/data/store.js";
import { CopyCommand, elapsed } from "/page/parts/bits.js";
import { confirm } from "/page/parts/dialog.js";
import { say, sayRefusal } from "/page/parts/toast.js";
import { duration } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {import("/page/data/types.js").Job} Job
 * @typedef {{ name: string, verb: string, done: string, flags?: string, extra?: object, isDanger?: boolean, isFirst?: boolean, states: string[] }} GroupAction
 */

/** @type {GroupAction[]} */
const ACTIONS = [
  {
    name: "retry_failed",
    verb: "retry",
    done: "retried",
    flags: " --failed",
    extra: { failed: true },
    isFirst: true,
    states: ["failed"],
  },
  { name: "hold", verb: "hold", done: "held", states: ["queued"] },
  { name: "release", verb: "release", done: "released", states: ["held", "draft"] },
  { name: "retry", verb: "retry", done: "retried", flags: " --state ended", extra: { state: "ended" }, states: ENDED },
  { name: "kill", verb: "kill", done: "asked", isDanger: true, states: [...AT_WORK, ...WAITING] },
];

/** @typedef {{ id: number, counts: Record<string, number>, members: Job[], onDone: () => void }} Props counts: of all its jobs, by state */

/** @param {Props} props */
export function GroupActions(props) {
  return html`<div class="actions" role="group" aria-label=${t("actions")}>
    ${ACTIONS.filter(({ states }) => states.some((state) => props.counts[state])).map(
      (action) => html`<${ActionOfGroup} key=${action.name} action=${action} ...${props} />`,
    )}
  </div>`;
}

/** @param {Props & { action: GroupAction }} props */
function ActionOfGroup({ action, id, counts, members, onDone }) {
  const [isBusy, setBusy] = useState(false);
  const command = `tarmac ${action.verb}${action.flags ?? ""} --group ${id}`;
  const word = t(`group.do.${action.name}`);
  const onClick = async () => {
    if (action.isDanger && !(await confirmKill({ id, counts, members }, word, command))) return;
    setBusy(true);
    try {
      const answer = await post(`/jobs/${action.verb}`, { group: String(id), ...action.extra });
      const done = answer[action.done];
      say({ text: t(`did.${action.verb}`, { n: done.length, id: done[0] ?? "" }), hint: answer.notice, command });
      onDone();
    } catch (error) {
      sayRefusal(error, command);
    }
    setBusy(false);
  };
  return html`<span class="split">
    <button type="button" class="button ${action.isDanger ? "danger" : ""} ${action.isFirst ? "first" : ""}" disabled=${isBusy} onClick=${onClick}>${word}</button>
    <${CopyCommand} command=${command} />
  </span>`;
}

/** @param {Omit<Props, "onDone">} group @param {string} action @param {string} command */
function confirmKill({ id, counts, members }, action, command) {
  const atWork = members.filter(isAtWork);
  const waiting = WAITING.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
  const time = duration(atWork.reduce((sum, job) => sum + (elapsed(job) ?? 0), 0));
  const text = [];
  if (atWork.length) text.push(t("kill.ran", { n: atWork.length, time, id: atWork[0].id }));
  if (waiting) text.push(t("kill.waiting", { n: waiting }));
  return confirm({ title: t("group.kill_title", { id }), text, action, command, isDanger: true });
}
