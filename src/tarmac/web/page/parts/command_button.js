// A button for something that the command line can do as well, with its command beside it.
import { html, useState } from "/page/lib/preact.js";
import { CopyCommand } from "/page/parts/bits.js";
import { say, sayRefusal } from "/page/parts/toast.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {{ text: string, hint?: string | null, undo?: () => Promise<unknown> } | null} Outcome what to say; null: nothing
 */

/**
 * @param {{
 *   label: string, command: string, run: () => Promise<Outcome>, isDanger?: boolean, isFirst?: boolean,
 *   isOff?: boolean,
 * }} props
 */
export function CommandButton({ label, command, run, isDanger = false, isFirst = false, isOff = false }) {
  const [isBusy, setBusy] = useState(false);
  const onClick = async () => {
    setBusy(true);
    await perform(command, run);
    setBusy(false);
  };
  return html`<span class="split">
    <button type="button" class="button ${isDanger ? "danger" : ""} ${isFirst ? "first" : ""}" disabled=${isBusy || isOff}
      onClick=${onClick}>${label}</button>
    <${CopyCommand} command=${command} />
  </span>`;
}

/** Undo something, and say so. @param {() => Promise<unknown>} undo */
export async function takeBack(undo) {
  try {
    await undo();
    say({ text: t("undone") });
  } catch (error) {
    sayRefusal(error);
  }
}

/** Do it, and say what came of it. @param {string} command @param {() => Promise<Outcome>} run */
export async function perform(command, run) {
  try {
    const done = await run();
    if (!done) return;
    const { undo } = done;
    say({ ...done, command, undo: undo && (() => void takeBack(undo)) });
  } catch (error) {
    sayRefusal(error, command);
  }
}
