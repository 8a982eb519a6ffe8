// Reorder by dragging: a row follows the pointer, a line shows where it will land, and the list scrolls at its edges.
import { later } from "/page/lib/later.js";
import { html, useEffect } from "/page/lib/preact.js";
import { signal } from "/page/lib/signals.js";
import { jobs } from "/page/data/store.js";
import { move } from "/page/parts/job/actions.js";
import { mayChange } from "/page/parts/job/rights.js";
import { query } from "/page/router/router.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {import("/page/data/types.js").Job} Job
 * @typedef {import("/page/parts/queue/items.js").Item} Item
 */

const EDGE = 56; // pixels from the edge in which the list scrolls
const FASTEST = 22; // pixels per frame

/** The dragged job, and the place that it would get: before the item with this index. */
const dragged = signal(/** @type {{ id: number, index: number, position: number | null } | null} */ (null));

/** True if the row can be dragged: a queued job that the reader may change, in the order of the queue. @param {Job} job */
export function isMovable(job) {
  return job.state === "queued" && job.position !== null && mayChange(job) && !query.value.get("sort");
}

/** @param {Job} a @param {Job} b */
const areInLine = (a, b) => a.owner === b.owner && a.tier === b.tier && a.state === "queued" && b.state === "queued";

/** The position of the job between the rows `index - 1` and `index`; null if none of its line is near. @param {Job} job @param {Item[]} items @param {number} index */
export function positionAt(job, items, index) {
  const from = job.position ?? 0;
  const placeOf = (/** @type {Item | undefined} */ item, /** @type {boolean} */ isFirst) => {
    if (!item) return null;
    const some = item.kind === "job" ? [item.job] : item.jobs;
    const own = some.filter((one) => areInLine(one, job) && one.id !== job.id).map((one) => one.position ?? 0);
    return own.length ? (isFirst ? Math.min(...own) : Math.max(...own)) : null;
  };
  for (let at = index; at < items.length; at += 1) {
    const place = placeOf(items[at], true);
    if (place !== null) return place > from ? place - 1 : place;
  }
  for (let at = index - 1; at >= 0; at -= 1) {
    const place = placeOf(items[at], false);
    if (place !== null) return place > from ? place : place + 1;
  }
  return null;
}

/**
 * Make rows draggable within the list. Returns nothing: what is dragged is drawn by `DropLine`.
 * @param {{ current: HTMLElement | null }} ref the element that scrolls
 * @param {{ current: { items: Item[], height: number } }} latest
 */
export function useDrag(ref, latest) {
  useEffect(() => {
    let stop = () => {};
    let isGone = false;
    void later(() => import("/page/lib/drag.js")).then((library) => {
      if (!isGone && ref.current) stop = listen(library, ref.current, latest);
    });
    return () => {
      isGone = true;
      stop();
    };
  }, []);
}

/** @param {any} library @param {HTMLElement} list @param {{ current: { items: Item[], height: number } }} latest */
function listen({ dropTargetForElements, monitorForElements }, list, latest) {
  let pointer = 0;
  let frame = 0;
  const aim = () => {
    const { items, height } = latest.current;
    const rows = /** @type {HTMLElement} */ (list.querySelector(".rows"));
    const top = rows.getBoundingClientRect().top;
    const index = Math.max(0, Math.min(items.length, Math.round((pointer - top) / height)));
    const job = dragged.value && jobs.get(dragged.value.id);
    if (!job || index === dragged.value?.index) return;
    dragged.value = { id: job.id, index, position: positionAt(job, items, index) };
  };
  const scroll = () => {
    const { top, bottom } = list.getBoundingClientRect();
    const above = top + 30 + EDGE - pointer; // below the heads of the columns
    const below = pointer - (bottom - EDGE);
    const by = above > 0 ? -Math.min(above / EDGE, 1) : below > 0 ? Math.min(below / EDGE, 1) : 0;
    if (by) list.scrollTop += by * FASTEST;
    aim();
    frame = requestAnimationFrame(scroll);
  };
  const end = () => {
    cancelAnimationFrame(frame);
    const last = dragged.value;
    dragged.value = null;
    return last;
  };
  const isOurs = (/** @type {any} */ { source }) => typeof source.data.job === "number";
  const stops = [
    dropTargetForElements({ element: list, canDrop: isOurs }),
    monitorForElements({
      canMonitor: isOurs,
      onDragStart: (/** @type {any} */ { source, location }) => {
        pointer = location.current.input.clientY;
        dragged.value = { id: source.data.job, index: -1, position: null };
        frame = requestAnimationFrame(scroll);
      },
      onDrag: (/** @type {any} */ { location }) => (pointer = location.current.input.clientY),
      onDrop: (/** @type {any} */ { location }) => {
        pointer = location.current.input.clientY;
        if (location.current.dropTargets.length) aim();
        const last = end();
        const job = last && jobs.get(last.id);
        if (location.current.dropTargets.length && job && last.position !== null) void move(job, last.position);
      },
    }),
  ];
  return () => (end(), stops.forEach((one) => one()));
}

/** @param {{ current: HTMLElement | null }} ref of a row @param {Job | null} job */
export function useDraggable(ref, job) {
  const isOn = job !== null && isMovable(job);
  useEffect(() => {
    let stop = () => {};
    let isGone = false;
    if (isOn && job) {
      void later(() => import("/page/lib/drag.js")).then(({ draggable }) => {
        if (!isGone && ref.current) stop = draggable({ element: ref.current, getInitialData: () => ({ job: job.id }) });
      });
    }
    return () => {
      isGone = true;
      stop();
    };
  }, [isOn, job?.id]);
  return isOn;
}

/** Where the dragged job will land. @param {{ height: number }} props */
export function DropLine({ height }) {
  const place = dragged.value;
  if (!place || place.index < 0 || place.position === null) return null;
  return html`<div class="drop-line" style=${{ transform: `translateY(${place.index * height}px)` }}>
    <span>${t("drag.to", { position: place.position })}</span></div>`;
}
