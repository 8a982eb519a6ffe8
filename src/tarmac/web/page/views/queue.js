// The queue: running and waiting jobs, filtered and folded, with actions on a selection.
import { html, useEffect, useMemo, useRef } from "/page/lib/preact.js";
import { effect, signal } from "/page/lib/signals.js";
import { isLoaded, isLoadingMore, jobs, jobsVersion, orderVersion } from "/page/data/store.js";
import { ACTIONS, ActionButton, move } from "/page/parts/job/actions.js";
import { CopyCommand, Empty } from "/page/parts/bits.js";
import { Icon } from "/page/parts/icons.js";
import { isTyping } from "/page/parts/keyboard.js";
import { isDense, shownColumns, template } from "/page/parts/queue/columns.js";
import { DropLine, useDrag } from "/page/parts/queue/drag.js";
import { Filters } from "/page/parts/queue/filters.js";
import { HeadRow, Row } from "/page/parts/queue/row.js";
import { hideWhy, WhyTip } from "/page/parts/queue/why.js";
import { useRows } from "/page/parts/queue/visible_rows.js";
import { go, query, setQuery } from "/page/router/router.js";
import { folded, idsOf, matching, prepareTexts, sorted } from "/page/parts/queue/items.js";
import { whole } from "/page/words/format.js";
import { t } from "/page/words/words.js";
import "/page/words/rooms/queue.js";

/** @typedef {import("/page/parts/queue/items.js").Item} Item */

const ROW = 40;
const DENSE_ROW = 32;
const ROW_ON_PHONE = 58;
const BULK = ["kill", "hold", "release", "retry"];

/** Ids of the selected jobs. They stay while the controller restarts, and while another view is shown. */
const selected = signal(/** @type {Set<number>} */ (new Set()));
const cursor = signal("");
const isNarrow = signal(matchMedia("(width < 860px)").matches);
matchMedia("(width < 860px)").addEventListener("change", (event) => (isNarrow.value = event.matches));
let scrolledTo = { search: "", offset: 0 }; // to come back to from a job

effect(() => {
  orderVersion.value;
  const gone = [...selected.peek()].filter((id) => !jobs.has(id));
  if (gone.length) selected.value = new Set([...selected.peek()].filter((id) => jobs.has(id)));
});

/** @param {number[]} ids @param {boolean} isOn */
function select(ids, isOn) {
  const next = new Set(selected.value);
  for (const id of ids) {
    if (isOn) next.add(id);
    else next.delete(id);
  }
  selected.value = next;
}

/** @param {Item} item */
const isSelected = (item) => idsOf(item).every((id) => selected.value.has(id));

const FILTERED_BY = /** @type {const} */ (["state", "owner", "project", "tag", "node", "text"]);
const LIVE = ["progress", "when", "elapsed", "memory"]; // columns whose values change without a change of place

function useItems() {
  const wanted = query.value;
  const by = wanted.get("sort") ?? "";
  const version = LIVE.includes(by.replace("-", "")) ? jobsVersion.value : orderVersion.value;
  const values = FILTERED_BY.map((name) => wanted.get(name) ?? "");
  const before = useRef(/** @type {import("/page/data/types.js").Job[]} */ ([]));
  const found = useMemo(() => {
    const filter = /** @type {any} */ (Object.fromEntries(FILTERED_BY.map((name, at) => [name, values[at]])));
    return (before.current = sorted(matching(filter), by, before.current));
  }, [version, ...values, by]);
  const open = wanted.get("open") ?? "";
  const items = useMemo(() => folded(found, new Set(open.split(",").map(Number))), [found, open]);
  return { found, items };
}

/** @param {number} id */
function toggleGroup(id) {
  const open = new Set((query.value.get("open") ?? "").split(",").filter(Boolean));
  if (!open.delete(String(id))) open.add(String(id));
  setQuery({ open: [...open].join(",") });
}

export function Queue() {
  const { found, items } = useItems();
  useEffect(() => (isLoadingMore.value ? undefined : prepareTexts()), [isLoadingMore.value]);
  if (!isLoaded.value) return null;
  return html`<div class="queue">
    <h1 class="unseen">${t("view.queue")}</h1>
    <${Filters} count=${found.length} />
    ${items.length ? html`<${List} items=${items} />` : html`<${Nothing} />`}
    <${Selection} />
    <${WhyTip} />
  </div>`;
}

function Nothing() {
  if (jobs.size && FILTERED_BY.some((name) => query.value.has(name))) {
    return html`<${Empty} title=${t("queue.no_match")}><a class="button" href="/queue">${t("queue.show_all")}</a><//>`;
  }
  return html`<${Empty} title=${jobs.size ? t("queue.none") : t("jobs.none")}>
    <p class="command"><code>tarmac add python train.py</code><${CopyCommand} command="tarmac add python train.py" isBare /></p>
    <a class="button" href="/new">${t("new_job")}</a>
  <//>`;
}

