// Rows of jobs and groups of which only the visible ones exist, moved by keys and by dragging, with actions on a selection.
import { html, useEffect, useMemo, useRef } from "/page/lib/preact.js";
import { effect, signal } from "/page/lib/signals.js";
import { jobs, jobsVersion, orderVersion } from "/page/data/store.js";
import { ACTIONS, ActionButton, move } from "/page/parts/job/actions.js";
import { Icon } from "/page/parts/icons.js";
import { isTyping } from "/page/parts/keyboard.js";
import { isDense, shownColumns, template } from "/page/parts/queue/columns.js";
import { DropLine, useDrag } from "/page/parts/queue/drag.js";
import { HeadRow, Row } from "/page/parts/queue/row.js";
import { hideWhy } from "/page/parts/queue/why.js";
import { useRows } from "/page/parts/queue/visible_rows.js";
import { go, query, setQuery } from "/page/router/router.js";
import { idsOf } from "/page/parts/queue/items.js";
import { whole } from "/page/words/format.js";
import { t } from "/page/words/words.js";
import "/page/words/rooms/queue.js";

/** @typedef {import("/page/parts/queue/items.js").Item} Item */

const ROW = 40;
const DENSE_ROW = 32;
const ROW_ON_PHONE = 58;
const HEAD = 32;
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

/** Ids of the groups that are unfolded. */
export const openGroups = () => new Set((query.value.get("open") ?? "").split(",").filter(Boolean).map(Number));

/** @param {number} id */
function toggleGroup(id) {
  const open = openGroups();
  if (!open.delete(id)) open.add(id);
  setQuery({ open: [...open].join(",") });
}

/** `isBounded`: as high as its rows, up to a limit; otherwise it fills the view. @param {{ items: Item[], isBounded?: boolean }} props */
export function JobList({ items, isBounded = false }) {
  const ref = useRef(/** @type {HTMLDivElement | null} */ (null));
  const search = location.pathname + location.search;
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
  const hasCursor = useMemo(() => items.some((item) => item.key === cursor.value), [items, cursor.value]);
  const areAll = useMemo(() => items.length > 0 && items.every(isSelected), [items, selected.value]);
  const all = () => items.flatMap(idsOf);
  return html`<div class="list" ref=${ref} role="grid" aria-label=${t("view.queue")} aria-rowcount=${items.length + 1} aria-multiselectable="true" style=${{ "--columns": template(columns), ...(isBounded && { "--height": `${rows.height + (isNarrow.value ? 0 : HEAD)}px` }) }} data-bounded=${isBounded}>
    <${HeadRow} areAll=${areAll} columns=${columns} onAll=${() => select(all(), !areAll)} />
    <div class="rows" role="rowgroup" style=${{ height: `${rows.height}px` }}>
      ${rows.visible.map((/** @type {{ index: number, start: number }} */ { index, start }) => {
        const item = items[index];
        return (
          item &&
          html`<${Row} key=${item.key} item=${item} index=${index} top=${start} height=${height} columns=${columns}
          isSelected=${isSelected(item)} isCursor=${cursor.value === item.key || (!hasCursor && index === 0)}
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

/** `items`: count only the jobs of these; others may be selected in another view. @param {{ items?: Item[] | null }} props */
export function Selection({ items = null }) {
  jobsVersion.value;
  if (!selected.value.size) return null;
  const meant = items && new Set(items.flatMap(idsOf));
  const some = [...selected.value].filter((id) => !meant || meant.has(id));
  const chosen = some.map((id) => jobs.get(id)).filter((job) => job !== undefined);
  if (!chosen.length) return null;
  return html`<div class="selection" role="toolbar" aria-label=${t("selection")}>
    <b>${t("selected", { n: chosen.length, jobs: whole(chosen.length) })}</b>
    ${BULK.filter((name) => chosen.some(ACTIONS[name].applies)).map((name) => html`<${ActionButton} key=${name} action=${ACTIONS[name]} jobs=${chosen} />`)}
    <span class="fill"></span>
    <button type="button" class="button bare" aria-label=${t("clear_selection")} title=${t("clear_selection")}
      onClick=${() => (selected.value = new Set())}><${Icon} name="close" /></button>
  </div>`;
}
