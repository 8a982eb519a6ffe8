// A metric over a parameter, with a colour and a shape for each value of another one.
import { html } from "/page/lib/preact.js";
import { asNumber } from "/page/parts/group/table.js";
import { axisOf } from "/page/parts/group/axis.js";
import { go, query, setQuery } from "/page/router/router.js";
import { visible } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {import("/page/parts/group/asked.js").Results} Results
 * @typedef {import("/page/parts/group/asked.js").Result} Result
 */

const [WIDTH, HEIGHT] = [640, 340];
const [LEFT, RIGHT, TOP, BOTTOM] = [62, 12, 10, 40];
const RANK = "rank"; // jobs in their order, the best first
const MOST_GROUPS = 8; // as many as there are shapes

/** Drawings around 0,0. */
const SHAPES = [
  "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
  "M-4-4h8v8h-8z",
  "M0-5.5 5 4h-10z",
  "M0-5.5 5.5 0 0 5.5-5.5 0z",
  "M0 5.5-5-4h10z",
  "M-1.5-5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z",
  "M-5-2.5-2.5-5 0-2.5 2.5-5 5-2.5 2.5 0 5 2.5 2.5 5 0 2.5-2.5 5-5 2.5-2.5 0z",
  "M-5-2h10v4h-10z",
];

/** Parameters that differ, and those of them that are numbers. @param {Result[]} jobs */
export function dimensions(jobs) {
  const names = [...new Set(jobs.flatMap((job) => Object.keys(job.params)))];
  const valuesOf = (/** @type {string} */ name) => new Set(jobs.map((job) => job.params[name] ?? ""));
  const varied = names.filter((name) => valuesOf(name).size > 1);
  const numeric = varied.filter((name) => [...valuesOf(name)].every((value) => asNumber(value) !== null));
  const most = numeric.toSorted((a, b) => valuesOf(b).size - valuesOf(a).size)[0];
  const hasIndex = jobs.some((job) => job.index !== null);
  return { varied, over: [...numeric, ...(hasIndex ? ["index"] : []), RANK], preferred: most ?? (hasIndex ? "index" : RANK) };
}

/** @param {{ results: Results, ranked: Result[] }} props ranked: the best first */
export function Plot({ results, ranked }) {
  const { varied, over, preferred } = dimensions(results.jobs);
  const chosen = (/** @type {string} */ name, /** @type {string[]} */ from, /** @type {string} */ otherwise) =>
    from.includes(query.value.get(name) ?? "") ? (query.value.get(name) ?? "") : otherwise;
  const y = chosen("y", results.metrics, results.metrics[0]);
  const x = chosen("x", over, preferred);
  const rest = varied.filter((name) => name !== x);
  const colour = query.value.get("colour") === "none" ? "" : chosen("colour", rest, rest[0] ?? "");
  return html`<figure class="plot">
    <figcaption>
      <${Chooser} name="y" word="plot.y" value=${y} from=${results.metrics} />
      <${Chooser} name="x" word="plot.x" value=${x} from=${over} />
      ${rest.length > 0 && html`<${Chooser} name="colour" word="plot.colour" value=${colour || "none"} from=${[...rest, "none"]} />`}
    </figcaption>
    <${Drawing} jobs=${ranked} x=${x} y=${y} colour=${colour} />
  </figure>`;
}

/** @param {string} name */
const label = (name) => (name === RANK ? t("plot.rank") : name === "none" ? t("plot.one_colour") : visible(name));

/** @param {{ name: string, word: string, value: string, from: string[] }} props */
function Chooser({ name, word, value, from }) {
  return html`<label><span class="quiet">${t(word)}</span> <select class="field" value=${value}
    onChange=${(/** @type {any} */ event) => setQuery({ [name]: event.target.value })}>
    ${from.map((one) => html`<option value=${one}>${label(one)}</option>`)}</select></label>`;
}

/** @param {Result} job @param {string} x @param {number} rank */
function across(job, x, rank) {
  if (x === RANK) return rank + 1;
  return x === "index" ? job.index : asNumber(job.params[x] ?? "");
}

/** @param {{ jobs: Result[], x: string, y: string, colour: string }} props */
function Drawing({ jobs, x, y, colour }) {
  const points = jobs.flatMap((job, rank) => {
    const [right, up] = [across(job, x, rank), job.metrics[y]];
    return right === null || typeof up !== "number" ? [] : [{ job, right, up, kind: colour ? (job.params[colour] ?? "") : "" }];
  });
  if (!points.length) return html`<p class="quiet none">${t("plot.none", { y: visible(y), x: label(x) })}</p>`;
  const kinds = [...new Set(points.map((point) => point.kind))];
  kinds.sort((a, b) => (asNumber(a) ?? 0) - (asNumber(b) ?? 0) || a.localeCompare(b));
  const kindOf = (/** @type {string} */ kind) => Math.min(kinds.indexOf(kind), MOST_GROUPS - 1);
  const right = axisOf(points.map((point) => point.right), LEFT + 8, WIDTH - RIGHT - 8);
  const up = axisOf(points.map((point) => point.up), HEIGHT - BOTTOM - 8, TOP + 8);
  return html`<svg role="img" aria-label=${t("plot.label", { n: points.length, y: visible(y), x: label(x) })} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`}>
      ${right.ticks.map(({ at, text }) => html`<line x1=${at} y1=${TOP} x2=${at} y2=${HEIGHT - BOTTOM} /><text x=${at} y=${HEIGHT - BOTTOM + 15} text-anchor="middle">${text}</text>`)}
      ${up.ticks.map(({ at, text }) => html`<line x1=${LEFT} y1=${at} x2=${WIDTH - RIGHT} y2=${at} /><text x=${LEFT - 7} y=${at + 4} text-anchor="end">${text}</text>`)}
      <text x=${(LEFT + WIDTH - RIGHT) / 2} y=${HEIGHT - 6} text-anchor="middle" class="axis-name">${label(x)}</text>
      ${points.map(
        (point) => html`<path key=${point.job.id} class="point" data-kind=${kindOf(point.kind)} d=${SHAPES[kindOf(point.kind)]}
          transform=${`translate(${right.at(point.right)} ${up.at(point.up)})`} onClick=${() => go(`/jobs/${point.job.id}`)}>
          <title>${pointText(point.job, y)}</title></path>`,
      )}
    </svg>
    ${colour && html`<ul class="legend" aria-label=${visible(colour)}>${kinds.slice(0, MOST_GROUPS).map(
      (kind, i) => html`<li><svg width="12" height="12" viewBox="-6 -6 12 12" aria-hidden="true"><path class="point" data-kind=${i} d=${SHAPES[i]} /></svg>
        ${visible(`${colour}=${kind}`)}${i === MOST_GROUPS - 1 && kinds.length > MOST_GROUPS ? " …" : ""}</li>`,
    )}</ul>`}`;
}

/** @param {Result} job @param {string} y */
function pointText(job, y) {
  const params = Object.entries(job.params).map(([name, value]) => `${name}=${value}`);
  return t("plot.point", { id: job.id, words: visible([...params, `${y}=${job.metrics[y]}`].join(" ")) });
}
