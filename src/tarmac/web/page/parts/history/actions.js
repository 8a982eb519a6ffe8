// What can be done to ended jobs: retry them, run copies of them, remove them.
import { html, useState } from "/page/lib/preact.js";
import { post } from "/page/data/http.js";
import { CopyCommand } from "/page/parts/bits.js";
import { confirm } from "/page/parts/dialog.js";
import { say, sayRefusal } from "/page/parts/toast.js";
import { ranges } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {{ name: string, verb: string, isDanger?: boolean, run: (ids: string[]) => Promise<{ done: number[], notice?: string | null }> }} EndedAction
 */

/** @type {EndedAction[]} */
export const ENDED_ACTIONS = [
  {
    name: "retry",
    verb: "retry",
    run: async (ids) => {
      const answer = await post("/jobs/retry", { ids });
      return { done: answer.retried, notice: answer.notice ?? answer.not_retried[0]?.reason };
    },
  },
  {
    name: "again",
    verb: "rerun",
    run: async (ids) => ({ done: (await post("/jobs/clone", { ids, rerun: true })).ids }),
  },
  {
    name: "remove",
    verb: "rm",
    isDanger: true,
    run: async (ids) => ({ done: (await post("/jobs/rm", { ids })).removed }),
  },
];

/** @param {{ action: EndedAction, ids: number[], onDone: () => void }} props */
export function EndedActionButton({ action, ids, onDone }) {
  const [isBusy, setBusy] = useState(false);
  const command = `tarmac ${action.verb} ${ranges(ids).join(" ")}`;
  const word = t(`do.${action.name}`);
  const onClick = async () => {
    const title = action.isDanger ? t("remove.title", { n: ids.length, id: ids[0] }) : "";
    if (title && !(await confirm({ title, text: [t("remove.text", { n: ids.length })], action: word, command, isDanger: true }))) return;
    setBusy(true);
    try {
      const { done, notice } = await action.run(ranges(ids));
      say({ text: t(`did.${action.name}`, { n: done.length, id: done[0] ?? "" }), hint: notice, command });
      onDone();
    } catch (error) {
      sayRefusal(error, command);
    }
    setBusy(false);
  };
  return html`<span class="split">
    <button type="button" class="button ${action.isDanger ? "danger" : ""}" disabled=${isBusy} onClick=${onClick}>${word}</button>
    <${CopyCommand} command=${command} />
  </span>`;
}
