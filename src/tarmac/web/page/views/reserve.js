// Reservations: a week as a calendar, the list, and a form. Times are in the reader's time zone.
import { html } from "/page/lib/preact.js";
import { session } from "/page/data/http.js";
import { useReading } from "/page/data/reading.js";
import { CopyCommand } from "/page/parts/bits.js";
import { ReservationForm, startOn } from "/page/parts/reserve/form.js";
import { ReservationTable } from "/page/parts/reserve/table.js";
import { Week } from "/page/parts/reserve/week.js";
import { t } from "/page/words/words.js";
import "/page/words/rooms/reserve.js";

/** @typedef {import("/page/parts/reserve/spans.js").Reservation} Reservation */

export function Reserve() {
  const list = /** @type {import("/page/data/reading.js").Reading<{ reservations: Reservation[] }>} */ (
    useReading("/reservations")
  );
  const isAdmin = session.value?.is_admin ?? false;
  return html`<div class="panels reserve">
    <h1 class="unseen">${t("view.reserve")}</h1>
    ${list.problem && html`<p class="problem panel" role="alert">${list.problem}</p>`}
    ${isAdmin && html`<${ReservationForm} onMade=${list.again} />`}
    ${list.value && html`<${Week} reservations=${list.value.reservations} onDay=${isAdmin ? startOn : null} />`}
    <section class="panel" aria-label=${t("reserve.list")}>
      <h2>${t("reserve.list")}</h2>
      ${list.value?.reservations.length === 0 && html`<p>${t(isAdmin ? "reserve.none_admin" : "reserve.none")}</p>
        <p class="command"><code>tarmac reserve 4 --from 'tomorrow 9:00' --for 6h</code><${CopyCommand} command="tarmac reserve 4 --from 'tomorrow 9:00' --for 6h" isBare /></p>`}
      ${list.value && list.value.reservations.length > 0 && html`<${ReservationTable} reservations=${list.value.reservations} onEnded=${list.again} />`}
    </section>
  </div>`;
}
