// Targets of notifications, without their secrets: what waits for each, what failed, and a test.
import { html, useState } from "/page/lib/preact.js";
import { post } from "/page/data/http.js";
import { useReading } from "/page/data/reading.js";
import { CopyCommand, Others } from "/page/parts/bits.js";
import { Icon } from "/page/parts/icons.js";
import { shellCommand } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {{
 *   name: string, owner: string | null, url: string | null, default: boolean, waiting: number, failed: number,
 *   error: string | null,
 * }} Target
 */

const EXAMPLE = '[notify.targets]\nmail = "mailtos://user:password@example.org"\nslack = "slack://TokenA/TokenB/TokenC"';

export function Targets() {
  const list = /** @type {import("/page/data/reading.js").Reading<{ targets: Target[], installed: boolean }>} */ (
    useReading("/notify")
  );
  return html`<section class="panel" aria-label=${t("targets.title")}>
    <h2>${t("targets.title")}</h2>
    <p class="quiet">${t("targets.about")}</p>
    ${list.problem && html`<p class="problem" role="alert">${list.problem}</p>`}
    ${list.value && !list.value.installed && html`<p class="problem">${t("targets.not_installed")}</p>`}
    ${list.value && !list.value.targets.length && html`<p>${t("targets.none")}</p><pre class="example">${EXAMPLE}</pre>`}
    <ul class="plain-rows">${list.value?.targets.map((one) => html`<${Row} key=${`${one.owner}.${one.name}`} target=${one} again=${list.again} />`)}</ul>
  </section>`;
}

/** @param {{ target: Target, again: () => void }} props */
function Row({ target, again }) {
  const [result, setResult] = useState(/** @type {{ error: string | null } | null} */ (null));
  const [isBusy, setBusy] = useState(false);
  const test = async () => {
    setBusy(true);
    try {
      setResult((await post("/notify/test", { targets: [target.name] })).results[0]);
    } catch (error) {
      setResult({ error: /** @type {Error} */ (error).message });
    }
    setBusy(false);
    again();
  };
  return html`<li class="target">
    <span class="what"><b><${Others} text=${target.name} /></b> ${target.default && html`<span class="tag">${t("targets.default")}</span>`}
      <span class="quiet"> ${target.owner === null ? t("targets.everyone") : html`<${Others} text=${target.owner} />`}</span></span>
    <span class="mono"><${Others} text=${target.url ?? t("targets.gone")} />
      ${(target.waiting > 0 || target.failed > 0) && html`<br /><span class="sans">${t("targets.waiting", { waiting: target.waiting, failed: target.failed })}</span>`}
      ${target.error && html`<br /><span class="sans bad"><${Others} text=${target.error} /></span>`}
      <span role="status">${isBusy && html`<br /><span class="sans quiet">${t("targets.sending")}</span>`}
      ${result && !isBusy && html`<br /><span class="sans ${result.error ? "bad" : "good"}"><${Icon} name=${result.error ? "failed" : "succeeded"} /> <${Others} text=${result.error ?? t("targets.accepted")} /></span>`}</span>
    </span>
    <span class="split">
      <button type="button" class="button" disabled=${isBusy || target.url === null} onClick=${test}>${t("targets.test")}<span class="unseen"> ${target.name}</span></button>
      <${CopyCommand} command=${shellCommand(["tarmac", "notify", "test", target.name])} />
    </span>
  </li>`;
}
