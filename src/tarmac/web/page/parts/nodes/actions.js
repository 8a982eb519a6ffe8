// The actions of admins on the page of a node. Nodes that the config file lists, and the controller's own machine, are
// only drained and resumed here.
import { html } from "/page/lib/preact.js";
import { useDraft } from "/page/data/drafts.js";
import { CommandButton } from "/page/parts/command_button.js";
import { drain, forget, remove, resume, tryNow, use } from "/page/parts/nodes/commands.js";
import { isAway } from "/page/parts/nodes/state.js";
import { t } from "/page/words/words.js";

/** @typedef {import("/page/data/types.js").Node} Node */

/** @param {{ node: Node }} props */
export function NodeActions({ node }) {
  if (node.state === "removed") return null;
  const isAdded = node.host !== null;
  return html`<section class="panel" aria-label=${t("node.actions")}>
    <h2>${t("node.actions")}</h2>
    <dl class="deeds">
      ${node.drained ? html`<${Action} label="node.resume" means="node.resume_means" deed=${resume(node)} isFirst />` : html`<${Drain} node=${node} />`}
      ${isAdded && isAway(node) && html`<${Action} label="node.try" means="node.try_means" deed=${tryNow(node)} />`}
      ${
        isAdded &&
        (node.watch_only
          ? html`<${Action} label="node.use" means="node.use_means" deed=${use(node, false)} />`
          : html`<${Action} label="node.watch" means="node.watch_means" deed=${use(node, true)} />`)
      }
      ${isAdded && html`<${Action} label="node.remove" means=${node.running ? "node.remove_busy" : "node.remove_means"} deed=${remove(node)} isDanger isOff=${node.running > 0} />`}
      ${isAdded && !node.connected && html`<${Action} label="node.forget" means="node.forget_means" deed=${forget(node)} isDanger />`}
    </dl>
    ${!isAdded && html`<p class="quiet">${t("node.not_added")}</p>`}
  </section>`;
}

/**
 * @param {{
 *   label: string, means: string, deed: import("/page/parts/nodes/commands.js").Deed, isFirst?: boolean,
 *   isDanger?: boolean, isOff?: boolean,
 * }} props
 */
function Action({ label, means, deed, isFirst = false, isDanger = false, isOff = false }) {
  return html`<dt><${CommandButton} label=${t(label)} ...${deed} isFirst=${isFirst} isDanger=${isDanger} isOff=${isOff} /></dt><dd>${t(means)}</dd>`;
}

/** @param {{ node: Node }} props */
function Drain({ node }) {
  const [reason, setReason, drop] = useDraft(`drain.node.${node.name}`);
  const deed = drain(node, reason.trim());
  const run = () => deed.run().then((done) => (drop(), done));
  return html`<dt><${CommandButton} label=${t("node.drain")} command=${deed.command} run=${run} /></dt>
    <dd class="drain-reason">${t("node.drain_means")}
      <input class="field" aria-label=${t("node.reason")} placeholder=${t("node.reason")} value=${reason} maxlength="1000"
        onInput=${(/** @type {any} */ event) => setReason(event.target.value)} /></dd>`;
}
