// The fields of a form, made from the declaration of job options.
import { html } from "/page/lib/preact.js";
import { session } from "/page/data/http.js";
import { gpus, jobs } from "/page/data/store.js";
import { Others } from "/page/parts/bits.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {import("/page/parts/form/draft.js").Option} Option
 * @typedef {import("/page/parts/form/draft.js").FieldText} FieldText
 * @typedef {import("/page/parts/form/check.js").Mistake} Mistake
 * @typedef {{ option: Option, value: FieldText | undefined, onChange: (value: FieldText) => void, mistakes: Mistake[] }} FieldProps
 */

const MOST_DIRECTORIES = 12;

/** The word for an option, or its flag if the page has none yet. @param {Option} option */
function labelOf(option) {
  const key = `field.${option.name}`;
  const word = t(key);
  return word === key ? option.flag : word;
}

/** What the option does. Where a form takes another text than a flag, the page has its own words. @param {Option} option */
function helpOf(option) {
  const key = `help.${option.name}`;
  const words = t(key);
  return words === key ? option.help : words;
}

/** Mistakes under the field that they are about. `help`: is there already. @param {{ id: string, mistakes: Mistake[], help?: string }} props */
export function Mistakes({ id, mistakes, help }) {
  return html`<div id=${id} class="mistakes" role="alert">
    ${mistakes.map((one) => html`<p><${Others} text=${placed(one)} />${one.hint && one.hint !== help && html` <span class="quiet"><${Others} text=${one.hint} /></span>`}</p>`)}
  </div>`;
}

/** @param {Mistake} one */
export function placed(one) {
  return one.line === null ? one.message : t("form.at", { line: one.line, column: one.column ?? 1, message: one.message });
}

/**
 * A label, what is in it, its help and its mistakes, without a `hint` that only repeats the help.
 * @param {{ id: string, label: string, flag?: string, help?: string, hint?: string, mistakes: Mistake[], isWide?: boolean, children?: unknown }} props
 */
export function Labelled({ id, label, flag, help, hint, mistakes, isWide = false, children }) {
  return html`<div class="form-field" data-wide=${isWide} data-bad=${mistakes.length > 0}>
    <div class="form-label"><label for=${id}>${label}</label>${flag && html`<code class="quiet">${flag}</code>`}</div>
    ${children}
    ${help && html`<p class="quiet form-help" id=${`${id}-help`}><${Others} text=${help} /></p>`}
    <${Mistakes} id=${`${id}-wrong`} mistakes=${mistakes} help=${hint} />
  </div>`;
}

/** @param {FieldProps} props */
export function OptionField({ option, value, onChange, mistakes }) {
  const id = `field-${option.name}`;
  const more = { id, "aria-describedby": `${id}-help ${id}-wrong`, "aria-invalid": mistakes.length > 0 };
  if (option.kind === "switch") {
    return html`<div class="form-field" data-bad=${mistakes.length > 0}>
      <label class="form-switch"><input type="checkbox" ...${more} checked=${value === true}
        onChange=${(/** @type {any} */ event) => onChange(event.currentTarget.checked)} />
        <span>${labelOf(option)} <code class="quiet">${option.flag}</code></span></label>
      <p class="quiet form-help" id=${`${id}-help`}><${Others} text=${option.help} /></p>
      <${Mistakes} id=${`${id}-wrong`} mistakes=${mistakes} />
    </div>`;
  }
  const isLines = option.name === "env" || option.name === "note";
  return html`<${Labelled} id=${id} label=${labelOf(option)} flag=${option.flag} help=${helpOf(option)} hint=${option.help} mistakes=${mistakes} isWide=${isLines}>
    <${Input} option=${option} value=${typeof value === "string" ? value : ""} onChange=${onChange} more=${more} isLines=${isLines} />
  <//>`;
}

/** @param {{ option: Option, value: string, onChange: (value: string) => void, more: Record<string, unknown>, isLines: boolean }} props */
function Input({ option, value, onChange, more, isLines }) {
  const onInput = (/** @type {any} */ event) => onChange(event.currentTarget.value);
  if (option.kind === "choice") {
    const isMine = (/** @type {string} */ choice) => session.value?.is_admin || !option.for_admins.includes(choice);
    return html`<select class="field" ...${more} value=${value} onChange=${onInput}>
      <option value="">${t("form.default")}</option>
      ${option.choices.filter(isMine).map((choice) => html`<option value=${choice}>${choice}</option>`)}
    </select>`;
  }
  if (isLines) {
    return html`<textarea class="field mono" rows="2" spellcheck="false" ...${more} placeholder=${option.name === "env" ? "NAME=VALUE" : undefined} value=${value} onInput=${onInput}></textarea>`;
  }
  const listed = suggestions(option);
  return html`<input class="field" type="text" ...${more} inputmode=${option.kind === "number" ? "numeric" : undefined}
      autocomplete="off" spellcheck="false" list=${listed.length ? `list-${option.name}` : undefined}
      placeholder=${placeholderOf(option)} value=${value} onInput=${onInput} />
    ${listed.length > 0 && html`<datalist id=${`list-${option.name}`}>${listed.map((one) => html`<option value=${one}></option>`)}</datalist>`}`;
}

/** @param {Option} option */
function placeholderOf(option) {
  if (option.name === "cwd") return "~";
  if (option.name === "gpu-mem") return t("form.whole_gpu");
  return option.metavar;
}

/** What was used before, or what there is. @param {Option} option @returns {string[]} */
function suggestions(option) {
  if (option.name === "gpu-model") return [...new Set(gpus.value.map((gpu) => gpu.model))];
  if (option.name !== "cwd") return [];
  const own = [...jobs.values()].filter((job) => job.owner === session.value?.user && job.cwd);
  return [...new Set(own.reverse().map((job) => job.cwd))].slice(0, MOST_DIRECTORIES);
}
