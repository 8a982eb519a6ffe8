// A week of reservations: a column for each day, from midnight to midnight.
import { html } from "/page/lib/preact.js";
import { now } from "/page/data/clock.js";
import { Others } from "/page/parts/bits.js";
import { Icon } from "/page/parts/icons.js";
import { daysLater, dayText, mondayOf, parseDay, spansOn } from "/page/parts/reserve/spans.js";
import { query } from "/page/router/router.js";
import { exact } from "/page/words/format.js";
import { locale, t } from "/page/words/words.js";

/** @typedef {import("/page/parts/reserve/spans.js").Reservation} Reservation */

const HOURS = [0, 6, 12, 18];

/** @param {{ reservations: Reservation[], onDay: ((day: Date) => void) | null }} props */
export function Week({ reservations, onDay }) {
  const today = new Date(now.value);
  const monday = mondayOf(parseDay(query.value.get("week")) ?? today);
  const days = [0, 1, 2, 3, 4, 5, 6].map((n) => daysLater(monday, n));
  const title = new Intl.DateTimeFormat(locale.value, { dateStyle: "medium" }).formatRange(days[0], days[6]);
  const step = (/** @type {number} */ n) => `/reserve?week=${dayText(daysLater(monday, n))}`;
  return html`<section class="panel" aria-label=${t("reserve.week")}>
    <header class="week-head">
      <h2>${title}</h2>
      <span class="quiet">${Intl.DateTimeFormat().resolvedOptions().timeZone}</span>
      <span class="fill"></span>
      <a class="button" href=${step(-7)} aria-label=${t("reserve.before")} title=${t("reserve.before")}><span class="turned"><${Icon} name="fold" /></span></a>
      <a class="button" href="/reserve">${t("reserve.this_week")}</a>
      <a class="button" href=${step(7)} aria-label=${t("reserve.after")} title=${t("reserve.after")}><${Icon} name="fold" /></a>
    </header>
    <div class="week">
      <div class="hours quiet" aria-hidden="true">${HOURS.map((hour) => html`<span style=${{ top: `${(hour / 24) * 100}%` }}>${String(hour).padStart(2, "0")}:00</span>`)}</div>
      ${days.map((day) => html`<${Day} key=${dayText(day)} day=${day} reservations=${reservations} isToday=${dayText(day) === dayText(today)} onDay=${onDay} />`)}
    </div>
  </section>`;
}

/** @param {{ day: Date, reservations: Reservation[], isToday: boolean, onDay: ((day: Date) => void) | null }} props */
function Day({ day, reservations, isToday, onDay }) {
  const spans = spansOn(reservations, day);
  const name = day.toLocaleDateString(locale.value, { weekday: "short", day: "numeric", month: "numeric" });
  const isOver = daysLater(day, 1).getTime() <= now.value;
  const passed = (now.value - day.getTime()) / (daysLater(day, 1).getTime() - day.getTime());
  const head = onDay && !isOver;
  return html`<div class="day" data-today=${isToday} data-over=${isOver}>
    <div class="day-head">
      ${head ? html`<button type="button" class="link" title=${t("reserve.on_day", { day: name })} onClick=${() => onDay(day)}>${name}</button>` : html`<span>${name}</span>`}
    </div>
    <ul class="day-body" aria-label=${name}>
      ${spans.map(
        (span) => html`<li key=${span.reservation.id} class="span" data-active=${span.reservation.active} style=${{
          top: `${span.top * 100}%`,
          height: `${span.height * 100}%`,
          left: `${(span.lane / span.lanes) * 100}%`,
          width: `${100 / span.lanes}%`,
        }}><${Block} reservation=${span.reservation} /></li>`,
      )}
      ${isToday && html`<li class="now" aria-hidden="true" style=${{ top: `${passed * 100}%` }}></li>`}
    </ul>
  </div>`;
}

/** @param {string} iso */
const hour = (iso) => new Date(iso).toTimeString().slice(0, 5);

/** @param {{ reservation: Reservation }} props */
function Block({ reservation }) {
  const { id, owner, gpus, begins_at, ends_at } = reservation;
  const n = gpus.length;
  const title = `#${id} ${owner}: ${t("reserve.gpus", { n })} (${gpus.map((gpu) => gpu.name).join(", ")}), ${exact(begins_at)} – ${exact(ends_at)}`;
  return html`<a class="block" href=${`#reservation-${id}`} title=${title}>
    <span class="unseen">#${id} </span><b class="cut"><${Others} text=${owner} /></b> <span class="cut">${t("reserve.gpus", { n })}</span>
    <span class="quiet cut">${hour(begins_at)}–${hour(ends_at)}</span>
  </a>`;
}
