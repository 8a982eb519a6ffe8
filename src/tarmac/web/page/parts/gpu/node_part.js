// The GPUs of one node as tiles, or as cells where there are many, with what the node has in all.
import { html } from "/page/lib/preact.js";
import { gpus, jobsOnGpus, nodes } from "/page/data/store.js";
import { RANGES } from "/page/data/trends.js";
import { Others } from "/page/parts/bits.js";
import { DenseGpu, GpuTile } from "/page/parts/gpu/tile.js";
import { isAway, NodeLink, NodeState } from "/page/parts/nodes/state.js";
import { isWall, query, setQuery } from "/page/router/router.js";
import { gigabytes } from "/page/words/format.js";
import { t } from "/page/words/words.js";

const DENSE_FROM = 64; // GPUs

/** What the address asks for: the time of the charts, and cells instead of tiles. @param {number} count of GPUs that are shown */
export function shownRange(count) {
  const wanted = query.value.get("range") ?? "";
  const chosen = query.value.get("dense");
  return { range: wanted in RANGES ? wanted : "10m", isDense: chosen ? chosen === "1" : count > DENSE_FROM };
}

/** `isOwnPage`: the page says the rest about the node. @param {{ name: string, isDense: boolean, range: string, isOwnPage?: boolean }} props */
export function NodePart({ name, isDense, range, isOwnPage = false }) {
  const node = nodes.value.find((one) => one.name === name);
  const own = gpus.value.filter((gpu) => gpu.node === name);
  own.sort((a, b) => (a.index ?? 1e6) - (b.index ?? 1e6));
  const models = new Map();
  for (const gpu of own) models.set(gpu.model, (models.get(gpu.model) ?? 0) + 1);
  const isOpen = !node?.drained && !node?.watch_only;
  const free = own.filter(
    (gpu) => isOpen && !jobsOnGpus.value.has(gpu.uuid) && !gpu.drained && !gpu.held && !gpu.gone_since,
  ).length;
  return html`<section class="node" aria-label=${isOwnPage ? t("count.gpus") : name}>
    <header>
      <h2>${isOwnPage ? t("count.gpus") : isWall.value ? html`<${Others} text=${name} />` : html`<${NodeLink} name=${name} />`}</h2>
      ${node && !isOwnPage && (node.state !== "reachable" || node.watch_only) && html`<span class="node-state"><${NodeState} node=${node} /></span>`}
      <span class="quiet">${[...models].map(([model, n]) => `${n} × ${model}`).join(", ")}</span>
      ${own.length > 0 && html`<span class="quiet">${t("gpus.free", { n: free })}</span>`}
      <span class="fill"></span>
      ${
        node?.memory_total_bytes &&
        node.memory_available_bytes !== null &&
        !isOwnPage &&
        html`<span class="quiet">${t("host_memory", {
          used: gigabytes(node.memory_total_bytes - node.memory_available_bytes),
          total: gigabytes(node.memory_total_bytes, true),
        })}</span>`
      }
      ${
        own.length > 0 &&
        html`<span class="choices" role="group" aria-label=${t("charts")}>
        ${Object.keys(RANGES).map(
          (one) =>
            html`<button type="button" aria-pressed=${one === range && !isDense} onClick=${() => setQuery({ range: one, dense: "0" })}>${t(`range.${one}`)}</button>`,
        )}
        <button type="button" aria-pressed=${isDense} onClick=${() => setQuery({ dense: isDense ? "0" : "1" })}>${t("dense")}</button>
      </span>`
      }
    </header>
    ${node && isAway(node) && !isOwnPage && html`<p class="notice bad">${t("node.away")} <${Others} text=${node.problem ?? ""} /></p>`}
    <ul class=${isDense ? "cells" : "tiles"}>
      ${own.map((gpu) => html`<li key=${gpu.uuid}><${isDense ? DenseGpu : GpuTile} gpu=${gpu} range=${range} isMixed=${models.size > 1} /></li>`)}
    </ul>
  </section>`;
}
