// All nodes, one row each: what is in use there, whether jobs may start, and why not.
import { html } from "/page/lib/preact.js";
import { session } from "/page/data/http.js";
import { isLoaded, nodes } from "/page/data/store.js";
import { Ago, CopyCommand } from "/page/parts/bits.js";
import { Icon } from "/page/parts/icons.js";
import { gpusInUse, HostMemory } from "/page/parts/nodes/figures.js";
import { NodeForm } from "/page/parts/nodes/form.js";
import { NodeLink, nodeAddress, NodeState, rankOf } from "/page/parts/nodes/state.js";
import { Why } from "/page/parts/nodes/why.js";
import { query, setQuery } from "/page/router/router.js";
import { whole } from "/page/words/format.js";
import { t } from "/page/words/words.js";
import "/page/words/rooms/nodes.js";

/** @typedef {import("/page/data/types.js").Node} Node */

const ADD = "tarmac node add gpu02";

/** How the columns sort that do. @type {Record<string, (a: Node, b: Node) => number>} */
const ORDERS = {
  state: (a, b) => rankOf(a) - rankOf(b) || a.name.localeCompare(b.name),
  name: (a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }),
};

/** By a column, or the controller's own machine first. */
function sorted() {
  const by = query.value.get("sort") ?? "";
  const order = ORDERS[by.replace("-", "")];
  if (!order) return nodes.value;
  const found = [...nodes.value].sort(order);
  return by.startsWith("-") ? found.reverse() : found;
}

export function Nodes() {
  if (!isLoaded.value) return null;
  const isAdmin = session.value?.is_admin ?? false;
  const isAdding = isAdmin && query.value.get("add") === "1";
  return html`<div class="panels nodes-view">
    <header class="nodes-head">
      <h1>${t("view.nodes")}</h1>
      <span class="fill"></span>
      ${isAdmin && html`<a class="button" href=${isAdding ? "/nodes" : "/nodes?add=1"}>${isAdding ? t("close") : html`<${Icon} name="plus" /> ${t("node.add")}`}</a>`}
    </header>
    ${isAdding && html`<${NodeForm} />`}
    <table class="nodes-table" role="table" aria-label=${t("view.nodes")}>
      <thead role="rowgroup"><tr role="row">
        <${Head} name="state" />
        <${Head} name="name" />
        <th role="columnheader" scope="col" class="number">${t("column.gpus")}</th>
        <th role="columnheader" scope="col" class="number">${t("node.running")}</th>
        <th role="columnheader" scope="col" class="number">${t("node.queued")}</th>
        <th role="columnheader" scope="col">${t("node.memory")}</th>
        <th role="columnheader" scope="col">${t("node.since")}</th>
        <th role="columnheader" scope="col">${t("node.why")}</th>
      </tr></thead>
      <tbody role="rowgroup">${sorted().map((node) => html`<${Row} key=${node.name} node=${node} />`)}</tbody>
    </table>
    ${
      nodes.value.length < 2 &&
      !isAdding &&
      html`<div class="quiet only-node"><p>${t("node.only_one")}</p>
      <p class="command"><code>${ADD}</code><${CopyCommand} command=${ADD} isBare /></p></div>`
    }
  </div>`;
}

/** A head that sorts: by it, the other way round, then as before. @param {{ name: string }} props */
function Head({ name }) {
  const by = query.value.get("sort") ?? "";
  const next = by === name ? `-${name}` : by === `-${name}` ? null : name;
  const sort = by === name ? "ascending" : by === `-${name}` ? "descending" : undefined;
  return html`<th role="columnheader" scope="col" aria-sort=${sort}>
    <button type="button" onClick=${() => setQuery({ sort: next }, { isStep: true })}>${t(name === "name" ? "node.node" : "column.state")}
      ${sort && html`<${Icon} name=${sort === "ascending" ? "up" : "down"} />`}</button></th>`;
}

/** @param {{ node: Node }} props */
function Row({ node }) {
  const running = `/queue?state=running&node=${encodeURIComponent(node.name)}`;
  return html`<tr role="row">
    <td role="cell" class="node-state"><${NodeState} node=${node} /></td>
    <th role="rowheader" scope="row"><${NodeLink} name=${node.name} /></th>
    <td role="cell" class="number" data-word=${t("column.gpus")}>${gpusInUse(node)}</td>
    <td role="cell" class="number" data-word=${t("node.running")}>${node.running ? html`<a href=${running}>${whole(node.running)}</a>` : 0}</td>
    <td role="cell" class="number" data-word=${t("node.queued")}>${node.queued ? html`<a href=${nodeAddress(node.name)}>${whole(node.queued)}</a>` : 0}</td>
    <td role="cell" class="memory-cell"><${HostMemory} node=${node} /></td>
    <td role="cell" class="since quiet"><${Ago} at=${node.since} /></td>
    <td role="cell" class="node-reason"><${Why} node=${node} /></td>
  </tr>`;
}
