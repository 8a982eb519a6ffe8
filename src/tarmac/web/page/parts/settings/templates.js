// The user's templates: options of a job under a name.
import { html } from "/page/lib/preact.js";
import { useDraft } from "/page/data/drafts.js";
import { put, remove } from "/page/data/http.js";
import { useReading } from "/page/data/reading.js";
import { Ago, Others } from "/page/parts/bits.js";
import { CommandButton } from "/page/parts/command_button.js";
import { confirm } from "/page/parts/dialog.js";
import { shellCommand } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/** @typedef {{ name: string, form: Record<string, unknown>, job: number | null, saved_at: string }} Template */

/** An option as one types it: `gpu-mem 8G`. @param {string} name @param {unknown} value */
function shown(name, value) {
  const flag = name.replaceAll("_", "-");
  return value === true ? flag : `${flag} ${Array.isArray(value) ? value.join(",") : value}`;
}

export function Templates() {
  const list = /** @type {import("/page/data/reading.js").Reading<{ templates: Template[] }>} */ (useReading("/templates"));
  return html`<section class="panel" aria-label=${t("templates.title")}>
    <h2>${t("templates.title")}</h2>
    <p class="quiet">${t("templates.about")}</p>
    ${list.problem && html`<p class="problem" role="alert">${list.problem}</p>`}
    ${list.value && !list.value.templates.length && html`<p>${t("templates.none")}</p>`}
    <ul class="plain-rows">${list.value?.templates.map((one) => html`<${Row} key=${one.name} template=${one} again=${list.again} />`)}</ul>
    <${Save} again=${list.again} />
  </section>`;
}

/** @param {{ template: Template, again: () => void }} props */
function Row({ template, again }) {
  const { name, form, job, saved_at } = template;
  const command = shellCommand(["tarmac", "template", "rm", name]);
  const run = async () => {
    const text = [t("templates.remove_text")];
    if (!(await confirm({ title: t("templates.remove_title", { name }), text, action: t("templates.remove"), command, isDanger: true }))) return null;
    await remove(`/templates/${encodeURIComponent(name)}`);
    again();
    return { text: t("templates.did_remove", { name }) };
  };
  return html`<li>
    <b class="what"><${Others} text=${name} /></b>
    <span class="mono"><${Others} text=${Object.entries(form).map(([key, value]) => shown(key, value)).join(" · ") || "–"} />
      <span class="quiet"> ${job !== null && html`${t("templates.of")} <a href=${`/jobs/${job}`}>#${job}</a>`} <${Ago} at=${saved_at} /></span></span>
    <${CommandButton} label=${t("templates.remove")} command=${command} run=${run} />
  </li>`;
}

/** @param {{ again: () => void }} props */
function Save({ again }) {
  const [name, setName, dropName] = useDraft("template.name");
  const [job, setJob, dropJob] = useDraft("template.job");
  const run = async () => {
    await put(`/templates/${encodeURIComponent(name.trim())}`, { job: job.trim().replace("#", "") });
    dropName();
    dropJob();
    again();
    return { text: t("templates.did_save", { name: name.trim() }) };
  };
  return html`<div class="inline-form">
    <label>${t("templates.name")} <input class="field" value=${name} maxlength="100" onInput=${(/** @type {any} */ event) => setName(event.target.value)} /></label>
    <label>${t("templates.job")} <input class="field narrow" value=${job} inputmode="numeric" placeholder="7" onInput=${(/** @type {any} */ event) => setJob(event.target.value)} /></label>
    <${CommandButton} label=${t("save")} isOff=${!name.trim() || !job.trim()} command=${shellCommand(["tarmac", "template", "save", name.trim() || "NAME", job.trim() || "JOB"])} run=${run} />
  </div>`;
}
