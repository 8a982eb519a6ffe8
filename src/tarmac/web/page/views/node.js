// One node: its state and why, facts, what admins can do with it, its GPUs, and the jobs that run or may run there.
import { html, useEffect, useMemo } from "/page/lib/preact.js";
import { session } from "/page/data/http.js";
import { gpus, isLoaded, nodes, orderVersion } from "/page/data/store.js";
import { followTrends } from "/page/data/trends.js";
import { Ago, Empty, Others } from "/page/parts/bits.js";
import { ManagedGpu } from "/page/parts/gpu/manage.js";
import { NodePart, shownRange } from "/page/parts/gpu/node_part.js";
import { NodeActions } from "/page/parts/nodes/actions.js";
import { gpusInUse, HostMemory } from "/page/parts/nodes/figures.js";
import { NodeState } from "/page/parts/nodes/state.js";
import { Why } from "/page/parts/nodes/why.js";
import { folded, mayRunOn, matching, sorted } from "/page/parts/queue/items.js";
import { JobList, openGroups, Selection } from "/page/parts/queue/list.js";
import { WhyTip } from "/page/parts/queue/why.js";
import { query } from "/page/router/router.js";
import { whole } from "/page/words/format.js";
import { t } from "/page/words/words.js";
import "/page/words/rooms/nodes.js";
import "/page/words/rooms/queue.js";

/** @typedef {import("/page/data/types.js").Node} Node */

const ANY = { state: "active", owner: "", project: "", tag: "", node: "", text: "" };

/** @param {string} word of the address */
function decoded(word) {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

/** @param {{ word: string }} props */
export function NodePage({ word }) {
  const name = decoded(word);
  const count = gpus.value.filter((gpu) => gpu.node === name).length;
  const { range, isDense } = shownRange(count);
  useEffect(() => (isLoaded.value && !isDense ? followTrends(range, name) : undefined), [range, isDense, isLoaded.value]);
  if (!isLoaded.value) return null;
  const node = nodes.value.find((one) => one.name === name);
  if (!node) {
    return html`<${Empty} title=${t("node.none")}><a class="button" href="/nodes">${t("view.nodes")}</a><//>`;
  }
  return html`<div class="node-page">
    <header>
      <h1><${Others} text=${node.name} /></h1>
      <span class="node-state"><${NodeState} node=${node} /></span>
      <span class="quiet"><${Ago} at=${node.since} /></span>
      <span class="fill"></span>
      <a class="button" href=${`/history?node=${encodeURIComponent(node.name)}`}>${t("node.ended_jobs")}</a>
    </header>
    <div class="node-why" role="status"><${Why} node=${node} /></div>
    <div class="node-panels">
      <${Facts} node=${node} />
      ${session.value?.is_admin && html`<${NodeActions} node=${node} />`}
    </div>
    ${count > 0 && html`<${NodePart} name=${node.name} isDense=${isDense} range=${range} isOwnPage />`}
    <${NodeJobs} node=${node} />
    <${ManagedGpu} />
    <${WhyTip} />
  </div>`;
}

/** @param {{ node: Node }} props */
function Facts({ node }) {
  const account = `${node.user ? `${node.user}@` : ""}${node.host}${node.port ? `:${node.port}` : ""}`;
  /** @type {[string, unknown][]} */
  const rows = [
    ["node.reached", node.host === null ? t("node.local") : html`ssh <${Others} text=${account} />`],
    ["column.gpus", gpusInUse(node)],
    ["node.memory", html`<${HostMemory} node=${node} />`],
    ["node.cpus", node.cpus],
    ["node.running", whole(node.running)],
    ["node.queued", whole(node.queued)],
    ["node.agent", node.version && `${node.version} · ${t("fact.pid")} ${node.agent_pid}`],
    ["node.containment", node.containment && html`<${Others} text=${node.containment} />`],
  ];
  return html`<section class="panel" aria-label=${t("facts")}>
    <h2>${t("facts")}</h2>
    <dl class="node-facts">${rows.filter(([, value]) => value !== null && value !== "").map(([word, value]) => html`<dt>${t(word)}</dt><dd>${value}</dd>`)}</dl>
  </section>`;
}

/** @param {{ node: Node }} props */
function NodeJobs({ node }) {
  const open = query.value.get("open") ?? "";
  const items = useMemo(() => {
    const found = matching(ANY).filter((job) => mayRunOn(job, node));
    return folded(sorted(found, query.peek().get("sort") ?? "", []), openGroups());
  }, [orderVersion.value, node.name, node.watch_only, query.value.get("sort"), open]);
  return html`<section class="node-jobs" aria-label=${t("node.jobs")}>
    <header><h2>${t("node.jobs")}</h2> <span class="quiet">${t("node.jobs_about")}</span></header>
    ${items.length ? html`<${JobList} items=${items} isBounded />` : html`<p class="quiet">${t("node.no_jobs")}</p>`}
    <${Selection} items=${items} />
  </section>`;
}
