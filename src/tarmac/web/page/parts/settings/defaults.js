// The user's defaults for jobs, as the config file has them. The file is changed by hand: docs/decisions says why.
import { html } from "/page/lib/preact.js";
import { useReading } from "/page/data/reading.js";
import { CopyCommand, Others } from "/page/parts/bits.js";
import { shellCommand } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {{ name: string, value: string, help: string }} Option
 * @typedef {{ path: string, options: Option[], problem: string | null, hint: string | null }} Defaults
 */

const EXAMPLE = "[defaults]\ngpus = 1\ntime = \"12h\"\nretry = 1";

/** @param {string} path */
const editing = (path) => `"$EDITOR" ${shellCommand([path])}`;

export function DefaultsPart() {
  const { value, problem } = /** @type {import("/page/data/reading.js").Reading<Defaults>} */ (useReading("/defaults"));
  return html`<section class="panel" aria-label=${t("defaults.title")}>
    <h2>${t("defaults.title")}</h2>
    <p class="quiet">${t("defaults.about")}</p>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${value?.problem && html`<p class="problem" role="alert"><${Others} text=${value.problem} /><br /><span class="quiet">${value.hint}</span></p>`}
    ${value && value.options.length > 0 && html`<${Table} options=${value.options} />`}
    ${value && !value.options.length && !value.problem && html`<p>${t("defaults.none")}</p><pre class="example">${EXAMPLE}</pre>`}
    ${value && html`<p class="quiet">${t("defaults.edit")}</p>
      <p class="command"><code>${editing(value.path)}</code><${CopyCommand} command=${editing(value.path)} isBare /></p>`}
  </section>`;
}

/** @param {{ options: Option[] }} props */
function Table({ options }) {
  return html`<table class="plain-table"><tbody>
    ${options.map(
      ({ name, value, help }) => html`<tr key=${name}>
        <th scope="row"><code>${name}</code></th><td class="mono"><${Others} text=${value} /></td><td class="quiet minor">${help}</td>
      </tr>`,
    )}
  </tbody></table>`;
}
