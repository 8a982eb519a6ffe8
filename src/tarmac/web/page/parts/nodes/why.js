// Why a node is in its state, what may harm jobs there, and what to do about it.
import { html } from "/page/lib/preact.js";
import { CopyCommand, Others } from "/page/parts/bits.js";
import { shellCommand } from "/page/words/format.js";
import { t } from "/page/words/words.js";
import "/page/words/rooms/nodes.js";

/** @typedef {import("/page/data/types.js").Node} Node */

/** @param {Node} node */
export const loginCommand = (node) => shellCommand(["tarmac", "node", "login", node.name]);

/** The reason, without one if there is nothing to say. @param {{ node: Node }} props */
export function Why({ node }) {
  const by = node.drained_by ?? "Tarmac";
  return html`
    ${node.problem && html`<p><${Others} text=${node.problem} /></p>`}
    ${node.state === "unreachable" && !node.problem && html`<p>${t("node.silent")}</p>`}
    ${node.state === "needs-login" && html`<p class="command"><code>${loginCommand(node)}</code><${CopyCommand} command=${loginCommand(node)} isBare /></p>`}
    ${node.state === "rebooted" && html`<p>${t("node.rebooted")}</p>`}
    ${node.drained && html`<p>${t("node.drained_by", { by })}${node.drain_reason && html`${t("colon")}<${Others} text=${node.drain_reason} />`}</p>`}
    ${node.warnings.map((text) => html`<p class="caution"><${Others} text=${text} /></p>`)}
  `;
}
