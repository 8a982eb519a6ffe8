// A row of the queue: a job, or a group of jobs folded into one.
import { html, useRef } from "/page/lib/preact.js";
import { groups, isAtWork, isEnded, jobs } from "/page/data/store.js";
import { Ago, elapsed, Others, Progress } from "/page/parts/bits.js";
import { Icon } from "/page/parts/icons.js";
import { gpusOf, nameOf, reasonOf, When } from "/page/parts/job/names.js";
import { State, StateStrip } from "/page/parts/state.js";
import { explained, hideWhy, showWhy } from "/page/parts/queue/why.js";
import { go, query, setQuery } from "/page/router/router.js";
import { COLUMNS, shownColumns } from "/page/parts/queue/columns.js";
import { useDraggable } from "/page/parts/queue/drag.js";
import { countsOf } from "/page/parts/queue/items.js";
import { commandText, duration, size, visible } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/** @typedef {import("/page/parts/queue/items.js").Item} Item */

/** The heads of the columns; each click on one sorts, turns the order round, then returns to the queue's own. @param {{ areAll: boolean, columns: string[], onAll: () => void }} props */
export function HeadRow({ areAll, columns, onAll }) {
  const by = query.value.get("sort") ?? "";
  const next = (/** @type {string} */ name) => (by === name ? `-${name}` : by === `-${name}` ? null : name);
  const sortOf = (/** @type {string} */ name) =>
    by === name ? "ascending" : by === `-${name}` ? "descending" : undefined;
  return html`<div role="rowgroup"><div class="row head" role="row" aria-rowindex="1">
    <span role="columnheader"><input type="checkbox" aria-label=${t("select_all")} checked=${areAll} onChange=${onAll} /></span>
    ${columns.map(
      (name) => html`<span role="columnheader" key=${name} class=${COLUMNS[name].isNumber ? "number" : ""} aria-sort=${sortOf(name)}>
        <button type="button" onClick=${() => setQuery({ sort: next(name) }, { isStep: true })}>${t(`column.${name}`)}
          ${sortOf(name) && html`<${Icon} name=${sortOf(name) === "ascending" ? "up" : "down"} />`}</button>
      </span>`,
    )}
  </div></div>`;
}

/**
 * @param {{
 *   item: Item, index: number, top: number, height: number, columns: string[], isSelected: boolean,
 *   isCursor: boolean, onFocus: () => void, onSelect: (isOn: boolean) => void, onToggle: () => void,
 * }} props
 */
export function Row({ item, index, top, height, columns, isSelected, isCursor, onFocus, onSelect, onToggle }) {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  const job = item.kind === "job" ? (jobs.get(item.job.id) ?? item.job) : null;
  const isDraggable = useDraggable(ref, job);
  const explains = job !== null && !isAtWork(job) && !isEnded(job);
  const enter = (/** @type {any} */ event) => explains && job && showWhy(job.id, event.currentTarget);
  const onClick = (/** @type {MouseEvent} */ event) => {
    if (/** @type {Element} */ (event.target).closest("a, button, input") || getSelection()?.toString()) return;
    if (job) go(`/jobs/${job.id}`);
    else onToggle();
  };
  return html`<div ref=${ref} class="row row-${item.kind}" role="row" data-draggable=${isDraggable} aria-rowindex=${index + 2} aria-selected=${isSelected} data-index=${index}
    data-in-group=${item.kind === "job" && item.isInGroup} tabindex=${isCursor ? 0 : -1}
    aria-describedby=${job && explained.value?.id === job.id ? "why" : undefined}
    style=${{ transform: `translateY(${top}px)`, height: `${height}px` }} onClick=${onClick}
    onFocus=${(/** @type {any} */ event) => (onFocus(), enter(event))} onBlur=${hideWhy} onMouseEnter=${enter} onMouseLeave=${hideWhy}>
    <span role="gridcell"><input type="checkbox" tabindex="-1" checked=${isSelected}
      aria-label=${t("select", { id: job ? job.id : item.kind === "group" ? item.id : 0 })}
      onChange=${(/** @type {any} */ event) => onSelect(event.target.checked)} /></span>
    ${item.kind === "group" ? html`<${GroupCells} item=${item} columns=${columns} onToggle=${onToggle} />` : html`<${JobCells} job=${job} columns=${columns} />`}
  </div>`;
}

/** @typedef {import("/page/data/types.js").Job} Job */

/** What each column shows of a job. @type {Record<string, (job: Job) => unknown>} */
const CELLS = {
  state: (job) => html`<${State} state=${job.state} />`,
  id: (job) => html`<a href=${`/jobs/${job.id}`} tabindex="-1">${job.id}</a>`,
  name: (job) => html`<${Name} job=${job} />`,
  owner: (job) => html`<${Others} text=${job.owner} />`,
  gpus: gpusOf,
  progress: (job) => html`<${Far} job=${job} />`,
  when: (job) => html`<${When} job=${job} />`,
  command: (job) => html`<${Middle} text=${visible(commandText(job.command))} />`,
  position: (job) => job.position,
  priority: (job) => job.priority,
  elapsed: (job) => job.elapsed_s !== null && duration(elapsed(job) ?? 0),
  submitted: (job) => html`<${Ago} at=${job.submitted_at} />`,
  node: (job) => job.node && html`<${Others} text=${job.node} />`,
  project: (job) => job.project && html`<${Others} text=${job.project} />`,
  tags: (job) => html`<${Tags} job=${job} />`,
  memory: (job) => job.peak_gpu_memory_bytes && size(job.peak_gpu_memory_bytes),
  attempt: (job) => (job.attempts_max ? `${job.attempt}/${job.attempts_max}` : job.attempt),
};

