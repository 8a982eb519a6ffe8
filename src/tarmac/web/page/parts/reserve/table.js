// The list of reservations, with a way to end each.
import { html } from "/page/lib/preact.js";
import { post, session } from "/page/data/http.js";
import { Others } from "/page/parts/bits.js";
import { CommandButton } from "/page/parts/command_button.js";
import { confirm } from "/page/parts/dialog.js";
import { clock, exact, relative } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/** @typedef {import("/page/parts/reserve/spans.js").Reservation} Reservation */

/** @param {Reservation} one */
function stateOf(one) {
  if (!one.active) return t("reserve.begins", { time: relative(one.begins_at) });
  return t(one.used ? "reserve.used" : "reserve.unused");
}

/** @param {{ reservations: Reservation[], onEnded: () => void }} props */
export function ReservationTable({ reservations, onEnded }) {
  return html`<ul class="plain-rows">${reservations.map((one) => html`<${Row} key=${one.id} one=${one} onEnded=${onEnded} />`)}</ul>`;
}

/** @param {{ one: Reservation, onEnded: () => void }} props */
function Row({ one, onEnded }) {
  const { id, owner, gpus, begins_at, ends_at } = one;
  const mayEnd = session.value?.is_admin || session.value?.user === owner;
  const command = `tarmac reserve end ${id}`;
  const end = async () => {
    const text = [t("reserve.end_text", { owner, n: gpus.length })];
    if (!(await confirm({ title: t("reserve.end_title", { id }), text, action: t("reserve.end"), command }))) return null;
    await post(`/reservations/${id}/end`, {});
    onEnded();
    return { text: t("reserve.did_end", { id }) };
  };
  return html`<li id=${`reservation-${id}`} tabindex="-1">
    <span class="what"><span class="quiet">#${id}</span> <b><${Others} text=${owner} /></b></span>
    <span>${t("reserve.named", { n: gpus.length, names: gpus.map((gpu) => gpu.name).join(", ") })} <span class="quiet"><${Others} text=${one.node} /></span><br />
      <time datetime=${begins_at} title=${exact(begins_at)}>${clock(begins_at)}</time> – <time datetime=${ends_at} title=${exact(ends_at)}>${clock(ends_at)}</time>
      <span class="quiet"> ${stateOf(one)}</span></span>
    ${mayEnd ? html`<${CommandButton} label=${t("reserve.end")} command=${command} run=${end} />` : html`<span></span>`}
  </li>`;
}
