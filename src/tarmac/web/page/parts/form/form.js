// The fields that every form of a job has: the command, the usual options, and the others under their headings.
import { html, useEffect, useState } from "/page/lib/preact.js";
import { Labelled, OptionField } from "/page/parts/form/fields.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {import("/page/parts/form/draft.js").Draft} Draft
 * @typedef {import("/page/parts/form/draft.js").Option} Option
 * @typedef {import("/page/parts/form/check.js").Mistake} Mistake
 * @typedef {import("/page/parts/form/check.js").Answer} Answer
 * @typedef {{
 *   options: Option[], draft: Draft, update: (changes: Partial<Draft>) => void, wrong: (field: string) => Mistake[],
 * }} Props
 */

const USUAL = ["gpus", "gpu-mem", "gpu-model", "time", "name", "tag", "priority", "after", "notify"];

/** The mistakes of a field, those of no shown field, and how many have a field. @param {Answer | null} answer @param {string[]} fields */
export function sorted(answer, fields) {
  const all = answer?.mistakes ?? [];
  const wrong = (/** @type {string} */ field) => all.filter((one) => one.field === field);
  const general = all.filter((one) => one.field === null || !fields.includes(one.field));
  return { wrong, general, others: all.length - general.length };
}

/** @param {Props & { help: string }} props */
export function CommandField({ draft, update, wrong, help }) {
  const mistakes = wrong("command");
  return html`<div class="form-command-field">
    <${Labelled} id="field-command" label=${t("form.command")} help=${help} mistakes=${mistakes} isWide>
      <textarea id="field-command" class="field mono" rows="4" spellcheck="false" autocapitalize="off" aria-invalid=${mistakes.length > 0}
        aria-describedby="field-command-help field-command-wrong" placeholder="python train.py --lr 1e-3" value=${draft.command}
        onInput=${(/** @type {any} */ event) => update({ command: event.currentTarget.value })}></textarea>
    <//>
    <label class="form-run">${t("form.run")}
      <select class="field" value=${draft.run} onChange=${(/** @type {any} */ event) => update({ run: event.currentTarget.value })}>
        <option value="">${t("form.run_auto")}</option>
        <option value="words">${t("form.run_words")}</option>
        <option value="shell">${t("form.run_shell")}</option>
      </select>
    </label>
  </div>`;
}

/** @param {Props & { isMany?: boolean }} props */
export function OptionFields({ options, draft, update, wrong, isMany = false }) {
  const usual = [...USUAL, ...(isMany ? ["max-running"] : [])];
  const field = (/** @type {Option} */ option) => html`<${OptionField} key=${option.name} option=${option} value=${draft.options[option.name]}
    mistakes=${wrong(option.name)} onChange=${(/** @type {any} */ value) => update({ options: { ...draft.options, [option.name]: value } })} />`;
  const first = usual.map((name) => options.find((one) => one.name === name)).filter((one) => one !== undefined);
  const rest = options.filter((one) => !usual.includes(one.name) && one.name !== "cwd");
  const isUsed = rest.some((one) => draft.options[one.name] || wrong(one.name).length > 0);
  const [isOpen, setOpen] = useState(isUsed);
  useEffect(() => {
    if (isUsed) setOpen(true); // and it stays open when the last field is emptied
  }, [isUsed]);
  return html`<div class="form-grid">${first.map(field)}</div>
    <details class="form-more" open=${isOpen} onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}>
      <summary class="button">${t("form.more_options")}</summary>
      ${[...new Set(rest.map((one) => one.group))].map(
        (group) => html`<fieldset class="form-group" key=${group}><legend>${group}</legend>
          <div class="form-grid">${rest.filter((one) => one.group === group).map(field)}</div></fieldset>`,
      )}
    </details>`;
}

/** @param {Props} props */
export function DirectoryField({ options, draft, update, wrong }) {
  const option = options.find((one) => one.name === "cwd");
  return (
    option &&
    html`<${OptionField} option=${option} value=${draft.options.cwd} mistakes=${wrong("cwd")}
      onChange=${(/** @type {any} */ value) => update({ options: { ...draft.options, cwd: value } })} />`
  );
}
