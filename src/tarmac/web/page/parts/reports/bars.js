// A row for each owner, project, GPU or day: figures, and a bar of what was held with the used part filled.
import { html } from "/page/lib/preact.js";
import { Others } from "/page/parts/bits.js";
import { energyText, hoursLike, utilizationText } from "/page/parts/reports/report.js";
import { whole } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {import("/page/parts/reports/report.js").Report} Report
 * @typedef {import("/page/parts/reports/report.js").ReportRow} ReportRow
 * @typedef {import("/page/parts/reports/report.js").Sums} Sums
 */

/** @param {{ report: Report }} props */
export function Bars({ report }) {
  const shown = [...report.rows, ...(report.foreign ? [report.foreign] : [])];
  const longest = Math.max(...shown.map((row) => row.held_s), 1e-9);
  const has = { jobs: report.by !== "gpu", energy: shown.some((row) => row.energy_j) };
  const hours = hoursLike(report.total.held_s);
  const cells = { has, hours, longest };
  return html`<table class="bars">
    <caption class="unseen">${t("report.gpu_hours_by", { what: t(`report.by.${report.by}`) })}</caption>
    <thead><tr>
      <th scope="col">${t(`report.by.${report.by}`)}</th>
      ${has.jobs && html`<th scope="col" class="number minor">${t("report.col.jobs")}</th>`}
      <th scope="col" class="number">${t("report.col.held")}</th>
      <th scope="col" class="number">${t("report.col.used")}</th>
      <th scope="col" class="number minor">${t("report.col.utilization")}</th>
      ${has.energy && html`<th scope="col" class="number minor">${t("report.col.energy")}</th>`}
      <td class="track-head" aria-hidden="true"></td>
    </tr></thead>
    <tbody>
      ${report.rows.map((row) => html`<${Row} key=${row.uuid ?? row.name} row=${row} cells=${cells}><${Name} row=${row} by=${report.by} /><//>`)}
      ${report.foreign && html`<${Row} row=${report.foreign} cells=${cells} kind="foreign"><span title=${t("report.foreign_help")}>${t("report.foreign")}</span><//>`}
    </tbody>
    <tfoot><${Row} row=${report.total} cells=${cells} kind="total">${t("report.total")}<//></tfoot>
  </table>`;
}

/** @param {{ row: ReportRow, by: string }} props */
function Name({ row, by }) {
  const known = row.name ?? t(by === "project" ? "report.no_project" : "report.unknown");
  if (by === "gpu" || by === "day") return html`<${Others} text=${known} />`;
  const query = new URLSearchParams(location.search);
  query.set(by, row.name ?? "");
  query.set("by", "day");
  return html`<a href=${`/reports?${query}`}><${Others} text=${known} /></a>`;
}

/**
 * @param {{
 *   row: Sums, kind?: string, children?: unknown,
 *   cells: { has: { jobs: boolean, energy: boolean }, hours: (seconds: number | null) => string, longest: number },
 * }} props
 */
function Row({ row, kind = "job", cells: { has, hours, longest }, children }) {
  const width = (/** @type {number} */ seconds) => `${(100 * seconds) / longest}%`;
  return html`<tr data-kind=${kind}>
    <th scope="row" class="cut">${children}</th>
    ${has.jobs && html`<td class="number minor">${row.jobs ? whole(row.jobs) : "–"}</td>`}
    <td class="number">${hours(row.held_s)}</td>
    <td class="number">${hours(row.measured_s ? row.used_s : null)}</td>
    <td class="number minor">${utilizationText(row.utilization)}</td>
    ${has.energy && html`<td class="number minor">${energyText(row.energy_j)}</td>`}
    <td class="track" aria-hidden="true">${
      kind !== "total" &&
      html`<span class="held" style=${{ width: width(row.held_s) }}><i style=${{ width: `${(100 * Math.min(row.used_s, row.held_s)) / (row.held_s || 1)}%` }}></i></span>`
    }</td>
  </tr>`;
}
