// The state of a job: a colour, a shape and a word.
import { html } from "/page/lib/preact.js";
import { Icon } from "/page/parts/icons.js";
import { t } from "/page/words/words.js";

/** Which colour a state has; states that pass quickly borrow one. @type {Record<string, string>} */
const COLOURS = { starting: "running", stopping: "unknown", draft: "queued", preempted: "held", requeued: "held" };
/** @type {Record<string, string>} */
const SHAPES = { preempted: "held", requeued: "queued" };

/** @param {string} state */
export const stateColour = (state) => `var(--${COLOURS[state] ?? state})`;

/** @param {{ state: string, isShort?: boolean }} props */
export function State({ state, isShort = false }) {
  return html`<span class="state" style=${{ color: stateColour(state) }}>
    <${Icon} name=${SHAPES[state] ?? state} />
    <span class=${isShort ? "unseen" : ""}>${t(`state.${state}`)}</span>
  </span>`;
}

/** How many jobs of a group are in each state, as a strip. @param {{ counts: Record<string, number> }} props */
export function StateStrip({ counts }) {
  const given = STRIP.filter((state) => counts[state]);
  const total = given.reduce((sum, state) => sum + counts[state], 0);
  const words = given.map((state) => `${counts[state]} ${t(`state.${state}`)}`).join(", ");
  if (total <= MOST_CELLS) {
    const cells = given.flatMap((state) => Array.from({ length: counts[state] }, () => state));
    return html`<span class="strip" role="img" aria-label=${words} title=${words}>
      ${cells.map((state) => html`<i data-state=${state} style=${{ color: stateColour(state) }}></i>`)}
    </span>`;
  }
  return html`<span class="strip" role="img" aria-label=${words} title=${words}>
    ${given.map(
      (state) => html`<i data-state=${state} style=${{ color: stateColour(state), flexGrow: counts[state] }}></i>`,
    )}
  </span>`;
}

const MOST_CELLS = 24;
const STRIP = [
  "succeeded",
  "failed",
  "cancelled",
  "unknown",
  "running",
  "starting",
  "stopping",
  "paused",
  "queued",
  "held",
  "draft",
];
