// Why a job waits, as the server explains it, beside the row under the pointer or the focus.
import { html, useLayoutEffect, useRef } from "/page/lib/preact.js";
import { signal } from "/page/lib/signals.js";
import { get } from "/page/data/http.js";
import { Others } from "/page/parts/bits.js";

const AFTER_MS = 250; // so that moving over the list asks nothing

/** The job that is explained, and where. */
export const explained = signal(/** @type {{ id: number, lines: string[], box: DOMRect } | null} */ (null));
let timer = 0;
let wanted = 0;

/** @param {number} id @param {HTMLElement} row */
export function showWhy(id, row) {
  clearTimeout(timer);
  wanted = id;
  timer = setTimeout(async () => {
    try {
      const { lines } = await get(`/jobs/${id}/why`);
      if (wanted === id && row.isConnected) explained.value = { id, lines, box: row.getBoundingClientRect() };
    } catch {
      // It started or ended meanwhile, or the server is away: the row shows that.
    }
  }, AFTER_MS);
}

export function hideWhy() {
  clearTimeout(timer);
  wanted = 0;
  explained.value = null;
}

export function WhyTip() {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  const tip = explained.value;
  useLayoutEffect(() => {
    if (!tip || !ref.current) return;
    const { height } = ref.current.getBoundingClientRect();
    const isBelow = tip.box.bottom + height + 8 < window.innerHeight;
    ref.current.style.top = `${isBelow ? tip.box.bottom + 2 : Math.max(4, tip.box.top - height - 2)}px`;
    ref.current.style.left = `${Math.max(8, Math.min(tip.box.left + 130, window.innerWidth - ref.current.offsetWidth - 12))}px`;
  }, [tip]);
  if (!tip) return null;
  return html`<div id="why" role="tooltip" class="tip" ref=${ref}>
    ${tip.lines.map((line) => html`<p><${Others} text=${line} /></p>`)}
  </div>`;
}
