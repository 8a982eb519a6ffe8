// Every setting, in the groups of its declaration. The server says what each means, checks values and explains refusals.
import { html } from "/page/lib/preact.js";
import { useReading } from "/page/data/reading.js";
import { Empty } from "/page/parts/bits.js";
import { SettingRow } from "/page/parts/admin/setting_row.js";
import { query, setQuery } from "/page/router/router.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {{
 *   name: string, group: string, value: string, default: string, origin: string, kind: string,
 *   choices: string[] | null, meaning: string,
 * }} Setting
 */

/** @param {Setting} one @param {string} text */
const matches = (one, text) => `${one.name} ${one.meaning}`.toLowerCase().includes(text.toLowerCase());

export function SettingsList() {
  const list = /** @type {import("/page/data/reading.js").Reading<{ settings: Setting[], groups: string[] }>} */ (
    useReading("/settings")
  );
  if (list.problem) return html`<p class="problem panel" role="alert">${list.problem}</p>`;
  if (!list.value) return null;
  const { settings: all, groups } = list.value;
  const text = query.value.get("text") ?? "";
  const group = query.value.get("group") ?? "";
  const isChanged = query.value.get("changed") === "1";
  const found = all.filter(
    (one) => matches(one, text) && (!group || one.group === group) && (!isChanged || one.origin !== "default"),
  );
  return html`<div class="filters" role="group" aria-label=${t("filters")}>
      <input class="field" type="search" data-search aria-label=${t("setting.search")} placeholder=${t("setting.search")} value=${text}
        onInput=${(/** @type {any} */ event) => setQuery({ text: event.target.value })} />
      <select class="field" aria-label=${t("setting.group")} value=${group} onChange=${(/** @type {any} */ event) => setQuery({ group: event.target.value }, { isStep: true })}>
        <option value="">${t("setting.all_groups")}</option>
        ${groups.map((name) => html`<option value=${name}>${t(`setting.group.${name}`)}</option>`)}
      </select>
      <label class="check"><input type="checkbox" checked=${isChanged} onChange=${(/** @type {any} */ event) => setQuery({ changed: event.target.checked ? "1" : null })} /> ${t("setting.only_changed")}</label>
    </div>
    ${!found.length && html`<${Empty} title=${t("setting.none")} />`}
    ${groups
      .filter((name) => found.some((one) => one.group === name))
      .map(
        (name) => html`<section class="panel settings" key=${name} aria-label=${t(`setting.group.${name}`)}>
          <h2>${t(`setting.group.${name}`)}</h2>
          ${found.filter((one) => one.group === name).map((one) => html`<${SettingRow} key=${one.name} setting=${one} again=${list.again} />`)}
        </section>`,
      )}`;
}
