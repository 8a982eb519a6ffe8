// A user's own settings: how the page looks, defaults for jobs, templates and targets of notifications.
import { html } from "/page/lib/preact.js";
import { chooseDensity, chooseTheme, density, theme } from "/page/data/appearance.js";
import { DefaultsPart } from "/page/parts/settings/defaults.js";
import { Targets } from "/page/parts/settings/targets.js";
import { Templates } from "/page/parts/settings/templates.js";
import { language, speak, t } from "/page/words/words.js";
import "/page/words/rooms/settings.js";

export function Settings() {
  return html`<div class="panels">
    <h1 class="unseen">${t("view.settings")}</h1>
    <${Appearance} />
    <${DefaultsPart} />
    <${Templates} />
    <${Targets} />
  </div>`;
}

function Appearance() {
  return html`<section class="panel" aria-label=${t("page.title")}>
    <h2>${t("page.title")}</h2>
    <p class="quiet">${t("page.about")}</p>
    <div class="choices-of-page">
      <${Choice} label=${t("page.theme")} value=${theme.value} values=${["", "light", "dark"]} word="page.theme" choose=${chooseTheme} />
      <${Choice} label=${t("page.language")} value=${language.value} values=${["en", "zh"]} word="page.language" choose=${speak} />
      <${Choice} label=${t("page.density")} value=${density.value} values=${["", "dense"]} word="page.density" choose=${chooseDensity} />
    </div>
  </section>`;
}

/** @param {{ label: string, value: string, values: string[], word: string, choose: (value: string) => void }} props */
function Choice({ label, value, values, word, choose }) {
  return html`<label class="stacked">${label}
    <select class="field" value=${value} onChange=${(/** @type {any} */ event) => choose(event.target.value)}>
      ${values.map((one) => html`<option value=${one}>${t(`${word}.${one || "default"}`)}</option>`)}
    </select></label>`;
}
