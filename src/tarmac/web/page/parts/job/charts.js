// Load and memory of the GPUs of an attempt, on one time axis.
import { html, useEffect, useRef, useState } from "/page/lib/preact.js";
import { useSignalEffect } from "/page/lib/signals.js";
import { later, style } from "/page/lib/later.js";
import { get } from "/page/data/http.js";
import { gpus, jobs, jobsVersion } from "/page/data/store.js";
import { cutSince } from "/page/data/stream.js";
import { readPoints } from "/page/data/trends.js";
import { colour, onTheme } from "/page/look/colours.js";
import { clock } from "/page/words/format.js";
import { t } from "/page/words/words.js";

const AGAIN_MS = 3000; // after a failure
const MOST_GPUS = 8;
const HEIGHT = 110;
const COLOURS = ["--running", "--succeeded", "--held", "--paused", "--failed", "--unknown", "--quiet", "--text"];

/**
 * @typedef {{ name: string, uuid?: string, total: number, most?: number, points: import("/page/data/trends.js").Point[] }} Series
 * @typedef {"load" | "memory" | "host"} What
 * @typedef {[number, number]} Span
 * @typedef {typeof import("/page/lib/chart.js").uPlot} Plot
 */

/** The host memory of an attempt, as a series of bytes. @param {number} job @param {number} attempt @returns {Promise<Series>} */
async function readHost(job, attempt) {
  /** @type {{ samples: { at: string, bytes: number }[] }} */
  const { samples } = await get(`/jobs/${job}/memory`, { attempt });
  const points = samples.map((one) => ({ at: Date.parse(one.at), load: 0, memory: one.bytes }));
  return { name: "host", total: 1, most: Math.max(0, ...samples.map((one) => one.bytes)), points };
}

/** @param {import("/page/parts/job/facts.js").WholeJob} job @param {number} number */
function useSeries(job, number) {
  const [series, setSeries] = useState(/** @type {Series[]} */ ([]));
  const [host, setHost] = useState(/** @type {Series[]} */ ([]));
  const attempt = job.attempts.find((one) => one.attempt === number);
  const begin = attempt?.started_at ? Date.parse(attempt.started_at) : 0;
  const end = attempt?.ended_at ? Date.parse(attempt.ended_at) : 0;
  useEffect(() => {
    if (!attempt || !begin) return undefined;
    const read = async () => {
      setHost([await readHost(job.id, number)]);
      const found = await Promise.all(
        attempt.gpus.slice(0, MOST_GPUS).map(async (ref) => {
          const total = gpus.peek().find((gpu) => gpu.uuid === ref.uuid)?.memory_total_bytes ?? 0;
          const points = await readPoints(
            { uuid: ref.uuid, memory_total_bytes: total || 1 },
            (Date.now() - begin) / 1000 + 1,
          );
          return {
            name: ref.name,
            uuid: ref.uuid,
            total,
            points: points.filter((point) => point.at >= begin && (!end || point.at <= end)),
          };
        }),
      );
      setSeries(found.filter((one) => one.total));
    };
    let timer = 0;
    const attemptToRead = () => void read().catch(() => (timer = setTimeout(attemptToRead, AGAIN_MS)));
    attemptToRead();
    return () => clearTimeout(timer);
  }, [begin, end, gpus.value.length, cutSince.value === null]);
  const isLive = Boolean(begin && !end);
  useSignalEffect(() => {
    const now = gpus.value;
    if (isLive) setSeries((known) => known.map((one) => continued(one, now)));
  });
  useSignalEffect(() => {
    jobsVersion.value;
    const taken = jobs.get(job.id)?.host_memory_bytes;
    if (isLive && taken) setHost((known) => known.map((one) => withMemory(one, taken)));
  });
  return { series, host };
}

/** With what the event stream says now. @param {Series} one @param {import("/page/data/types.js").Gpu[]} now @returns {Series} */
function continued(one, now) {
  const gpu = now.find((other) => other.uuid === one.uuid);
  if (!gpu) return one;
  const point = { at: Date.now(), load: gpu.utilization ?? 0, memory: (gpu.memory_used_bytes ?? 0) / one.total };
  return { ...one, points: [...one.points, point] };
}

/** @param {Series} one @param {number} taken @returns {Series} */
function withMemory(one, taken) {
  const last = one.points.at(-1);
  if (last && last.memory === taken) return one;
  const points = [...one.points, { at: Date.now(), load: 0, memory: taken }];
  return { ...one, points, most: Math.max(one.most ?? 0, taken) };
}

