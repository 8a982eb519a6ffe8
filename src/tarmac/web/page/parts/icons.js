// Small drawings, all on a grid of 12 by 12. They repeat what a word beside them says, so readers of screens skip them.
import { html } from "/page/lib/preact.js";

/** @type {Record<string, () => unknown>} */
const SHAPES = {
  running: () => html`<path d="M3 1.5 10.5 6 3 10.5Z" />`,
  starting: () =>
    html`<path d="M3.2 2.2 9.8 6 3.2 9.8Z" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linejoin="round" />`,
  queued: () => html`<circle cx="6" cy="6" r="3.8" fill="none" stroke="currentColor" stroke-width="1.5" />`,
  draft: () =>
    html`<circle cx="6" cy="6" r="3.8" fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="2 1.6" />`,
  held: () => html`<path d="M4.2 1.5v9M7.8 1.5v9" stroke="currentColor" stroke-width="1.4" />`,
  paused: () => html`<path d="M2.5 1.5h2.6v9H2.5zM6.9 1.5h2.6v9H6.9z" />`,
  stopping: () => html`<path d="M2.5 2.5h7v7h-7z" />`,
  succeeded: () => html`<path d="m1.8 6.4 2.8 2.8 5.6-6.2" fill="none" stroke="currentColor" stroke-width="1.8" />`,
  failed: () => html`<path d="m2.3 2.3 7.4 7.4m0-7.4L2.3 9.7" stroke="currentColor" stroke-width="1.8" />`,
  cancelled: () => html`<path d="M2 6h8" stroke="currentColor" stroke-width="1.8" />`,
  unknown: () =>
    html`<path d="M4 4.2c0-1.2.9-2 2-2s2 .8 2 1.9c0 1.6-2 1.6-2 3.2" fill="none" stroke="currentColor" stroke-width="1.5" /><circle cx="6" cy="9.6" r=".9" />`,
  rebooted: () =>
    html`<path d="M9.6 3.6A4.3 4.3 0 1 0 10.3 6" fill="none" stroke="currentColor" stroke-width="1.5" /><path d="M10.8 1.2v3.4H7.4Z" />`,
  drained: () =>
    html`<circle cx="6" cy="6" r="4.4" fill="none" stroke="currentColor" stroke-width="1.4" /><path d="M3.4 6h5.2" stroke="currentColor" stroke-width="1.6" />`,
  eye: () =>
    html`<path d="M.8 6S2.8 2.8 6 2.8 11.2 6 11.2 6 9.2 9.2 6 9.2.8 6 .8 6Z" fill="none" stroke="currentColor" stroke-width="1.2" /><circle cx="6" cy="6" r="1.5" />`,
  nodes: () =>
    html`<path d="M1.4 1.6h9.2v3.6H1.4zM1.4 6.8h9.2v3.6H1.4z" fill="none" stroke="currentColor" stroke-width="1.2" /><circle cx="3.6" cy="3.4" r=".8" /><circle cx="3.6" cy="8.6" r=".8" />`,
  copy: () => html`<path d="M4 4h6v6.5H4zM2 8V1.8h5.5" fill="none" stroke="currentColor" stroke-width="1.2" />`,
  plus: () => html`<path d="M6 1.5v9M1.5 6h9" stroke="currentColor" stroke-width="1.4" />`,
  close: () => html`<path d="m2.5 2.5 7 7m0-7-7 7" stroke="currentColor" stroke-width="1.3" />`,
  fold: () => html`<path d="m4 2 4 4-4 4" fill="none" stroke="currentColor" stroke-width="1.5" />`,
  unfold: () => html`<path d="m2 4 4 4 4-4" fill="none" stroke="currentColor" stroke-width="1.5" />`,
  up: () => html`<path d="m3 7 3-3 3 3" fill="none" stroke="currentColor" stroke-width="1.4" />`,
  down: () => html`<path d="m3 5 3 3 3-3" fill="none" stroke="currentColor" stroke-width="1.4" />`,
  half: () =>
    html`<circle cx="6" cy="6" r="4.6" fill="none" stroke="currentColor" stroke-width="1.2" /><path d="M6 1.4a4.6 4.6 0 0 1 0 9.2Z" />`,
  logo: () => html`<path d="M6 .8 11.4 11H.6Z" />`,
  gpus: () =>
    html`<path d="M1.2 2.5h9.6v5.6H1.2zM3 10.2h6" fill="none" stroke="currentColor" stroke-width="1.2" /><circle cx="6" cy="5.3" r="1.5" />`,
  list: () => html`<path d="M1 2.5h10M1 6h10M1 9.5h7" stroke="currentColor" stroke-width="1.3" />`,
  calendar: () =>
    html`<path d="M1.4 2.4h9.2v8.2H1.4zM1.4 5h9.2M4 1v2.4M8 1v2.4" fill="none" stroke="currentColor" stroke-width="1.2" />`,
  sliders: () =>
    html`<path d="M1 3h6m3 0h1M1 9h1m3 0h6" stroke="currentColor" stroke-width="1.2" /><circle cx="8.5" cy="3" r="1.5" /><circle cx="3.5" cy="9" r="1.5" />`,
  key: () =>
    html`<circle cx="3.6" cy="8.4" r="2.2" fill="none" stroke="currentColor" stroke-width="1.3" /><path d="m5.2 6.8 5-5M8 4l2 2" stroke="currentColor" stroke-width="1.3" />`,
  more: () => html`<circle cx="2" cy="6" r="1.1" /><circle cx="6" cy="6" r="1.1" /><circle cx="10" cy="6" r="1.1" />`,
  bars: () => html`<path d="M1.5 11V6M4.5 11V2.5M7.5 11V4.5M10.5 11V8" stroke="currentColor" stroke-width="1.6" />`,
  past: () =>
    html`<circle cx="6" cy="6" r="4.6" fill="none" stroke="currentColor" stroke-width="1.2" /><path d="M6 3.2V6l2 1.4" fill="none" stroke="currentColor" stroke-width="1.2" />`,
};

/** @param {{ name: string, size?: number }} props */
export function Icon({ name, size = 12 }) {
  return html`<svg class="icon" width=${size} height=${size} viewBox="0 0 12 12" fill="currentColor" aria-hidden="true">
    ${SHAPES[name]?.()}
  </svg>`;
}
