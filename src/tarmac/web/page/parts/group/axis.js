// An axis: where values are, and its ticks. Values that span magnitudes get a logarithmic scale.

const LOGARITHMIC = 10; // from this ratio of the largest to the smallest value on
const FEW_MAGNITUDES = 2; // which also have ticks at 2 and 5
const TICKS = 5;

/** @typedef {{ at: (value: number) => number, ticks: { at: number, text: string }[] }} Axis */

/** @param {number[]} values @param {number} first in pixels @param {number} last @returns {Axis} */
export function axisOf(values, first, last) {
  let low = values.reduce((a, b) => Math.min(a, b));
  let high = values.reduce((a, b) => Math.max(a, b));
  const isLog = low > 0 && high / low >= LOGARITHMIC;
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const scale = isLog ? Math.log10 : (/** @type {number} */ value) => value;
  const [begin, end] = [scale(low), scale(high)];
  const at = (/** @type {number} */ value) =>
    Number((first + ((scale(value) - begin) / (end - begin)) * (last - first)).toFixed(1));
  const ticks = (isLog ? magnitudes(begin, end) : steps(begin, end)).map((value) => ({ at: at(value), text: tickText(value) }));
  return { at, ticks };
}

/** @param {number} begin @param {number} end both as powers of ten */
function magnitudes(begin, end) {
  const within = end - begin < FEW_MAGNITUDES ? [1, 2, 5] : [1];
  const powers = Array.from({ length: Math.floor(end) - Math.floor(begin) + 1 }, (_, i) => 10 ** (Math.floor(begin) + i));
  const values = powers.flatMap((power) => within.map((size) => size * power));
  return values.filter((value) => Math.log10(value) >= begin - 1e-9 && Math.log10(value) <= end + 1e-9);
}

/** @param {number} begin @param {number} end */
function steps(begin, end) {
  const rough = (end - begin) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((size) => size * power >= rough) ?? 10) * power;
  const first = Math.ceil(begin / step);
  return Array.from({ length: Math.floor(end / step) - first + 1 }, (_, i) => (first + i) * step);
}

/** @param {number} value */
function tickText(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(0).replace("e+", "e");
  return String(Number(value.toPrecision(6)));
}