/** @type {Record<string, string>} */
const CLASSES = {
  state: "state-cell",
  id: "id number",
  name: "name cut",
  progress: "progress-cell",
  when: "when number quiet",
  command: "command-cell mono quiet",
  submitted: "number quiet",
};

/** @param {string} name */
const classOf = (name) => CLASSES[name] ?? `${name} ${COLUMNS[name].isNumber ? "number" : "cut"}`;

/** @param {{ job: Job, columns: string[] }} props */
function JobCells({ job, columns }) {
  const hasTime = Boolean(job.started_at || job.ended_at || job.estimated_start || job.waits_for?.length);
  return columns.map((name, at) => {
    const isWide = name === "progress" && !hasTime && columns[at + 1] === "when";
    if (name === "when" && !hasTime && columns[at - 1] === "progress") return null;
    return html`<span role="gridcell" key=${name} class="${classOf(name)} ${isWide ? "wide" : ""}" aria-colspan=${isWide ? 2 : undefined}
      title=${name === "command" ? visible(commandText(job.command)) : undefined}>${CELLS[name](job)}</span>`;
  });
}

/** @param {{ job: Job }} props */
function Name({ job }) {
  const name = nameOf(job);
  return html`${name ? html`<${Others} text=${name} />` : html`<span class="quiet mono">${visible(commandText(job.command))}</span>`}
    ${!shownColumns().includes("tags") && html`<${Tags} job=${job} />`}`;
}

/** @param {{ job: Job }} props */
function Tags({ job }) {
  return (job.tags ?? []).map((tag) => html` <span class="tag"><${Others} text=${tag} /></span>`);
}

/** How far it is, or why it is not. @param {{ job: Job }} props */
function Far({ job }) {
  if (job.progress && isAtWork(job)) return html`<${Progress} job=${job} />`;
  const time = elapsed(job);
  return html`<span class="cut quiet">${reasonOf(job) || (time !== null ? duration(time) : waitsFor(job))}</span>`;
}

/** @param {import("/page/data/types.js").Job} job */
function waitsFor(job) {
  return job.state === "queued" && job.reason ? visible(job.reason) : "";
}

const SHORT = 14;

/** Text that loses its middle, not its end, if the room is too small. @param {{ text: string }} props */
function Middle({ text }) {
  if (text.length <= SHORT * 3) return html`<span class="cut">${text}</span>`;
  return html`<span class="cut">${text.slice(0, -SHORT)}</span><span class="end">${text.slice(-SHORT)}</span>`;
}

/** @typedef {import("/page/parts/queue/items.js").GroupItem} GroupItem */

/** What each column shows of a group; the others are empty. @type {Record<string, (item: GroupItem, onToggle: () => void) => unknown>} */
const GROUP_CELLS = {
  state: (item, onToggle) => html`<button type="button" class="fold" tabindex="-1" aria-expanded=${item.isOpen}
    title=${t(item.isOpen ? "fold" : "unfold")} onClick=${onToggle}><${Icon} name=${item.isOpen ? "unfold" : "fold"} /> ${t(`group.${groups.value.get(item.id)?.kind ?? "sweep"}`)}</button>`,
  id: (item) => html`<a href=${`/groups/${item.id}`} tabindex="-1">${item.id}</a>`,
  name: (item) => html`<${Others} text=${groups.value.get(item.id)?.name ?? item.jobs[0].name ?? ""} />${" "}
    <span class="quiet"><${Others} text=${groups.value.get(item.id)?.varies ?? ""} /></span>`,
  owner: (item) => html`<${Others} text=${item.jobs[0].owner} />`,
  gpus: (item) => `${totalOf(item)} ×`,
  progress: (item) => html`<${StateStrip} counts=${countsOf(item)} />`,
  when: (item) => t("group.ended", { ended: groups.value.get(item.id)?.ended ?? 0, total: totalOf(item) }),
  command: (item) => html`<${Middle} text=${visible(groups.value.get(item.id)?.command ?? commandText(item.jobs[0].command))} />`,
  project: (item) => item.jobs[0].project && html`<${Others} text=${item.jobs[0].project} />`,
};

/** @param {GroupItem} item */
const totalOf = (item) => groups.value.get(item.id)?.count ?? item.jobs.length;

/** @param {{ item: GroupItem, columns: string[], onToggle: () => void }} props */
function GroupCells({ item, columns, onToggle }) {
  return columns.map(
    (name) => html`<span role="gridcell" key=${name} class=${classOf(name)}>${GROUP_CELLS[name]?.(item, onToggle)}</span>`,
  );
}
