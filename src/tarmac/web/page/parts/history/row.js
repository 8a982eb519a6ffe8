// The head of the history and its rows, one for each ended job.
import { html } from "/page/lib/preact.js";
import { Ago, Others } from "/page/parts/bits.js";
import { gpusOf, nameOf, reasonOf } from "/page/parts/job/names.js";
import { State } from "/page/parts/state.js";
import { go } from "/page/router/router.js";
import { commandText, duration, size } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/** @typedef {import("/page/data/types.js").Job} Job */

/** @param {{ areAll: boolean, onAll: () => void }} props */
export function EndedHead({ areAll, onAll }) {
  return html`<div role="rowgroup"><div class="ended-row head" role="row" aria-rowindex="1">
    <span role="columnheader"><input type="checkbox" aria-label=${t("select_all")} checked=${areAll} onChange=${onAll} /></span>
    <span role="columnheader">${t("column.state")}</span>
    <span role="columnheader" class="number minor">${t("column.id")}</span>
    <span role="columnheader">${t("column.name")}</span>
    <span role="columnheader" class="minor">${t("column.owner")}</span>
    <span role="columnheader" class="minor number">${t("column.gpus")}</span>
    <span role="columnheader" class="minor number">${t("fact.peak")}</span>
    <span role="columnheader" class="minor number">${t("fact.ran")}</span>
    <span role="columnheader" class="number">${t("fact.ended")}</span>
  </div></div>`;
}

/**
 * @param {{
 *   job: Job, index: number, top: number, height: number, isSelected: boolean, isCursor: boolean,
 *   onFocus: () => void, onSelect: (isOn: boolean) => void,
 * }} props
 */
export function EndedRow({ job, index, top, height, isSelected, isCursor, onFocus, onSelect }) {
  const onClick = (/** @type {MouseEvent} */ event) => {
    if (/** @type {Element} */ (event.target).closest("a, button, input") || getSelection()?.toString()) return;
    go(`/jobs/${job.id}`);
  };
  return html`<div class="ended-row" role="row" aria-rowindex=${index + 2} aria-selected=${isSelected} data-index=${index}
    tabindex=${isCursor ? 0 : -1} style=${{ transform: `translateY(${top}px)`, height: `${height}px` }} onClick=${onClick} onFocus=${onFocus}>
    <span role="gridcell"><input type="checkbox" tabindex="-1" checked=${isSelected} aria-label=${t("select", { id: job.id })}
      onChange=${(/** @type {any} */ event) => onSelect(event.target.checked)} /></span>
    <span role="gridcell"><${State} state=${job.state} /></span>
    <span role="gridcell" class="number minor quiet">${job.id}</span>
    <span role="gridcell" class="cut"><a href=${`/jobs/${job.id}`} tabindex="-1"><${Others} text=${nameOf(job) || commandText(job.command)} /></a>
      ${job.group !== null && html` <a class="tag" href=${`/groups/${job.group}`} tabindex="-1">${t("group", { id: job.group })}</a>`}
      ${(job.tags ?? []).map((tag) => html` <span class="tag"><${Others} text=${tag} /></span>`)}
      <span class="reason"> ${reasonOf(job)}</span></span>
    <span role="gridcell" class="minor cut"><${Others} text=${job.owner} /></span>
    <span role="gridcell" class="minor number">${gpusOf(job)}</span>
    <span role="gridcell" class="minor number">${job.peak_gpu_memory_bytes ? size(job.peak_gpu_memory_bytes) : ""}</span>
    <span role="gridcell" class="minor number">${job.elapsed_s === null ? "" : duration(job.elapsed_s)}</span>
    <span role="gridcell" class="number quiet">${job.ended_at && html`<${Ago} at=${job.ended_at} />`}</span>
  </div>`;
}
