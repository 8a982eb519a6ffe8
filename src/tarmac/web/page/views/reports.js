// Reports: the GPU time that was held and used, by owner, project, GPU or day, and by the hour.
import { html, useEffect, useState } from "/page/lib/preact.js";
import { get } from "/page/data/http.js";
import { resumed } from "/page/data/stream.js";
import { CopyCommand, Empty, Others } from "/page/parts/bits.js";
import { Bars } from "/page/parts/reports/bars.js";
import { Days } from "/page/parts/reports/days.js";
import { Heat } from "/page/parts/reports/heat.js";
import {
  csvAddress,
  energyText,
  groupedBy,
  GROUPS,
  hoursLike,
  only,
  period,
  periodDays,
  PERIODS,
  reportCommand,
  reportQuery,
  utilizationText,
} from "/page/parts/reports/report.js";
import { query, setQuery } from "/page/router/router.js";
import { whole } from "/page/words/format.js";
import { t } from "/page/words/words.js";
import "/page/words/rooms/reports.js";

/**
 * @typedef {import("/page/parts/reports/report.js").Report} Report
 * @typedef {{ report: Report, byDay: Report, days: import("/page/parts/reports/report.js").DayOfHours[] }} Found
 */

const AGAIN_MS = 60_000; // running jobs are counted up to now

function useReport() {
  const [found, setFound] = useState(/** @type {Found | null} */ (null));
  const [problem, setProblem] = useState("");
  const key = ["by", "days", "from", "to", "owner", "project"].map((name) => query.value.get(name)).join("\n");
  useEffect(() => {
    const ending = new AbortController();
    const read = async () => {
      if (document.visibilityState !== "visible") return;
      try {
        const [report, byDay, hours] = await Promise.all([
          get(`/report${reportQuery(groupedBy())}`, {}, ending.signal),
          get(`/report${reportQuery("day")}`, {}, ending.signal),
          get("/report/hours", period(), ending.signal),
        ]);
        setFound({ report, byDay, days: hours.days });
        setProblem("");
      } catch (error) {
        if (!ending.signal.aborted) setProblem(/** @type {Error} */ (error).message);
      }
    };
    void read();
    const timer = setInterval(read, AGAIN_MS);
    return () => (clearInterval(timer), ending.abort());
  }, [key, resumed.value]);
  return { found, problem };
}

export function Reports() {
  const { found, problem } = useReport();
  const isEmpty = found && !found.report.rows.length && !found.report.foreign;
  return html`<div class="reports">
    <h1 class="unseen">${t("view.reports")}</h1>
    <${Choice} />
    ${problem && html`<p class="notice bad">${problem}</p>`}
    ${isEmpty && html`<${Nothing} report=${found.report} />`}
    ${
      found &&
      html`<div class="report-parts">
        ${!isEmpty && html`<${Totals} report=${found.report} />`}
        <div class="charts">
          ${!isEmpty && html`<${Days} report=${found.byDay} days=${found.days.map((day) => day.day)} />`}
          <${Heat} days=${found.days} />
        </div>
        ${!isEmpty && html`<${Bars} report=${found.report} />`}
      </div>`
    }
  </div>`;
}

/** @param {{ report: Report }} props */
function Nothing({ report }) {
  const command = "tarmac add --gpus 1 python train.py";
  return html`<${Empty} title=${t("report.none", { since: report.since, until: report.until })}>
    <p class="command"><code>${command}</code><${CopyCommand} command=${command} isBare /></p>
  <//>`;
}

/** The period, the grouping, and ways to take the report along. */
function Choice() {
  const days = periodDays();
  const command = reportCommand();
  const set = (/** @type {string} */ name) => (/** @type {any} */ event) =>
    setQuery({ [name]: event.target.value, days: null }, { isStep: true });
  return html`<div class="filters" role="group" aria-label=${t("filters")}>
    <div class="segments" role="group" aria-label=${t("report.period")}>
      ${PERIODS.map(
        (n) => html`<button type="button" class="button" aria-pressed=${days === n}
          onClick=${() => setQuery({ days: n === 30 ? null : String(n), from: null, to: null }, { isStep: true })}>${t("report.last", { n })}</button>`,
      )}
    </div>
    <span class="dates" role="group" aria-label=${t("report.custom")} data-chosen=${days === 0}>
      <input class="field" type="date" aria-label=${t("report.first_day")} value=${query.value.get("from") ?? ""} onChange=${set("from")} />
      <span aria-hidden="true">–</span>
      <input class="field" type="date" aria-label=${t("report.last_day")} value=${query.value.get("to") ?? ""} onChange=${set("to")} />
    </span>
    <select class="field" aria-label=${t("report.by")} value=${groupedBy()}
      onChange=${(/** @type {any} */ event) => setQuery({ by: event.target.value === "owner" ? null : event.target.value }, { isStep: true })}>
      ${GROUPS.map((by) => html`<option value=${by}>${t(`report.by.${by}`)}</option>`)}
    </select>
    <${Only} />
    <span class="fill"></span>
    <p class="command"><code>${command}</code><${CopyCommand} command=${command} isBare /></p>
    <a class="button" href=${csvAddress()} download title=${`${command} --csv`}>${t("report.csv")}</a>
  </div>`;
}

/** The owner or project that the report is limited to. */
function Only() {
  const { owner, project } = only();
  if (!owner && project === undefined) return null;
  const name = [owner, project === "" ? t("report.no_project") : project].filter(Boolean).join(", ");
  return html`<button type="button" class="button chip" title=${t("report.show_all")}
    onClick=${() => setQuery({ owner: null, project: null, by: owner ? null : "project" }, { isStep: true })}>
    <${Others} text=${t("report.only", { name })} /> ×</button>`;
}

/** @param {{ report: Report }} props */
function Totals({ report: { total, foreign, since, until } }) {
  const hours = hoursLike(total.held_s);
  /** @type {[string, string][]} */
  const figures = [
    ["report.held", `${hours(total.held_s)} h`],
    ["report.used", `${hours(total.measured_s ? total.used_s : null)} h`],
    ["report.utilization", utilizationText(total.utilization)],
    ["report.jobs", whole(total.jobs ?? 0)],
  ];
  if (total.energy_j) figures.push(["report.energy", energyText(total.energy_j)]);
  if (foreign) figures.push(["report.foreign", `${hours(foreign.held_s)} h`]);
  return html`<dl class="totals" aria-label=${t("report.totals", { since, until })}>
    ${figures.map(([word, value]) => html`<div><dt>${t(word)}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}
