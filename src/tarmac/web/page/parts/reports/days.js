// A bar for each day: what jobs held, with the used part filled.
import { html } from "/page/lib/preact.js";
import { hoursLike } from "/page/parts/reports/report.js";
import { dayText } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/** @typedef {import("/page/parts/reports/report.js").Report} Report */

const WIDTH = 1000; // the drawing is stretched to the room there is
const HEIGHT = 140;
const LABELS = 8;

/** @param {{ report: Report, days: string[] }} props days: all of the period */
export function Days({ report, days }) {
  const of = new Map(report.rows.map((row) => [row.name, row]));
  const largest = Math.max(...report.rows.map((row) => row.held_s), 1e-9);
  const hours = hoursLike(report.total.held_s);
  const step = WIDTH / days.length;
  const bar = Math.max(step * 0.78, Math.min(step, 1));
  const label = t("report.by_day_label", {
    since: report.since,
    until: report.until,
    held: hours(report.rows.reduce((sum, row) => sum + row.held_s, 0)),
    used: hours(report.rows.reduce((sum, row) => sum + row.used_s, 0)),
  });
  const every = Math.ceil(days.length / LABELS);
  return html`<figure class="days">
    <figcaption><h2>${t("report.by_day")}</h2> <${Key} /> <span class="fill"></span> <span class="quiet number">${t("report.most", { hours: hours(largest) })}</span></figcaption>
    <svg role="img" aria-label=${label} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none">
      ${days.map((day, i) => {
        const row = of.get(day);
        if (!row) return null;
        const [held, used] = [row.held_s, Math.min(row.used_s, row.held_s)].map((s) => (HEIGHT * s) / largest);
        const x = i * step + (step - bar) / 2;
        return html`<g key=${day}>
          <title>${t("report.day_figures", { day: dayText(day), held: hours(row.held_s), used: hours(row.used_s) })}</title>
          <rect class="hover" x=${i * step} y="0" width=${step} height=${HEIGHT} />
          <rect class="held" x=${x} y=${HEIGHT - held} width=${bar} height=${held} />
          <rect class="used" x=${x} y=${HEIGHT - used} width=${bar} height=${used} />
        </g>`;
      })}
    </svg>
    <div class="axis" aria-hidden="true">${days.map(
      (day, i) =>
        i % every === 0 &&
        html`<span style=${{ left: `${((i + 0.5) * 100) / days.length}%` }}>${dayText(day, true)}</span>`,
    )}</div>
  </figure>`;
}

/** What the two colours mean. */
function Key() {
  return html`<span class="key quiet"><i class="held"></i> ${t("report.held")} <i class="used"></i> ${t("report.used")}</span>`;
}
