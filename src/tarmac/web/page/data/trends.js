// How load and memory of each GPU went: read once, then continued by the event stream.
import { effect, signal, untracked } from "/page/lib/signals.js";
import { get } from "/page/data/http.js";
import { gpus } from "/page/data/store.js";

/** @typedef {{ at: number, load: number, memory: number }} Point memory: a fraction */

/** Seconds, by the word in the address. @type {Record<string, number>} */
export const RANGES = { "10m": 600, "24h": 86_400, "7d": 604_800 };
const FINE_S = 600; // up to here every reading is used, beyond it one per minute
const MINUTE_MS = 60_000;

/** Counts up when points were added. */
export const trendsVersion = signal(0);
/** @type {Map<string, Point[]>} */
const points = new Map();
let shown = "";

/** The points of a GPU, oldest first. @param {string} uuid */
export const pointsOf = (uuid) => points.get(uuid) ?? [];

/** Keep the trends of all GPUs, or of those of one node, up to date. @param {string} range @returns {() => void} ends it */
export function followTrends(range, node = "") {
  const wanted = `${range} ${node}`;
  if (shown !== wanted) points.clear();
  shown = wanted;
  const seconds = RANGES[range];
  const isMeant = (/** @type {import("/page/data/types.js").Gpu} */ gpu) => !node || gpu.node === node;
  void readTrends(wanted, seconds, isMeant);
  return effect(() => {
    const at = Date.now();
    for (const gpu of gpus.value) if (isMeant(gpu)) append(gpu, at, seconds);
    untracked(() => (trendsVersion.value += 1));
  });
}

/** @param {import("/page/data/types.js").Gpu} gpu @param {number} at @param {number} seconds */
function append(gpu, at, seconds) {
  const own = points.get(gpu.uuid) ?? [];
  if (seconds > FINE_S && at - (own.at(-1)?.at ?? 0) < MINUTE_MS) return;
  own.push({ at, load: gpu.utilization ?? 0, memory: (gpu.memory_used_bytes ?? 0) / gpu.memory_total_bytes });
  while (own[0] && own[0].at < at - seconds * 1000) own.shift();
  points.set(gpu.uuid, own);
}

/**
 * What was measured in the last seconds. Of a short time every reading; where the controller has forgotten these, and
 * of a long time, the averages of minutes.
 * @param {{ uuid: string, memory_total_bytes: number }} gpu @param {number} seconds @returns {Promise<Point[]>}
 */
export async function readPoints(gpu, seconds) {
  const read = async (/** @type {number} */ fine) => {
    const { samples } = await get(`/gpus/${gpu.uuid}/samples`, { since_s: Math.ceil(seconds), fine });
    return samples.map((/** @type {any} */ one) => ({
      at: Date.parse(one.at),
      load: one.utilization ?? 0,
      memory: (one.memory_used_bytes ?? 0) / gpu.memory_total_bytes,
    }));
  };
  if (seconds > FINE_S) return read(0);
  const fine = await read(1);
  const first = fine[0]?.at ?? Infinity;
  if (first < Date.now() - (seconds - 60) * 1000) return fine;
  return [...(await read(0)).filter((/** @type {Point} */ point) => point.at < first), ...fine];
}

/** @param {string} wanted @param {number} seconds @param {(gpu: import("/page/data/types.js").Gpu) => boolean} isMeant */
async function readTrends(wanted, seconds, isMeant) {
  if (document.visibilityState !== "visible") return;
  await Promise.all(
    gpus.peek().filter(isMeant).map(async (gpu) => {
      try {
        const read = await readPoints(gpu, seconds);
        const last = read.at(-1)?.at ?? 0;
        if (shown === wanted) points.set(gpu.uuid, [...read, ...pointsOf(gpu.uuid).filter((point) => point.at > last)]);
      } catch {
        // A chart without a past is still a chart; the stream notices if the server is away.
      }
    }),
  );
  trendsVersion.value += 1;
}
