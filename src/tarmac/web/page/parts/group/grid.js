// The states of all jobs of a group as a grid: a colour and a shape for each. One path holds all cells of a state, so
// that 10,000 jobs cost the browser little.
import { html, useEffect, useMemo, useRef, useState } from "/page/lib/preact.js";
import { nameOf } from "/page/parts/job/names.js";
import { stateColour } from "/page/parts/state.js";
import { go } from "/page/router/router.js";
import { visible } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/** @typedef {import("/page/data/types.js").Job} Job */

const CELL = 14;
const CELL_OF_MANY = 9;
const MANY = 2000;

/** Drawings on a grid of 10 by 10. Those in LINES are strokes, the others are filled. @type {Record<string, string>} */
const SHAPES = {
  running: "m2 1 7 4-7 4z",
  starting: "m2 1 7 4-7 4z",
  queued: "m5 2a3 3 0 1 0 .01 0",
  draft: "m5 2a3 3 0 1 0 .01 0",
  held: "m3.5 1.5v7m3-7v7",
  paused: "m2 1h2v8h-2zm4 0h2v8h-2z",
  stopping: "m2 2h6v6h-6z",
  succeeded: "m1 1h8v8h-8z",
  failed: "m1.5 1.5 7 7m0-7-7 7",
  cancelled: "m1.5 5h7",
  unknown: "m2.5 3.2c0-1.6 1.2-2.2 2.5-2.2s2.5.8 2.5 2c0 1.6-2.5 1.8-2.5 3.5m0 1.5v1",
};
const LINES = ["starting", "queued", "draft", "held", "failed", "cancelled", "unknown"];

/** @param {Job[]} members @param {number} columns @param {number} size */
function pathsOf(members, columns, size) {
  /** @type {Map<string, string[]>} */
  const parts = new Map();
  members.forEach((job, i) => {
    const own = parts.get(job.state) ?? [];
    if (!own.length) parts.set(job.state, own);
    own.push(`M${(i % columns) * 10} ${Math.floor(i / columns) * 10}${SHAPES[job.state] ?? SHAPES.unknown}`);
  });
  return { size, paths: [...parts].map(([state, some]) => ({ state, d: some.join("") })) };
}

/** Scroll no further than needed. @param {HTMLElement | null} box @param {number} top @param {number} height */
function reveal(box, top, height) {
  if (!box) return;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
}

/** @param {{ members: Job[] }} props */
export function StateGrid({ members }) {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  const [width, setWidth] = useState(0);
  const [at, setAt] = useState(-1);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(entry.contentRect.width));
    if (ref.current) watch.observe(ref.current);
    return () => watch.disconnect();
  }, []);
  const size = members.length > MANY ? CELL_OF_MANY : CELL;
  const columns = Math.max(1, Math.floor(width / size));
  const drawn = useMemo(() => pathsOf(members, columns, size), [members, columns, size]);
  const rows = Math.ceil(members.length / columns);
  const place = (/** @type {any} */ event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top].map((distance) => Math.floor(distance / size));
    return x >= 0 && x < columns && y >= 0 ? y * columns + x : -1;
  };
  const open = (/** @type {number} */ index) => members[index] && go(`/jobs/${members[index].id}`);
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
    if (event.key === "Enter") open(at);
    if (step === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(members.length - 1, at < 0 ? 0 : at + step));
    setAt(next);
    reveal(ref.current, Math.floor(next / columns) * size, size);
  };
  const job = members[at];
  return html`<div class="state-grid">
    <div class="grid-box" ref=${ref}>${
      width > 0 &&
      html`<svg role="application" tabindex="0" aria-label=${t("group.grid")} aria-describedby="grid-job" width=${columns * size} height=${rows * size}
        viewBox=${`0 0 ${columns * 10} ${rows * 10}`} onPointerMove=${(/** @type {any} */ event) => setAt(place(event))}
        onPointerLeave=${() => setAt(-1)} onClick=${(/** @type {any} */ event) => open(place(event))} onKeyDown=${onKey}>
        ${drawn.paths.map(({ state, d }) => html`<path key=${state} data-state=${state} data-line=${LINES.includes(state)} d=${d} style=${{ color: stateColour(state) }} />`)}
        ${job && html`<rect class="cursor" x=${(at % columns) * 10} y=${Math.floor(at / columns) * 10} width="10" height="10" />`}
      </svg>`
    }</div>
    <p id="grid-job" class="said quiet" aria-live="polite">${job ? `#${job.id} ${visible(nameOf(job))} · ${t(`state.${job.state}`)}` : " "}</p>
  </div>`;
}
