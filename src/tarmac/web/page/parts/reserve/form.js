// Reserve GPUs for a user. The server chooses which, and warns if one may not be free in time.
import { html, useState } from "/page/lib/preact.js";
import { signal } from "/page/lib/signals.js";
import { useDraft } from "/page/data/drafts.js";
import { post, Refusal, session } from "/page/data/http.js";
import { CopyCommand, Others } from "/page/parts/bits.js";
import { minuteText } from "/page/parts/reserve/spans.js";
import { say } from "/page/parts/toast.js";
import { shellCommand } from "/page/words/format.js";
import { t } from "/page/words/words.js";

const HOUR_MS = 3_600_000;
const FIRST_HOUR = 9;

/** A day that was chosen in the calendar. */
const chosenDay = signal(/** @type {Date | null} */ (null));

/** Begin the reservation on this day. @param {Date} day */
export function startOn(day) {
  chosenDay.value = day;
  document.getElementById("reserve-from")?.focus();
}

/** The next full hour. */
function soon() {
  return new Date(Math.ceil(Date.now() / HOUR_MS) * HOUR_MS);
}

/** `6h`, `90m`: as `tarmac reserve --for` takes it. @param {number} ms */
function lengthText(ms) {
  const minutes = Math.round(ms / 60_000);
  return minutes % 60 ? `${minutes}m` : `${minutes / 60}h`;
}

/** With the offset of the reader's time zone, so that it means the same on the machine. @param {Date} date */
function isoText(date) {
  const offset = -date.getTimezoneOffset();
  const two = (/** @type {number} */ n) => String(Math.floor(Math.abs(n))).padStart(2, "0");
  return `${minuteText(date)}${offset < 0 ? "-" : "+"}${two(offset / 60)}:${two(Math.abs(offset) % 60)}`;
}

/** @param {{ onMade: () => void }} props */
export function ReservationForm({ onMade }) {
  const [gpus, setGpus] = useDraft("reserve.gpus", "1");
  const [from, setFrom, dropFrom] = useDraft("reserve.from", minuteText(soon()));
  const [until, setUntil, dropUntil] = useDraft("reserve.until", minuteText(new Date(soon().getTime() + 6 * HOUR_MS)));
  const [user, setUser] = useDraft("reserve.user", session.peek()?.user ?? "");
  const [answer, setAnswer] = useState(/** @type {{ lines: string[], isBad: boolean } | null} */ (null));
  if (chosenDay.value) {
    const begin = new Date(chosenDay.value);
    begin.setHours(FIRST_HOUR);
    const start = begin.getTime() < Date.now() ? soon() : begin;
    chosenDay.value = null;
    setFrom(minuteText(start));
    setUntil(minuteText(new Date(start.getTime() + 6 * HOUR_MS)));
  }
  const begins = new Date(from);
  const lasts = new Date(until).getTime() - begins.getTime();
  const isWhole = Number.isFinite(lasts);
  const command = isWhole
    ? shellCommand(["tarmac", "reserve", gpus, "--from", isoText(begins), "--for", lengthText(lasts), ...(user ? ["--user", user] : [])])
    : "tarmac reserve";
  const onSubmit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      const asked = { gpus, from: begins.getTime() / 1000, for_s: lasts / 1000, ...(user && { user }) };
      const made = await post("/reservations", asked);
      setAnswer(made.warnings.length ? { lines: made.warnings, isBad: false } : null);
      const undo = () => void post(`/reservations/${made.id}/end`, {}).then(onMade);
      say({ text: t("reserve.did", { id: made.id, names: made.gpus.map((/** @type {any} */ gpu) => gpu.name).join(", ") }), command, undo });
      dropFrom();
      dropUntil();
      onMade();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      setAnswer({ lines: [error.message, error.hint ?? ""].filter(Boolean), isBad: true });
    }
  };
  /** @param {(text: string) => void} set */
  const typed = (set) => (/** @type {any} */ event) => set(event.target.value);
  return html`<section class="panel" aria-label=${t("reserve.new")}>
    <h2>${t("reserve.new")}</h2>
    <form class="inline-form" onSubmit=${onSubmit}>
      <label class="stacked">${t("reserve.gpu_count")} <input class="field narrow" name="gpus" inputmode="numeric" required value=${gpus} onInput=${typed(setGpus)} /></label>
      <label class="stacked">${t("reserve.from")} <input class="field" id="reserve-from" type="datetime-local" required value=${from} onInput=${typed(setFrom)} /></label>
      <label class="stacked">${t("reserve.until")} <input class="field" type="datetime-local" required min=${from} value=${until} onInput=${typed(setUntil)} /></label>
      <label class="stacked">${t("reserve.user")} <input class="field" value=${user} maxlength="256" onInput=${typed(setUser)} /></label>
      <span class="split"><button class="button first" disabled=${!isWhole}>${t("reserve.do")}</button><${CopyCommand} command=${command} /></span>
    </form>
    <p class="quiet"><code>${command}</code></p>
    ${answer && html`<div class=${answer.isBad ? "problem" : "warning"} role="alert">${answer.lines.map((line) => html`<p><${Others} text=${line} /></p>`)}</div>`}
  </section>`;
}
