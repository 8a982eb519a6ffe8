// How busy all GPUs were, by hour and day: is anything idle at night, and on which days?
//
// All cells of one shade are one path, so that a quarter of a year costs the browser no more than a week.
import { html, useState } from "/page/lib/preact.js";
import { hoursLike } from "/page/parts/reports/report.js";
import { query, setQuery } from "/page/router/router.js";
import { dayText } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/** @typedef {import("/page/parts/reports/report.js").DayOfHours} DayOfHours */

const HOURS = 24;
const CELL = 10;
const SHADES = 6;
const LABELS = 8;
const SHOWN = ["used", "held"];
const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
const clockOf = (/** @type {number} */ hour) => `${two(hour % HOURS)}:00`;

/** @param {DayOfHours} day @param {number} hour @param {string} what */
function shareOf(day, hour, what) {
  const whole = what === "used" ? day.measured_s[hour] : day.present_s[hour];
  const part = what === "used" ? day.used_s[hour] : day.held_s[hour];
  return whole ? Math.min(1, (part ?? 0) / whole) : null;
}

/** A path for each shade; the first has the cells that are known and nearly idle. @param {DayOfHours[]} days @param {string} what */
function pathsOf(days, what) {
  const paths = Array.from({ length: SHADES }, () => /** @type {string[]} */ ([]));
  days.forEach((day, x) => {
    for (let hour = 0; hour < HOURS; hour += 1) {
      const share = shareOf(day, hour, what);
      if (share === null) continue;
      paths[Math.min(SHADES - 1, Math.floor(share * SHADES))].push(`M${x * CELL} ${hour * CELL}h${CELL}v${CELL}h-${CELL}z`);
    }
  });
  return paths.map((parts) => parts.join(""));
}

/** What the map says, in words. @param {DayOfHours[]} days @param {string} what */
function summary(days, what) {
  const sum = (/** @type {(number | null)[]} */ some) => some.reduce((/** @type {number} */ a, b) => a + (b ?? 0), 0);
  const present = sum(days.map((day) => sum(day.present_s)));
  const held = sum(days.map((day) => sum(day.held_s)));
  const hours = hoursLike(present);
  const [part, whole] = what === "used" ? /** @type {const} */ (["used_s", "measured_s"]) : /** @type {const} */ (["held_s", "present_s"]);
  const means = Array.from({ length: HOURS }, (_, hour) => {
    const all = sum(days.map((day) => day[whole][hour]));
    return { hour, share: all ? sum(days.map((day) => day[part][hour])) / all : null };
  }).filter((/** @type {any} */ one) => one.share !== null);
  means.sort((a, b) => (b.share ?? 0) - (a.share ?? 0));
  const sentences = [t("heat.idle", { idle: hours(present - held), present: hours(present) })];
  const [high, low] = [means[0], means.at(-1)];
  const percent = (/** @type {number | null} */ share) => Math.round(100 * (share ?? 0));
  if (high && low && percent(high.share) > percent(low.share)) {
    sentences.push(
      t("heat.extremes", { busy: clockOf(high.hour), high: percent(high.share), quiet: clockOf(low.hour), low: percent(low.share) }),
    );
  }
  return sentences.join(" ");
}

/** @param {DayOfHours} day @param {number} hour */
function cellText(day, hour) {
  const place = { day: dayText(day.day), from: clockOf(hour), to: clockOf(hour + 1) };
  const [used, held] = SHOWN.map((what) => shareOf(day, hour, what));
  if (held === null) return t("heat.unknown", place);
  const percent = (/** @type {number | null} */ share) => (share === null ? "–" : Math.round(100 * share));
  return t("heat.cell", { ...place, used: percent(used), held: percent(held) });
}

/** @param {{ days: DayOfHours[] }} props */
export function Heat({ days }) {
  const what = query.value.get("map") === "held" ? "held" : "used";
  const isKnown = days.some((day) => day.present_s.some(Boolean));
  return html`<figure class="heat">
    <figcaption><h2>${t("heat.title")}</h2>
      <select class="field" aria-label=${t("heat.of")} value=${what}
        onChange=${(/** @type {any} */ event) => setQuery({ map: event.target.value === "used" ? null : event.target.value }, { isStep: true })}>
        ${SHOWN.map((one) => html`<option value=${one}>${t(`heat.${one}`)}</option>`)}
      </select>
      <span class="fill"></span>
      <span class="key quiet" aria-hidden="true">0 % ${Array.from({ length: SHADES }, (_, i) => html`<i data-shade=${i}></i>`)} 100 %</span>
    </figcaption>
    ${isKnown ? html`<${Map} days=${days} what=${what} />` : html`<p class="quiet none">${t("heat.none")}</p>`}
  </figure>`;
}

/** @param {{ days: DayOfHours[], what: string }} props */
function Map({ days, what }) {
  const [at, setAt] = useState(/** @type {{ x: number, hour: number } | null} */ (null));
  const put = (/** @type {number} */ x, /** @type {number} */ hour) =>
    setAt({ x: Math.max(0, Math.min(days.length - 1, x)), hour: Math.max(0, Math.min(HOURS - 1, hour)) });
  const onMove = (/** @type {any} */ event) => {
    const box = event.currentTarget.getBoundingClientRect();
    put(
      Math.floor(((event.clientX - box.left) / box.width) * days.length),
      Math.floor(((event.clientY - box.top) / box.height) * HOURS),
    );
  };
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    put((at?.x ?? days.length - 1) + (at ? step[0] : 0), (at?.hour ?? 0) + (at ? step[1] : 0));
  };
  const every = Math.ceil(days.length / LABELS);
  const shown = at && days[at.x] ? at : null;
  return html`<div class="map">
      <div class="hours" aria-hidden="true">${[0, 6, 12, 18].map((hour) => html`<span style=${{ top: `${(hour * 100) / HOURS}%` }}>${clockOf(hour)}</span>`)}</div>
      <svg role="application" tabindex="0" aria-label=${t("heat.label")} aria-describedby="heat-cell" preserveAspectRatio="none"
        viewBox=${`0 0 ${days.length * CELL} ${HOURS * CELL}`} shape-rendering="crispEdges" onPointerMove=${onMove}
        onPointerLeave=${() => setAt(null)} onKeyDown=${onKey}>
        ${pathsOf(days, what).map((d, i) => html`<path key=${i} data-shade=${i} d=${d} />`)}
        ${shown && html`<rect class="cursor" x=${shown.x * CELL} y=${shown.hour * CELL} width=${CELL} height=${CELL} vector-effect="non-scaling-stroke" />`}
      </svg>
      <div class="axis" aria-hidden="true">${days.map(
        (day, i) =>
          i % every === 0 &&
          html`<span style=${{ left: `${((i + 0.5) * 100) / days.length}%` }}>${dayText(day.day, true)}</span>`,
      )}</div>
    </div>
    <p id="heat-cell" class="said" aria-live="polite">${shown ? cellText(days[shown.x], shown.hour) : summary(days, what)}</p>`;
}
