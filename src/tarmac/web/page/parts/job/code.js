// The code that a job runs: commit, branch, what was not committed, and what differs from another job.
import { html, useState } from "/page/lib/preact.js";
import { queryText } from "/page/data/http.js";
import { useReading } from "/page/data/reading.js";
import { CopyCommand, Others } from "/page/parts/bits.js";
import { query, setQuery } from "/page/router/router.js";
import { visible } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {import("/page/parts/job/facts.js").WholeJob} WholeJob
 * @typedef {{ path: string, change: string, lines: string[] }} FileDiff
 * @typedef {{ before: number, after: number, files: FileDiff[], more_files: number, cut: boolean }} Diff
 */

/** @param {{ job: WholeJob }} props */
export function Code({ job }) {
  const { snapshot } = job;
  const chosen = query.value.get("diff") ?? "";
  const [text, setText] = useState(chosen || String(job.rerun_of ?? job.clone_of ?? ""));
  if (!snapshot) return null;
  const compare = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (/^\d+$/.test(text)) setQuery({ diff: text }, { isStep: true });
  };
  return html`<section class="code" aria-label=${t("code")}>
    <h2>${t("code")}</h2>
    <dl>
      ${snapshot.commit && html`<dt>${t("code.commit")}</dt><dd><code>${snapshot.commit.slice(0, 12)}</code></dd>`}
      ${snapshot.branch && html`<dt>${t("code.branch")}</dt><dd><${Others} text=${snapshot.branch} /></dd>`}
      ${snapshot.commit && html`<dt></dt><dd>${snapshot.changed ? t("code.changed", { n: snapshot.changed }) : t("code.clean")}</dd>`}
      <dt>${t("code.from")}</dt><dd><code><${Others} text=${snapshot.root} /></code></dd>
    </dl>
    <form class="position" onSubmit=${compare}>
      <label>${t("code.compare")} <input class="field" inputmode="numeric" size="6" value=${text}
        onInput=${(/** @type {any} */ event) => setText(event.target.value.trim())} /></label>
      <button class="button">${t("code.show")}</button>
      ${/^\d+$/.test(text) && html`<${CopyCommand} command=${`tarmac diff ${text} ${job.id}`} isBare />`}
    </form>
    ${chosen && html`<${Difference} key=${chosen} job=${job.id} other=${chosen} />`}
  </section>`;
}

/** @param {{ job: number, other: string }} props */
function Difference({ job, other }) {
  const { value: diff, problem } = /** @type {import("/page/data/reading.js").Reading<Diff>} */ (
    useReading(`/jobs/${job}/diff${queryText({ other })}`)
  );
  if (problem) return html`<p class="notice bad"><${Others} text=${problem} /></p>`;
  if (!diff) return null;
  const { before, after, files } = diff;
  if (!files.length) return html`<p class="quiet">${t("code.same", { before, after })}</p>`;
  return html`<div class="diff">
    <p>${t("code.differs", { n: files.length + diff.more_files, before })}</p>
    ${files.map(
      (file) => html`<details key=${file.path} open=${files.length <= 5}>
        <summary><code><${Others} text=${file.path} /></code> <span class="quiet">${t(`change.${file.change}`)}</span></summary>
        <pre tabindex="0" aria-label=${visible(file.path)}>${file.lines.map((line) => html`<span data-kind=${kindOf(line)}>${line.split("\t").map(visible).join("\t")}${"\n"}</span>`)}</pre>
      </details>`,
    )}
    ${(diff.cut || diff.more_files > 0) && html`<p class="quiet">${t("code.cut", { command: `tarmac diff ${before} ${after}` })}</p>`}
  </div>`;
}

/** @param {string} line */
function kindOf(line) {
  if (/^(\+\+\+|---|@@|new |old |deleted |Binary )/.test(line)) return "head";
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same";
}
