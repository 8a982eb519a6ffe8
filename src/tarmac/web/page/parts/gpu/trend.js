// A small chart of one GPU: load as an area, memory as a line.
import { html } from "/page/lib/preact.js";
import { pointsOf, RANGES, trendsVersion } from "/page/data/trends.js";
import { t } from "/page/words/words.js";

const BINS = 60;
const WIDTH = 240;
const HEIGHT = 30;

/** Averages over equal spans of time, from the first that is known. Minutes without a sample were idle. @param {string} uuid @param {number} seconds */
function binned(uuid, seconds) {
  const end = Date.now();
  const begin = end - seconds * 1000;
  const bins = Array.from({ length: BINS }, () => ({ n: 0, load: 0, memory: 0 }));
  for (const point of pointsOf(uuid)) {
    const bin = bins[Math.min(BINS - 1, Math.floor(((point.at - begin) / (end - begin)) * BINS))];
    if (!bin) continue;
    bin.n += 1;
    bin.load += point.load;
    bin.memory += point.memory;
  }
  const isFine = seconds <= RANGES["10m"];
  const first = isFine ? bins.findIndex((bin) => bin.n > 0) : 0;
  let last = { load: 0, memory: 0 };
  return bins.map(({ n, load, memory }, i) => {
    if (n) last = { load: load / n / 100, memory: memory / n };
    else if (!isFine) last = { load: 0, memory: 0 };
    return i < first || first < 0 ? null : last;
  });
}

/** @param {number} i */
const across = (i) => ((i * WIDTH) / (BINS - 1)).toFixed(1);

/** @param {({ load: number, memory: number } | null)[]} bins @param {"load" | "memory"} what */
function line(bins, what) {
  return bins
    .flatMap((bin, i) => (bin ? [`${across(i)},${(HEIGHT - 1 - bin[what] * (HEIGHT - 2)).toFixed(1)}`] : []))
    .join(" ");
}

/** @param {{ uuid: string, range: string }} props */
export function Trend({ uuid, range }) {
  trendsVersion.value;
  const bins = binned(uuid, RANGES[range]);
  const known = bins.filter((bin) => bin !== null);
  const mean = Math.round((100 * known.reduce((sum, bin) => sum + bin.load, 0)) / (known.length || 1));
  const first = across(BINS - known.length);
  const label = t("trend", { range: t(`range.${range}`), mean });
  return html`<svg class="trend" role="img" aria-label=${label} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none">
    <title>${label}</title>
    <polygon class="trend-load" points=${known.length ? `${first},${HEIGHT} ${line(bins, "load")} ${WIDTH},${HEIGHT}` : ""} />
    <polyline class="trend-memory" points=${line(bins, "memory")} />
  </svg>`;
}
