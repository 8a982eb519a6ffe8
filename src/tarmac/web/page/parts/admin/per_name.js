// A number for everyone with exceptions by name, as a small table. Its value is the text that `tarmac set` takes.
import { html } from "/page/lib/preact.js";
import { Icon } from "/page/parts/icons.js";
import { t } from "/page/words/words.js";

/** @typedef {{ name: string, number: string }} Exception */

/** `1, ann=2` as a number for everyone and the exceptions. @param {string} text @returns {{ all: string, of: Exception[] }} */
export function parsePerName(text) {
  const parts = text.split(",").map((part) => part.trim());
  const of = parts
    .filter((part) => part.includes("="))
    .map((part) => ({
      name: part.slice(0, part.lastIndexOf("=")).trim(),
      number: part.slice(part.lastIndexOf("=") + 1).trim(),
    }));
  return { all: parts.find((part) => !part.includes("=")) ?? "", of };
}

/** @param {string} all @param {Exception[]} of */
const written = (all, of) => [all, ...of.map(({ name, number }) => `${name}=${number}`)].join(", ");

/**
 * @param {{
 *   id: string, setting: import("/page/parts/admin/settings.js").Setting, text: string, type: (text: string) => void,
 * }} props
 */
export function PerName({ id, setting, text, type }) {
  const { all, of } = parsePerName(text);
  const change = (/** @type {number} */ at, /** @type {Partial<Exception>} */ part) =>
    type(written(all, of.map((one, i) => (i === at ? { ...one, ...part } : one))));
  const typed = (/** @type {any} */ event) => event.target.value.replaceAll(",", "");
  const who = t(setting.name.endsWith("project") ? "setting.project" : "setting.user");
  return html`<table class="per-name" aria-label=${setting.name}>
    <tbody>
      <tr><td><label for=${id}>${t("setting.everyone")}</label></td>
        <td><input class="field narrow number" id=${id} aria-describedby=${`${id}-means`} inputmode="decimal" value=${all} onInput=${(/** @type {any} */ event) => type(written(typed(event), of))} /></td><td></td></tr>
      ${of.map(
        ({ name, number }, at) => html`<tr key=${at}>
          <td><input class="field" aria-label=${who} placeholder=${who} value=${name} onInput=${(/** @type {any} */ event) => change(at, { name: typed(event) })} /></td>
          <td><input class="field narrow number" aria-label=${t("setting.number_of", { name: name || who })} inputmode="decimal" value=${number} onInput=${(/** @type {any} */ event) => change(at, { number: typed(event) })} /></td>
          <td><button type="button" class="button bare" aria-label=${t("setting.remove", { name: name || who })} onClick=${() => type(written(all, of.filter((_, i) => i !== at)))}><${Icon} name="close" /></button></td>
        </tr>`,
      )}
    </tbody>
  </table>
  <button type="button" class="link" onClick=${() => type(written(all, [...of, { name: "", number: all }]))}>${t("setting.add")}<span class="unseen"> ${setting.name}</span></button>`;
}
