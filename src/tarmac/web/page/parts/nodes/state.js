// The state of a node: a colour, a shape and a word; and the link to its page.
import { html } from "/page/lib/preact.js";
import { Others } from "/page/parts/bits.js";
import { Icon } from "/page/parts/icons.js";
import { t } from "/page/words/words.js";

/** @typedef {import("/page/data/types.js").Node} Node */

/** @type {Record<string, { colour: string, shape: string }>} */
const LOOKS = {
  unreachable: { colour: "failed", shape: "failed" },
  "needs-login": { colour: "unknown", shape: "key" },
  removed: { colour: "cancelled", shape: "cancelled" },
  drained: { colour: "held", shape: "drained" },
  rebooted: { colour: "running", shape: "rebooted" },
  reachable: { colour: "succeeded", shape: "succeeded" },
};

/** What needs attention first. @param {Node} node */
export const rankOf = (node) => Object.keys(LOOKS).indexOf(node.state);

/** It cannot be asked, so what is shown of it may be old. @param {Node} node */
export const isAway = (node) => ["unreachable", "needs-login", "removed"].includes(node.state);

/** @param {{ node: Node }} props */
export function NodeState({ node }) {
  const { colour, shape } = LOOKS[node.state] ?? LOOKS.removed;
  return html`<span class="state" style=${{ color: `var(--${colour})` }}><${Icon} name=${shape} /> ${t(`node_state.${node.state}`)}</span>
    ${node.watch_only && html` <span class="tag"><${Icon} name="eye" size=${10} /> ${t("node.watch_only")}</span>`}`;
}

/** @param {string} name */
export const nodeAddress = (name) => `/nodes/${encodeURIComponent(name)}`;

/** @param {{ name: string }} props */
export function NodeLink({ name }) {
  return html`<a class="node-link" href=${nodeAddress(name)}><${Others} text=${name} /></a>`;
}
