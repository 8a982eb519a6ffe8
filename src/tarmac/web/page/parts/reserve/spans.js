// Days of a week, and where reservations are in them. Pure.

/**
 * @typedef {{ index: number | null, uuid: string, name: string }} ReservedGpu
 * @typedef {{
 *   id: number, owner: string, node: string, gpus: ReservedGpu[], begins_at: string, ends_at: string, by: string,
 *   active: boolean, used: boolean,
 * }} Reservation
 * @typedef {{ reservation: Reservation, top: number, height: number, lane: number, lanes: number }} Span in fractions of a day
 */

/** Midnight of the Monday before or on this day. @param {Date} date */
export function mondayOf(date) {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() - ((date.getDay() + 6) % 7));
}

/** @param {Date} date @param {number} days */
export function daysLater(date, days) {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days);
}

/** `2026-01-05`, in the reader's time zone. @param {Date} date */
export function dayText(date) {
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** `2026-01-05T09:00`, as a field for a date and a time takes it. @param {Date} date */
export function minuteText(date) {
  return `${dayText(date)}T${date.toTimeString().slice(0, 5)}`;
}

/** The day of an address; undefined if it is none. @param {string | null} text */
export function parseDay(text) {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text ?? "");
  return found ? new Date(Number(found[1]), Number(found[2]) - 1, Number(found[3])) : undefined;
}

/**
 * The parts of reservations on one day. Those that overlap are beside each other.
 * @param {Reservation[]} reservations @param {Date} day its midnight
 * @returns {Span[]}
 */
export function spansOn(reservations, day) {
  const begin = day.getTime();
  const end = daysLater(day, 1).getTime(); // a day of 23 or 25 hours, too
  const length = end - begin;
  const parts = reservations
    .map((reservation) => ({
      reservation,
      from: Math.max(begin, Date.parse(reservation.begins_at)),
      to: Math.min(end, Date.parse(reservation.ends_at)),
    }))
    .filter(({ from, to }) => from < to)
    .sort((a, b) => a.from - b.from || a.reservation.id - b.reservation.id);
  /** @type {number[]} */
  let lanes = []; // when each is free again; a new list once all are
  const placed = parts.map((part) => {
    if (lanes.every((until) => until <= part.from)) lanes = [];
    const free = lanes.findIndex((until) => until <= part.from);
    const lane = free < 0 ? lanes.length : free;
    lanes[lane] = part.to;
    return { ...part, lane, lanes };
  });
  return placed.map(({ reservation, from, to, lane, lanes: beside }) => ({
    reservation,
    lane,
    lanes: beside.length,
    top: (from - begin) / length,
    height: (to - from) / length,
  }));
}
