// The jobs of a group as a table: parameters, and metrics if they were read. Sorted by any column.
import { html, useMemo, useRef } from "/page/lib/preact.js";
import { Others } from "/page/parts/bits.js";
import { Icon } from "/page/parts/icons.js";
import { useRows } from "/page/parts/queue/visible_rows.js";
import { State } from "/page/parts/state.js";
import { setQuery } from "/page/router/router.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {{ key: string, title: string, isNumber: boolean, of: (row: Row) => number | string | null }} Column
 * @typedef {import("/page/parts/group/asked.js").Result & { detail?: string }} Row
 */

const ROW = 30;
const GAP = 12; // between columns
/** Pixels, of columns that do not grow. @type {Record<string, number>} */
const WIDTHS = { id: 64, state: 142, index: 64 };

/** A number where the text reads as one. @param {string} text */
export const asNumber = (text) => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : null);

/** @param {Row[]} rows @param {string[]} metrics @returns {Column[]} */
export function columnsOf(rows, metrics) {
  /** @type {Column[]} */
  const columns = [
    { key: "id", title: t("column.id"), isNumber: true, of: (row) => row.id },
    { key: "state", title: t("column.state"), isNumber: false, of: (row) => row.state },
  ];
  if (rows.some((row) => row.index !== null)) {
    columns.push({ key: "index", title: "index", isNumber: true, of: (row) => row.index });
  }
  const params = [...new Set(rows.flatMap((row) => Object.keys(row.params)))];
  for (const name of params) {
    const isNumber = rows.every((row) => row.params[name] === undefined || asNumber(row.params[name]) !== null);
    columns.push({ key: `param:${name}`, title: name, isNumber, of: (row) => row.params[name] ?? null });
  }
  if (!params.length && rows.some((row) => row.name)) {
    columns.push({ key: "name", title: t("column.name"), isNumber: false, of: (row) => row.name });
  }
  for (const name of metrics) {
    columns.push({ key: name, title: name, isNumber: true, of: (row) => row.metrics[name] ?? null });
  }
  return columns;
}

/** Numbers first, then texts; rows without a value last, in either direction. @param {Row[]} rows @param {Column | undefined} column @param {boolean} isDown */
export function sortedRows(rows, column, isDown) {
  if (!column) return rows;
  const sign = isDown ? -1 : 1;
  const keyed = rows.map((row) => {
    const value = column.of(row);
    const number = typeof value === "string" ? asNumber(value) : value;
    return { row, number, text: value === null ? null : String(value) };
  });
  keyed.sort((a, b) => {
    if (a.text === null || b.text === null) return Number(a.text === null) - Number(b.text === null) || a.row.id - b.row.id;
    if (a.number !== null && b.number !== null) return sign * (a.number - b.number) || a.row.id - b.row.id;
    if (a.number !== null || b.number !== null) return a.number === null ? 1 : -1;
    return sign * a.text.localeCompare(b.text) || a.row.id - b.row.id;
  });
  return keyed.map(({ row }) => row);
}

/** As the command line writes it: up to ten digits. @param {number | string | null} value */
const valueText = (value) => (typeof value === "number" ? String(Number(value.toPrecision(10))) : (value ?? ""));

/** @param {{ rows: Row[], columns: Column[], order: { name: string, isDown: boolean }, best: number | null, label: string }} props */
export function ResultsTable({ rows, columns, order, best, label }) {
  const ref = useRef(/** @type {HTMLDivElement | null} */ (null));
  const sorted = useMemo(
    () =>
      sortedRows(
        rows,
        columns.find((column) => column.key === order.name),
        order.isDown,
      ),
    [rows, columns, order.name, order.isDown],
  );
  const visible = useRows(ref, sorted.length, ROW, 0);
  const widths = columns.map(({ key, title }) => WIDTHS[key] ?? Math.min(240, Math.max(60, 9 * title.length + 24)));
  const style = {
    gridTemplateColumns: columns.map(({ key }, i) => (key in WIDTHS ? `${widths[i]}px` : `minmax(${widths[i]}px, 1fr)`)).join(" "),
    minWidth: `${widths.reduce((sum, width) => sum + width + GAP, GAP)}px`,
  };
  const next = (/** @type {Column} */ { key }) => (order.name === key && !order.isDown ? `-${key}` : key);
  return html`<div class="results-table" ref=${ref} role="grid" tabindex="0" aria-label=${label} aria-rowcount=${rows.length + 1}>
    <div role="rowgroup"><div class="result-row head" role="row" style=${style}>
      ${columns.map((column) => {
        const isSorted = order.name === column.key;
        return html`<span key=${column.key} role="columnheader" class=${column.isNumber ? "number" : ""} aria-sort=${isSorted ? (order.isDown ? "descending" : "ascending") : undefined}>
          <button type="button" onClick=${() => setQuery({ sort: next(column) })}><${Others} text=${column.title} />
          ${isSorted && html`<${Icon} name=${order.isDown ? "down" : "up"} />`}</button></span>`;
      })}
    </div></div>
    <div class="rows" role="rowgroup" style=${{ height: `${visible.height}px` }}>
      ${visible.visible.map((/** @type {{ index: number, start: number }} */ { index, start }) => {
        const row = sorted[index];
        return (
          row &&
          html`<div key=${row.id} class="result-row" role="row" aria-rowindex=${index + 2} data-best=${row.id === best} style=${{ ...style, transform: `translateY(${start}px)`, height: `${ROW}px` }}>
            ${columns.map((column) => html`<span key=${column.key} role="gridcell" class="cut ${column.isNumber ? "number" : ""}"><${Cell} row=${row} column=${column} isBest=${row.id === best} /></span>`)}
          </div>`
        );
      })}
    </div>
  </div>`;
}

/** @param {{ row: Row, column: Column, isBest: boolean }} props */
function Cell({ row, column, isBest }) {
  if (column.key === "id") return html`<a href=${`/jobs/${row.id}`}>${row.id}</a>`;
  if (column.key === "state") return html`<${State} state=${row.state} />${isBest && html` <span class="tag">${t("results.best")}</span>`}`;
  return html`<${Others} text=${valueText(column.of(row))} />`;
}