/** @param {{ items: Item[] }} props */
function List({ items }) {
  const ref = useRef(/** @type {HTMLDivElement | null} */ (null));
  const search = location.search;
  const height = isNarrow.value ? ROW_ON_PHONE : isDense() ? DENSE_ROW : ROW;
  const columns = shownColumns();
  const rows = useRows(ref, items.length, height, scrolledTo.search === search ? scrolledTo.offset : 0);
  const latest = useRef({ items, rows, height, search });
  latest.current = { items, rows, height, search };
  useDrag(ref, latest);

  useEffect(() => {
    const element = ref.current;
    element?.addEventListener("scroll", hideWhy, { passive: true });
    return () => {
      scrolledTo = { search: latest.current.search, offset: latest.current.rows.offset };
      element?.removeEventListener("scroll", hideWhy);
    };
  }, []);
  useEffect(() => {
    const onKey = (/** @type {KeyboardEvent} */ event) =>
      moved(event, latest.current.items) || (!isTyping(event) && pressed(event, latest.current, ref.current));
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);

  jobsVersion.value; // rows show progress
  const areAll = useMemo(() => items.length > 0 && items.every(isSelected), [items, selected.value]);
  const all = () => items.flatMap(idsOf);
  return html`<div class="list" ref=${ref} role="grid" aria-label=${t("view.queue")} aria-rowcount=${items.length + 1} aria-multiselectable="true" style=${{ "--columns": template(columns) }}>
    <${HeadRow} areAll=${areAll} columns=${columns} onAll=${() => select(all(), !areAll)} />
    <div class="rows" role="rowgroup" style=${{ height: `${rows.height}px` }}>
      ${rows.visible.map((/** @type {{ index: number, start: number }} */ { index, start }) => {
        const item = items[index];
        return (
          item &&
          html`<${Row} key=${item.key} item=${item} index=${index} top=${start} height=${height} columns=${columns}
          isSelected=${isSelected(item)} isCursor=${cursor.value === item.key || (!cursor.value && index === 0)}
          onFocus=${() => (cursor.value = item.key)} onSelect=${(/** @type {boolean} */ isOn) => select(idsOf(item), isOn)}
          onToggle=${() => item.kind === "group" && toggleGroup(item.id)} />`
        );
      })}
      <${DropLine} height=${height} />
    </div>
  </div>`;
}

/** Alt and an arrow move the job under the cursor. @param {KeyboardEvent} event @param {Item[]} items */
function moved(event, items) {
  const step = event.altKey && { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const item = items.find((one) => one.key === cursor.value);
  if (!step || item?.kind !== "job") return false;
  event.preventDefault();
  const job = jobs.get(item.job.id);
  if (job?.position) void move(job, job.position + step);
  return true;
}

/** @param {KeyboardEvent} event @param {{ items: Item[], rows: any }} list @param {HTMLElement | null} element */
function pressed(event, { items, rows }, element) {
  const at = items.findIndex((item) => item.key === cursor.value);
  const item = items[at];
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (step !== undefined) {
    event.preventDefault();
    const next = Math.min(items.length - 1, Math.max(0, at + step));
    cursor.value = items[next].key;
    rows.scrollTo(next);
    requestAnimationFrame(() =>
      /** @type {HTMLElement | null} */ (element?.querySelector(`[data-index="${next}"]`))?.focus(),
    );
  } else if (event.key === "x" && item) select(idsOf(item), !isSelected(item));
  else if (event.key === "Escape") {
    selected.value = new Set();
    hideWhy();
  } else if (event.key === "Enter" && item && /** @type {HTMLElement} */ (event.target).matches(".row, body")) {
    if (item.kind === "group") toggleGroup(item.id);
    else go(`/jobs/${item.job.id}`);
  }
}

function Selection() {
  jobsVersion.value;
  if (!selected.value.size) return null;
  const chosen = [...selected.value].map((id) => jobs.get(id)).filter((job) => job !== undefined);
  return html`<div class="selection" role="toolbar" aria-label=${t("selection")}>
    <b>${t("selected", { n: chosen.length, jobs: whole(chosen.length) })}</b>
    ${BULK.filter((name) => chosen.some(ACTIONS[name].applies)).map((name) => html`<${ActionButton} key=${name} action=${ACTIONS[name]} jobs=${chosen} />`)}
    <span class="fill"></span>
    <button type="button" class="button bare" aria-label=${t("clear_selection")} title=${t("clear_selection")}
      onClick=${() => (selected.value = new Set())}><${Icon} name="close" /></button>
  </div>`;
}
