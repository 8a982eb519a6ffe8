// One setting: what it means, its value, and how to change it or return to the default.
import { html, useState } from "/page/lib/preact.js";
import { useDraft } from "/page/data/drafts.js";
import { put, Refusal, remove } from "/page/data/http.js";
import { PerName } from "/page/parts/admin/per_name.js";
import { CopyCommand, Others } from "/page/parts/bits.js";
import { say, sayRefusal } from "/page/parts/toast.js";
import { duration, shellCommand } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/** @typedef {import("/page/parts/admin/settings.js").Setting} Setting */

/** The choices of a setting that has few values. @param {Setting} setting */
const choicesOf = (setting) => setting.choices ?? (setting.kind === "flag" ? ["on", "off"] : null);

/** @param {Setting} setting @param {string | null} value null: return to the config file or the default */
const send = ({ name }, value) => (value === null ? remove(`/settings/${name}`) : put(`/settings/${name}`, { value }));

/** @param {{ setting: Setting, again: () => void }} props */
export function SettingRow({ setting, again }) {
  const { name, value, origin } = setting;
  const [text, setText, drop] = useDraft(`setting.${name}`, value);
  const [problem, setProblem] = useState(/** @type {{ message: string, hint: string | null } | null} */ (null));
  const change = async (/** @type {string | null} */ wanted) => {
    try {
      const after = await send(setting, wanted);
      const undo = () => send(setting, origin === "live" ? value : null).then(again);
      const command = wanted === null ? `tarmac set ${name} --reset` : shellCommand(["tarmac", "set", name, wanted]);
      say({ text: t("setting.did", { name, value: after.value || "–" }), command, undo: () => void undo().catch(sayRefusal) });
      setProblem(null);
      drop();
      again();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      setProblem(error);
    }
  };
  const type = (/** @type {string} */ next) => (next === value ? drop() : setText(next), setProblem(null));
  const isTyped = text !== value;
  const id = `setting-${name}`;
  return html`<div class="setting" data-origin=${origin}>
    <div class="setting-what">
      <p><label for=${id}><code>${name}</code></label> ${origin !== "default" && html`<span class="tag">${t(`setting.${origin}`)}</span>`}</p>
      <p class="quiet" id=${`${id}-means`}>${setting.meaning}</p>
    </div>
    <div class="setting-control">
      <${Control} setting=${setting} id=${id} text=${text} isBad=${problem !== null} type=${type} change=${change} />
      ${setting.kind === "seconds" && Number(text) >= 60 && html`<span class="quiet">= ${duration(Number(text))}</span>`}
      ${isTyped && html`<span class="buttons-left"><button type="button" class="button first" onClick=${() => change(text)}>${t("save")}</button>
        <button type="button" class="button bare" onClick=${() => type(value)}>${t("cancel")}</button></span>`}
      ${problem && html`<p class="problem" role="alert" id=${`${id}-problem`}>${problem.message}${problem.hint && html`<br /><span class="quiet">${problem.hint}</span>`}</p>`}
      <p class="setting-default quiet">${t("setting.default")} <span class="mono"><${Others} text=${setting.default || "–"} /></span>
        ${origin === "live" && html`<button type="button" class="link" onClick=${() => change(null)}>${t("setting.reset")}<span class="unseen"> ${name}</span></button>`}
        <${CopyCommand} command=${shellCommand(["tarmac", "set", name, text])} isBare />
      </p>
    </div>
  </div>`;
}

/**
 * @param {{
 *   setting: Setting, id: string, text: string, isBad: boolean, type: (text: string) => void,
 *   change: (text: string) => Promise<void>,
 * }} props
 */
function Control({ setting, id, text, isBad, type, change }) {
  const choices = choicesOf(setting);
  const about = `${id}-means${isBad ? ` ${id}-problem` : ""}`;
  if (choices) {
    return html`<select class="field" id=${id} aria-describedby=${about} value=${text} onChange=${(/** @type {any} */ event) => (type(event.target.value), void change(event.target.value))}>
      ${choices.map((one) => html`<option value=${one}>${one}</option>`)}
    </select>`;
  }
  if (setting.kind === "per name") return html`<${PerName} id=${id} setting=${setting} text=${text} type=${type} />`;
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter") void change(text);
    if (event.key === "Escape") type(setting.value);
  };
  return html`<input class="field ${["words", "text"].includes(setting.kind) ? "wide" : ""}" id=${id} aria-describedby=${about} aria-invalid=${isBad}
    autocomplete="off" spellcheck="false" value=${text} onInput=${(/** @type {any} */ event) => type(event.target.value)} onKeyDown=${onKeyDown} />`;
}
