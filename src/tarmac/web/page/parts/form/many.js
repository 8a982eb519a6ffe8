// The parts of a form for many jobs: the parameters of a sweep, and the text of a batch.
import { html, useRef } from "/page/lib/preact.js";
import { Others } from "/page/parts/bits.js";
import { Labelled, Mistakes, placed } from "/page/parts/form/fields.js";
import { Icon } from "/page/parts/icons.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {import("/page/parts/form/draft.js").Draft} Draft
 * @typedef {import("/page/parts/form/draft.js").Parameter} Parameter
 * @typedef {import("/page/parts/form/check.js").Mistake} Mistake
 * @typedef {{ draft: Draft, update: (changes: Partial<Draft>) => void, wrong: (field: string) => Mistake[] }} Props
 */

const FORMATS = ["lines", "shell", "csv", "jsonl", "gpupeasy"];
const MOST_SHOWN = 20;

/** @param {any} event @returns {string} */
const typed = (event) => event.currentTarget.value;

/** @param {Props} props */
export function SweepFields({ draft, update, wrong }) {
  const put = (/** @type {number} */ at, /** @type {Partial<Parameter>} */ changes) =>
    update({ parameters: draft.parameters.map((one, i) => (i === at ? { ...one, ...changes } : one)) });
  return html`<fieldset class="form-group">
    <legend>${t("form.parameters")}</legend>
    <div class="form-parameters">
      ${draft.parameters.map(
        (one, i) => html`<div class="form-parameter" key=${i}>
          <input class="field mono" aria-label=${t("form.parameter_name", { n: i + 1 })} placeholder="lr" spellcheck="false"
            autocomplete="off" value=${one.name} onInput=${(/** @type {any} */ event) => put(i, { name: typed(event) })} />
          <span aria-hidden="true">=</span>
          <input class="field mono" aria-label=${t("form.parameter_values", { n: i + 1 })} placeholder="1e-3,3e-4" spellcheck="false"
            autocomplete="off" value=${one.values} onInput=${(/** @type {any} */ event) => put(i, { values: typed(event) })} />
          <button type="button" class="button bare" aria-label=${t("form.remove_parameter", { n: i + 1 })}
            onClick=${() => update({ parameters: draft.parameters.filter((_, other) => other !== i) })}><${Icon} name="close" /></button>
        </div>`,
      )}
    </div>
    <${Mistakes} id="parameters-wrong" mistakes=${wrong("parameters")} />
    <p class="quiet form-help">${t("form.parameters_help")}</p>
    <button type="button" class="button" onClick=${() => update({ parameters: [...draft.parameters, { name: "", values: "" }] })}>${t("form.add_parameter")}</button>
    <div class="form-grid">
      <${Labelled} id="field-zip" label=${t("form.combine")} flag="--zip" mistakes=${wrong("zip")}>
        <select id="field-zip" class="field" value=${draft.zip ? "zip" : ""} onChange=${(/** @type {any} */ event) => update({ zip: typed(event) === "zip" })}>
          <option value="">${t("form.product")}</option><option value="zip">${t("form.zip")}</option>
        </select>
      <//>
      <${TextField} name="where" label=${t("form.where")} hint="lr < 1e-3 or seed == 1" draft=${draft} update=${update} wrong=${wrong} />
      <${TextField} name="sample" label=${t("form.sample")} hint="N" draft=${draft} update=${update} wrong=${wrong} />
      <${TextField} name="seed" label=${t("form.seed")} hint="K" draft=${draft} update=${update} wrong=${wrong} />
    </div>
  </fieldset>`;
}

/** @param {Props & { name: "where" | "sample" | "seed" | "group", label: string, hint?: string }} props */
export function TextField({ name, label, hint, draft, update, wrong }) {
  const id = `field-${name}`;
  return html`<${Labelled} id=${id} label=${label} flag=${`--${name}`} mistakes=${wrong(name)}>
    <input id=${id} class="field" autocomplete="off" spellcheck="false" placeholder=${hint} value=${draft[name]} aria-describedby=${`${id}-wrong`}
      onInput=${(/** @type {any} */ event) => update({ [name]: typed(event) })} />
  <//>`;
}

/** @param {Props} props */
export function BatchFields({ draft, update, wrong }) {
  const ref = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const mistakes = wrong("batch");
  const show = (/** @type {Mistake} */ one) => {
    const lines = draft.batch.split("\n");
    const before = lines.slice(0, (one.line ?? 1) - 1).reduce((sum, line) => sum + line.length + 1, 0);
    const at = before + (one.column ?? 1) - 1;
    ref.current?.focus();
    ref.current?.setSelectionRange(at, Math.max(at + 1, before + (lines[(one.line ?? 1) - 1] ?? "").length));
  };
  return html`<div class="form-group">
    <div class="form-field" data-bad=${mistakes.length > 0}>
      <div class="form-label"><label for="field-batch">${t("form.batch")}</label><code class="quiet">--batch</code></div>
      <textarea ref=${ref} id="field-batch" class="field mono form-batch" rows="12" spellcheck="false" wrap="off"
        placeholder=${"python train.py --lr 1e-3\npython train.py --lr 3e-4"} aria-describedby="batch-help batch-wrong" value=${draft.batch}
        onInput=${(/** @type {any} */ event) => update({ batch: typed(event) })}></textarea>
      <p class="quiet form-help" id="batch-help">${t("form.batch_help")}</p>
      <ul class="mistakes" id="batch-wrong" role="alert">
        ${mistakes.slice(0, MOST_SHOWN).map((one) => html`<li><button type="button" class="link wrong" onClick=${() => show(one)}><${Others} text=${placed(one)} /></button></li>`)}
        ${mistakes.length > MOST_SHOWN && html`<li>${t("form.more_mistakes", { n: mistakes.length - MOST_SHOWN })}</li>`}
      </ul>
    </div>
    <div class="form-grid">
      <${Labelled} id="field-format" label=${t("form.format")} flag="--batch-format" mistakes=${wrong("format")}>
        <select id="field-format" class="field" value=${draft.format} onChange=${(/** @type {any} */ event) => update({ format: typed(event) })}>
          <option value="">${t("form.as_it_looks")}</option>
          ${FORMATS.map((one) => html`<option value=${one}>${t(`format.${one}`)}</option>`)}
        </select>
      <//>
    </div>
  </div>`;
}
