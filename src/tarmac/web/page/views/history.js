// Ended jobs, found by words, state, owner, project, tag, node and time. The server searches; the page reads on as the
// list is scrolled, and only visible rows exist.
import { html, useEffect, useRef } from "/page/lib/preact.js";
import { density } from "/page/data/appearance.js";
import { signal } from "/page/lib/signals.js";
import { get } from "/page/data/http.js";
import { usePages } from "/page/data/pages.js";
import { ends } from "/page/data/store.js";
import { resumed } from "/page/data/stream.js";
import { CopyCommand, Empty } from "/page/parts/bits.js";
import { ENDED_ACTIONS, EndedActionButton } from "/page/parts/history/actions.js";
import { EndedHead, EndedRow } from "/page/parts/history/row.js";
import { csvAddress, historyCommand, isFiltered, SPANS, wanted } from "/page/parts/history/wanted.js";
import { Icon } from "/page/parts/icons.js";
import { isTyping } from "/page/parts/keyboard.js";
import { useRows } from "/page/parts/queue/visible_rows.js";
import { go, query, setQuery } from "/page/router/router.js";
import { whole } from "/page/words/format.js";
import { t } from "/page/words/words.js";
import "/page/words/rooms/history.js";

/** @typedef {import("/page/data/types.js").Job} Job */

const PAGE = 100;
const NEXT_PAGE = 200;
const AFTER_MS = 200; // so that typing a word asks once
const AHEAD = 40; // rows before the end at which the next page is read
const ROW = 34;
const DENSE_ROW = 28;
const ROW_ON_PHONE = 46;
const FIELDS =
  "id,name,owner,state,reason,exit_code,signal,tags,gpus_asked,gpus,node,command,started_at,ended_at,elapsed_s,peak_gpu_memory_bytes,group,index,params,attempt";
const STATES = ["", "succeeded", "failed", "cancelled", "unknown"];
const TEXTS = ["owner", "project", "tag", "node"];

const selected = signal(/** @type {Set<number>} */ (new Set()));
const cursor = signal(0);
const isAtTop = signal(true);
const turn = signal(0); // counts up when something was done to jobs
const narrow = matchMedia("(width < 860px)");
const isNarrow = signal(narrow.matches);
narrow.addEventListener("change", (event) => (isNarrow.value = event.matches));
let scrolledTo = { search: "", offset: 0 }; // to come back to from a job

/** @param {any} after @param {AbortSignal} [aborting] */
async function read(after, aborting) {
  const limit = after ? NEXT_PAGE : PAGE;
  const page = await get("/history", { ...wanted(), limit, after, fields: FIELDS }, aborting);
  return { rows: /** @type {Job[]} */ (page.jobs), next: page.next, more: page.unindexed };
}

export function History() {
  const wants = `${query.value}\n${turn.value}`;
  const news = `${ends.value}\n${resumed.value}`;
  const asked = useRef({ wants, news });
  if (isAtTop.value || asked.current.wants !== wants) asked.current = { wants, news }; // who reads further down is left there
  const { found, readOn } = usePages(read, `${wants}\n${asked.current.news}`, AFTER_MS);
  const toTop = () => document.querySelector(".ended")?.scrollTo(0, 0);
  return html`<div class="history">
    <h1 class="unseen">${t("view.history")}</h1>
    <${Filters} count=${found?.rows.length ?? 0} hasMore=${Boolean(found?.next)} />
    ${found?.problem && html`<p class="notice bad">${found.problem}</p>`}
    ${found && Number(found.more) > 0 && html`<p class="notice">${t("history.unindexed", { n: found.more, jobs: whole(found.more) })}</p>`}
    ${asked.current.news !== news && html`<p class="notice">${t("history.newer")} <button type="button" class="button" onClick=${toTop}>${t("history.show_newer")}</button></p>`}
    ${found && !found.rows.length && !found.problem && html`<${Nothing} />`}
    ${found && found.rows.length > 0 && html`<${List} jobs=${found.rows} readOn=${readOn} />`}
    <${Selection} />
  </div>`;
}

function Nothing() {
  if (isFiltered()) {
    return html`<${Empty} title=${t("history.none")}><a class="button" href="/history">${t("queue.show_all")}</a><//>`;
  }
  return html`<${Empty} title=${t("history.empty")}>
    <p class="command"><code>tarmac add python train.py</code><${CopyCommand} command="tarmac add python train.py" isBare /></p>
  <//>`;
}

