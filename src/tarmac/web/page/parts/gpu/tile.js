// One GPU: as a tile, or as a cell where there are hundreds.
import { html } from "/page/lib/preact.js";
import { session } from "/page/data/http.js";
import { jobs, jobsOnGpus, jobsVersion } from "/page/data/store.js";
import { Ago, Meter, Others, Progress } from "/page/parts/bits.js";
import { JobLink } from "/page/parts/job/names.js";
import { ManageButton } from "/page/parts/gpu/manage.js";
import { State, stateColour } from "/page/parts/state.js";
import { Trend } from "/page/parts/gpu/trend.js";
import { isWall } from "/page/router/router.js";
import { clock, gigabytes, size, visible } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/** @typedef {import("/page/data/types.js").Gpu} Gpu */

const MOST_FOREIGN = 3; // processes that a tile lists

/** @param {Gpu} gpu */
const jobsOn = (gpu) => jobsOnGpus.value.get(gpu.uuid) ?? [];

/** What matters most about it. @param {Gpu} gpu */
function kindOf(gpu) {
  if (gpu.gone_since || gpu.health) return "bad";
  if (gpu.drained) return "drained";
  if (jobsOn(gpu).length) return "busy";
  if (gpu.held) return "foreign";
  return "free";
}

/** @param {Gpu} gpu */
const nameOf = (gpu) => (gpu.index === null ? "–" : String(gpu.index));

/** `isMixed`: its node has GPUs of several models. @param {{ gpu: Gpu, range: string, isMixed: boolean }} props */
export function GpuTile({ gpu, range, isMixed }) {
  jobsVersion.value;
  const kind = kindOf(gpu);
  const own = jobsOn(gpu)
    .map((id) => jobs.get(id))
    .filter((job) => job !== undefined);
  const foreign = gpu.processes.filter((one) => one.job === null && !one.ignored);
  return html`<article class="tile" data-kind=${kind} aria-label=${t("gpu", { name: nameOf(gpu) })}>
    <header>
      <b class="index">${nameOf(gpu)}</b>
      ${isMixed && html`<span class="quiet cut">${visible(gpu.model)}</span>`}
      ${session.value?.is_admin && !isWall.value && html`<${ManageButton} gpu=${gpu} name=${nameOf(gpu)} />`}
      <span class="sensors quiet">
        ${gpu.temperature !== null && html`<span>${gpu.temperature} °C</span>`}
        ${gpu.power_w !== null && html`<span>${Math.round(gpu.power_w)} W</span>`}
      </span>
    </header>
    <${Levels} gpu=${gpu} />
    <${Trend} uuid=${gpu.uuid} range=${range} />
    <${Condition} gpu=${gpu} kind=${kind} />
    ${own.map((job) => html`<${TileJob} key=${job.id} job=${job} />`)}
    ${foreign.slice(0, MOST_FOREIGN).map(
      (
        one,
      ) => html`<p class="foreign cut" key=${one.pid} title=${one.command ?? ""}>+ pid ${one.pid} <${Others} text=${one.user ?? "?"} />
        ${one.memory_bytes ? ` ${size(one.memory_bytes)}` : ""} <span class="mono quiet"><${Others} text=${one.command ?? ""} /></span></p>`,
    )}
    ${foreign.length > MOST_FOREIGN && html`<p class="foreign quiet">${t("more", { n: foreign.length - MOST_FOREIGN })}</p>`}
    ${gpu.warnings.map((text) => html`<p class="warning"><${Others} text=${text} /></p>`)}
  </article>`;
}

/** @param {{ gpu: Gpu }} props */
function Levels({ gpu }) {
  const used = gpu.memory_used_bytes;
  const total = gigabytes(gpu.memory_total_bytes, true);
  return html`<dl class="levels">
    <dt>${t("memory")}</dt>
    <dd class="track"><${Meter} label=${t("memory")} fraction=${used === null ? null : used / gpu.memory_total_bytes} /></dd>
    <dd class="number">${used === null ? "–" : gigabytes(used)} / ${total} GB</dd>
    <dt>${t("utilization")}</dt>
    <dd class="track"><${Meter} label=${t("utilization")} fraction=${gpu.utilization === null ? null : gpu.utilization / 100} kind="load" /></dd>
    <dd class="number">${gpu.utilization === null ? "–" : gpu.utilization} %</dd>
  </dl>`;
}

/** @param {{ gpu: Gpu, kind: string }} props */
function Condition({ gpu, kind }) {
  const lines = [];
  if (gpu.gone_since) lines.push(html`<p class="bad">${t("gpu.gone")} <${Ago} at=${gpu.gone_since} /></p>`);
  if (gpu.health) lines.push(html`<p class="bad"><${Others} text=${gpu.health} /></p>`);
  if (gpu.drained) {
    const by = gpu.drained_by ? ` · ${gpu.drained_by}` : "";
    lines.push(
      html`<p class="drained">${t("gpu.drained")}${gpu.reason ? t("colon") : ""}<${Others} text=${gpu.reason ?? ""} />${by}</p>`,
    );
  }
  if (gpu.reserved) {
    const { owner, begins_at, ends_at, active } = gpu.reserved;
    const when = active ? t("until", { at: clock(ends_at) }) : t("from", { at: clock(begins_at) });
    lines.push(html`<p class="reserved">${t("gpu.reserved", { owner })} ${when}</p>`);
  }
  if (gpu.held && !gpu.processes.some((one) => one.holds_gpu))
    lines.push(html`<p class="foreign"><${Others} text=${gpu.held} /></p>`);
  if (kind === "free" && !lines.length) lines.push(html`<p class="free">${t("gpu.free")}</p>`);
  return lines;
}

/** @param {{ job: import("/page/data/types.js").Job }} props */
function TileJob({ job }) {
  return html`<div class="tile-job">
    <p class="line"><${State} state=${job.state} isShort /> <${JobLink} job=${job} />
      <span class="owner quiet"><${Others} text=${job.owner} /></span></p>
    <${Progress} job=${job} />
  </div>`;
}

/** @param {{ gpu: Gpu }} props */
export function DenseGpu({ gpu }) {
  jobsVersion.value;
  const kind = kindOf(gpu);
  const first = jobs.get(jobsOn(gpu)[0]);
  const words = first
    ? `#${first.id} ${first.owner}`
    : t(`gpu.${kind === "bad" ? "gone" : kind === "foreign" ? "foreign" : kind}`);
  const label = `${t("gpu", { name: nameOf(gpu) })}${t("colon")}${words}, ${gpu.utilization ?? "–"} %`;
  return html`<a class="cell" data-kind=${kind} title=${label} aria-label=${label} href=${first ? `/jobs/${first.id}` : "/?dense=0"}>
    <b>${nameOf(gpu)}</b>
    <span class="cut">${first ? html`<span style=${{ color: stateColour(first.state) }}>#${first.id}</span>` : words}</span>
    <i class="load" style=${{ width: `${gpu.utilization ?? 0}%` }}></i>
    <i class="fill" style=${{ width: `${(100 * (gpu.memory_used_bytes ?? 0)) / gpu.memory_total_bytes}%` }}></i>
  </a>`;
}
