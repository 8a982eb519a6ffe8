// What a form would do: its command line, when it would start, what is wrong with all of it, and its jobs.
import { html } from "/page/lib/preact.js";
import { CopyCommand, Others } from "/page/parts/bits.js";
import { placed } from "/page/parts/form/fields.js";
import { clock, whole } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {import("/page/parts/form/check.js").Answer} Answer
 * @typedef {import("/page/parts/form/check.js").Mistake} Mistake
 * @typedef {import("/page/parts/form/check.js").Start} Start
 */

/** @param {{ start: Start, count: number }} props */
function StartLines({ start, count }) {
  const at = start.estimated_start;
  const title = !start.reasons.length
    ? t("form.at_once")
    : at
      ? t("form.starts", { at: clock(at), basis: start.estimate_basis ?? "" })
      : t("form.waits");
  return html`<div class="form-start">
    <p>${count > 1 ? t("form.first_of", { n: whole(count) }) : ""} ${title}</p>
    ${start.reasons.length > 0 && html`<ul>${start.reasons.map((line) => html`<li class="quiet"><${Others} text=${line} /></li>`)}</ul>`}
  </div>`;
}

/** @param {{ answer: Answer | null, isCurrent: boolean, isAway: boolean, general: Mistake[], others: number, children?: unknown }} props */
export function Outcome({ answer, isCurrent, isAway, general, others, children }) {
  return html`<section class="form-outcome" aria-label=${t("form.outcome")}>
    <h2>${t("form.outcome")}</h2>
    ${answer?.command_line && html`<div class="command form-command"><code><${Others} text=${answer.command_line} /></code><${CopyCommand} command=${answer.command_line} isBare /></div>`}
    <div aria-live="polite" class="form-verdict" data-current=${isCurrent}>
      ${isAway && html`<p class="warning">${t("form.away")}</p>`}
      ${answer?.start && html`<${StartLines} start=${answer.start} count=${answer.count} />`}
      ${answer?.hints.map((hint) => html`<p class="quiet"><${Others} text=${hint} /></p>`)}
      ${others > 0 && html`<p class="wrong">${t("form.mistakes", { n: others })}</p>`}
      ${general.map((one) => html`<p class="wrong"><${Others} text=${placed(one)} />${one.hint && html` <span class="quiet"><${Others} text=${one.hint} /></span>`}</p>`)}
      ${answer?.more_mistakes ? html`<p class="wrong">${t("form.more", { n: whole(answer.more_mistakes) })}</p>` : ""}
    </div>
    ${children}
  </section>`;
}

/** Every command as it is split. @param {{ answer: Answer | null }} props */
export function Preview({ answer }) {
  const jobs = answer?.jobs ?? [];
  return html`<section class="form-preview" aria-label=${t("form.preview")}>
    <h2>${t("form.preview")} ${answer && jobs.length > 0 && html`<span class="quiet">${t("form.count", { n: answer.count })}</span>`}</h2>
    ${
      jobs.length > 0 &&
      html`<ol tabindex="0" aria-label=${t("form.preview")}>${jobs.map(
        (job, i) => html`<li key=${i}><span class="number quiet">${job.line ?? i + 1}</span> <code><${Others} text=${job.command} /></code></li>`,
      )}</ol>`
    }
    ${answer && answer.count > jobs.length && jobs.length > 0 && html`<p class="quiet">${t("form.more", { n: whole(answer.count - jobs.length) })}</p>`}
  </section>`;
}