/** @param {{ job: import("/page/parts/job/facts.js").WholeJob, attempt: number }} props */
export function Charts({ job, attempt }) {
  const { series, host } = useSeries(job, attempt);
  const hasGpus = series.some((one) => one.points.length > 1);
  const hasHost = host.some((one) => one.points.length > 1);
  if (!hasGpus && !hasHost) return null;
  const times = [...series, ...host].flatMap((one) => one.points.map((point) => point.at / 1000));
  const span = /** @type {Span} */ ([Math.min(...times), Math.max(...times)]);
  return html`<div class="charts">
    ${hasGpus && html`<${Chart} what="load" series=${series} span=${span} />`}
    ${hasGpus && html`<${Chart} what="memory" series=${series} span=${span} />`}
    ${hasHost && html`<${Chart} what="host" series=${host} span=${span} />`}
  </div>`;
}

/**
 * All times, and the value of each GPU at each of them.
 * @param {Series[]} series @param {What} what @returns {import("/page/lib/chart.js").Aligned}
 */
function aligned(series, what) {
  const times = [...new Set(series.flatMap((one) => one.points.map((point) => Math.round(point.at / 1000))))].sort(
    (a, b) => a - b,
  );
  const lines = series.map((one) => {
    const known = new Map(
      one.points.map((point) => [
        Math.round(point.at / 1000),
        what === "load" ? point.load : (point.memory * one.total) / 2 ** 30,
      ]),
    );
    return times.map((time) => known.get(time) ?? null);
  });
  return [times, ...lines];
}

/** `span`: the time axis, which all charts share. @param {{ what: What, series: Series[], span: Span }} props */
function Chart({ what, series, span }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const plot = useRef(/** @type {InstanceType<Plot> | null} */ (null));
  const latest = useRef(series);
  latest.current = series;
  const axis = useRef(span);
  axis.current = span;
  const names = series.map((one) => one.name).join();

  useEffect(() => {
    let isGone = false;
    let stop = () => {};
    const draw = async () => {
      const { uPlot, STYLE } = await later(() => import("/page/lib/chart.js"));
      await style(STYLE);
      if (isGone || !box.current) return;
      const make = () => {
        plot.current?.destroy();
        plot.current = new uPlot(
          options(what, latest, box.current?.clientWidth ?? 300, axis),
          aligned(latest.current, what),
          /** @type {HTMLElement} */ (box.current),
        );
      };
      make();
      const sized = new ResizeObserver(() =>
        plot.current?.setSize({ width: box.current?.clientWidth ?? 300, height: HEIGHT }),
      );
      sized.observe(box.current);
      const unthemed = onTheme(make);
      stop = () => (sized.disconnect(), unthemed());
    };
    void draw();
    return () => {
      isGone = true;
      stop();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [names]);
  useEffect(() => plot.current?.setData(aligned(series, what)), [series, ...span]);

  const times = series.flatMap((one) => one.points.map((point) => point.at));
  const label = t("chart.of", {
    what: t(`chart.${what}`),
    from: clock(Math.min(...times), true),
    to: clock(Math.max(...times), true),
  });
  return html`<figure class="chart" role="img" aria-label=${label}><h3>${t(`chart.${what}`)}</h3><div class="chart-box" ref=${box}></div></figure>`;
}

const LEAST_GB = 1 / 16; // so that a small job is not a flat line

/** The upper end of the axis. @param {What} what @param {Series[]} series */
function mostOf(what, series) {
  if (what === "load") return 100;
  if (what === "memory") return Math.max(...series.map((one) => one.total)) / 2 ** 30;
  const most = Math.max(LEAST_GB, ...series.map((one) => (one.most ?? 0) / 2 ** 30));
  return 2 ** Math.ceil(Math.log2(most * 1.05));
}

/**
 * @param {What} what @param {{ current: Series[] }} latest @param {number} width @param {{ current: Span }} span
 * @returns {import("/page/lib/chart.js").Options}
 */
function options(what, latest, width, span) {
  const series = latest.current;
  const most = () => mostOf(what, latest.current);
  const axis = {
    stroke: colour("--quiet"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui",
  };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { sync: { key: "attempt" }, drag: { x: false, y: false } },
    scales: { x: { range: () => span.current }, y: { range: () => [0, most()] } },
    axes: [
      {
        ...axis,
        size: 22,
        space: 64,
        values: (_, at) => at.map((s) => clock(s * 1000, at.length > 1 && at[1] - at[0] < 60)),
      },
      { ...axis, size: 42, splits: () => [0, most() / 2, most()] },
    ],
    series: [
      {},
      ...series.map((one, i) => ({
        label: what === "host" ? t("chart.host") : `GPU ${one.name}`,
        stroke: colour(COLOURS[i % COLOURS.length]),
        width: 1.5,
        points: { show: false },
        spanGaps: true,
      })),
    ],
  };
}
