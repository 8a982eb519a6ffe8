// Charts with axes. Only the job page imports them.
import uPlot from "/packages/uplot/dist/uPlot.esm.js";

/** @typedef {uPlot.Options} Options @typedef {uPlot.AlignedData} Aligned */

export const STYLE = "/packages/uplot/dist/uPlot.min.css";
export { uPlot };
