// Templates in a form: fill the form with one, and save the form as one.
import { html, useEffect, useState } from "/page/lib/preact.js";
import { get, put } from "/page/data/http.js";
import { Dialog } from "/page/parts/dialog.js";
import { textsOf } from "/page/parts/form/draft.js";
import { say, sayRefusal } from "/page/parts/toast.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {import("/page/parts/form/draft.js").FieldText} FieldText
 * @typedef {{ name: string, form: Record<string, string | string[] | boolean> }} Template
 */

/** @param {{ options: () => Record<string, unknown>, onFill: (texts: Record<string, FieldText>) => void }} props */
export function Templates({ options, onFill }) {
  const [known, setKnown] = useState(/** @type {Template[]} */ ([]));
  const [isNaming, setNaming] = useState(false);
  const read = () => get("/templates").then((answer) => setKnown(answer.templates), sayRefusal);
  useEffect(() => void read(), []);
  const onChoose = (/** @type {any} */ event) => {
    const chosen = known.find((one) => one.name === event.currentTarget.value);
    if (chosen) onFill(textsOf(chosen.form));
    event.currentTarget.value = "";
  };
  const onSave = async (/** @type {string} */ name) => {
    try {
      await put(`/templates/${encodeURIComponent(name)}`, { form: options() });
      setNaming(false);
      say({ text: t("form.template_saved", { name }), command: `tarmac add --template ${/^[\w.-]+$/.test(name) ? name : `'${name}'`}` });
      await read();
    } catch (error) {
      sayRefusal(error);
    }
  };
  return html`<div class="form-templates">
    ${
      known.length > 0 &&
      html`<select class="field" aria-label=${t("form.template")} onChange=${onChoose}>
      <option value="">${t("form.fill_from")}</option>
      ${known.map((one) => html`<option value=${one.name}>${one.name}</option>`)}
    </select>`
    }
    <button type="button" class="button" onClick=${() => setNaming(true)}>${t("form.save_template")}</button>
    ${isNaming && html`<${Naming} onSave=${onSave} onClose=${() => setNaming(false)} />`}
  </div>`;
}

/** @param {{ onSave: (name: string) => void, onClose: () => void }} props */
function Naming({ onSave, onClose }) {
  const [name, setName] = useState("");
  const onSubmit = (/** @type {Event} */ event) => (event.preventDefault(), name.trim() && onSave(name.trim()));
  return html`<${Dialog} title=${t("form.save_template")} onClose=${onClose}>
    <form onSubmit=${onSubmit} class="form-naming">
      <label for="template-name">${t("form.template_name")}</label>
      <input id="template-name" class="field" autofocus autocomplete="off" value=${name} onInput=${(/** @type {any} */ event) => setName(event.currentTarget.value)} />
      <p class="quiet">${t("form.template_help")}</p>
      <div class="buttons">
        <button type="button" class="button" onClick=${onClose}>${t("cancel")}</button>
        <button type="submit" class="button first" disabled=${!name.trim()}>${t("form.save")}</button>
      </div>
    </form>
  <//>`;
}