/** @param {{ count: number, hasMore: boolean }} props */
function Filters({ count, hasMore }) {
  const set = (/** @type {string} */ name) => (/** @type {any} */ event) =>
    setQuery({ [name]: event.target.value }, { isStep: name !== "text" });
  const jobs = t("jobs", { n: count, jobs: whole(count) });
  const command = historyCommand();
  return html`<div class="filters" role="group" aria-label=${t("filters")}>
    <input class="field" type="search" data-search aria-label=${t("history.search")} placeholder=${t("history.search")}
      value=${query.value.get("text") ?? ""} onInput=${set("text")} />
    <select class="field" aria-label=${t("filter.state")} value=${query.value.get("state") ?? ""} onChange=${set("state")}>
      ${STATES.map((state) => html`<option value=${state}>${state ? t(`state.${state}`) : t("filter.all")}</option>`)}
    </select>
    <select class="field" aria-label=${t("history.span")} value=${query.value.get("span") ?? ""} onChange=${set("span")}>
      ${Object.keys(SPANS).map((span) => html`<option value=${span}>${t(`span.${span || "ever"}`)}</option>`)}
    </select>
    ${TEXTS.map(
      (name) => html`<input key=${name} class="field short-field" aria-label=${t(name === "owner" ? "filter.owner" : `history.${name}`)} placeholder=${t(name === "owner" ? "filter.owner" : `history.${name}`)}
        value=${query.value.get(name) ?? ""} onChange=${set(name)} />`,
    )}
    <span class="quiet count-line" role="status">${hasMore ? t("history.more", { jobs }) : jobs}</span>
    <${CopyCommand} command=${command} />
    <a class="button" href=${csvAddress()} download title=${`${command} --csv`}>${t("history.csv")}</a>
  </div>`;
}

/** @param {number[]} ids @param {boolean} isOn */
function select(ids, isOn) {
  const next = new Set(selected.value);
  for (const id of ids) {
    if (isOn) next.add(id);
    else next.delete(id);
  }
  selected.value = next;
}

/** @param {{ jobs: Job[], readOn: () => Promise<void> }} props */
function List({ jobs, readOn }) {
  const ref = useRef(/** @type {HTMLDivElement | null} */ (null));
  const height = isNarrow.value ? ROW_ON_PHONE : density.value ? DENSE_ROW : ROW;
  const rows = useRows(ref, jobs.length, height, scrolledTo.search === location.search ? scrolledTo.offset : 0);
  const last = rows.visible.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= jobs.length - AHEAD) void readOn();
  }, [last, jobs.length]);
  const latest = useRef({ jobs, rows });
  latest.current = { jobs, rows };
  useEffect(() => {
    const keep = () => {
      scrolledTo = { search: location.search, offset: ref.current?.scrollTop ?? 0 };
      isAtTop.value = scrolledTo.offset === 0;
    };
    const onKey = (/** @type {KeyboardEvent} */ event) =>
      !isTyping(event) && pressed(event, latest.current, ref.current);
    const element = ref.current;
    element?.addEventListener("scroll", keep, { passive: true });
    document.addEventListener("keydown", onKey);
    return () => {
      element?.removeEventListener("scroll", keep);
      document.removeEventListener("keydown", onKey);
      isAtTop.value = true;
    };
  }, []);
  const areAll = jobs.every((job) => selected.value.has(job.id));
  const onAll = () =>
    select(
      jobs.map((job) => job.id),
      !areAll,
    );
  return html`<div class="ended list" ref=${ref} role="grid" aria-label=${t("view.history")} aria-rowcount=${jobs.length + 1} aria-multiselectable="true">
    <${EndedHead} areAll=${areAll} onAll=${onAll} />
    <div class="rows" role="rowgroup" style=${{ height: `${rows.height}px` }}>
      ${rows.visible.map((/** @type {{ index: number, start: number }} */ { index, start }) => {
        const job = jobs[index];
        return (
          job &&
          html`<${EndedRow} key=${job.id} job=${job} index=${index} top=${start} height=${height}
            isSelected=${selected.value.has(job.id)} isCursor=${cursor.value === job.id || (!cursor.value && index === 0)}
            onFocus=${() => (cursor.value = job.id)} onSelect=${(/** @type {boolean} */ isOn) => select([job.id], isOn)} />`
        );
      })}
    </div>
  </div>`;
}

/** @param {KeyboardEvent} event @param {{ jobs: Job[], rows: any }} list @param {HTMLElement | null} element */
function pressed(event, { jobs, rows }, element) {
  const at = jobs.findIndex((job) => job.id === cursor.value);
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (step !== undefined) {
    event.preventDefault();
    const next = Math.min(jobs.length - 1, Math.max(0, at + step));
    cursor.value = jobs[next].id;
    rows.scrollTo(next);
    requestAnimationFrame(() =>
      /** @type {HTMLElement | null} */ (element?.querySelector(`[data-index="${next}"]`))?.focus(),
    );
  } else if (event.key === "x" && jobs[at]) select([jobs[at].id], !selected.value.has(jobs[at].id));
  else if (event.key === "Escape") selected.value = new Set();
  else if (event.key === "Enter" && jobs[at] && /** @type {HTMLElement} */ (event.target).matches(".ended-row, body"))
    go(`/jobs/${jobs[at].id}`);
}

function Selection() {
  const ids = [...selected.value];
  if (!ids.length) return null;
  const done = () => {
    selected.value = new Set();
    turn.value += 1;
  };
  return html`<div class="selection" role="toolbar" aria-label=${t("selection")}>
    <b>${t("selected", { n: ids.length, jobs: whole(ids.length) })}</b>
    ${ENDED_ACTIONS.map((action) => html`<${EndedActionButton} key=${action.name} action=${action} ids=${ids} onDone=${done} />`)}
    <span class="fill"></span>
    <button type="button" class="button bare" aria-label=${t("clear_selection")} title=${t("clear_selection")}
      onClick=${() => (selected.value = new Set())}><${Icon} name="close" /></button>
  </div>`;
}
