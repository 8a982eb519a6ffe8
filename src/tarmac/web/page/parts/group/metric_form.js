// The form that asks which metrics to read. What it says is kept in the address.
import { html, useState } from "/page/lib/preact.js";
import { file, patterns } from "/page/parts/group/asked.js";
import { query, setQuery } from "/page/router/router.js";
import { t } from "/page/words/words.js";

export function MetricForm() {
  const [texts, setTexts] = useState(patterns().length ? patterns() : [""]);
  const change = (/** @type {number} */ at) => (/** @type {any} */ event) => setTexts(texts.with(at, event.target.value));
  const onSubmit = (/** @type {any} */ event) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const word = (/** @type {string} */ name) => String(given.get(name) ?? "").trim();
    const metric = texts.map((text) => text.trim()).filter(Boolean).join("\n");
    setQuery({ metric, json: word("json"), keys: word("json") && word("keys"), sort: null, y: null }, { isStep: true });
  };
  return html`<form class="metric-form" onSubmit=${onSubmit}>
    ${texts.map((text, i) => {
      const label = texts.length > 1 ? t("results.metric_nth", { n: i + 1 }) : t("results.metric");
      return html`<label key=${i}><span class="quiet">${label}</span>
        <input class="field mono" spellcheck=${false} autocomplete="off" placeholder="acc=([\\d.]+)" value=${text} onInput=${change(i)} /></label>`;
    })}
    <button type="button" class="button bare" onClick=${() => setTexts([...texts, ""])}>${t("results.add")}</button>
    <label><span class="quiet">${t("results.file")}</span>
      <input class="field mono" name="json" spellcheck=${false} autocomplete="off" placeholder="metrics.json" value=${file()} /></label>
    <label><span class="quiet">${t("results.keys")}</span>
      <input class="field mono" name="keys" spellcheck=${false} autocomplete="off" placeholder="val.acc, loss" value=${query.value.get("keys") ?? ""} /></label>
    <button type="submit" class="button first">${t("results.read")}</button>
  </form>`;
}
