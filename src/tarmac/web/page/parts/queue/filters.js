// The controls above the list: filters, saved views, columns and the height of rows. All of it is in the address.
import { html, useState } from "/page/lib/preact.js";
import { session } from "/page/data/http.js";
import { isLoadingMore, nodes } from "/page/data/store.js";
import { Others } from "/page/parts/bits.js";
import { Icon } from "/page/parts/icons.js";
import { FILTERS, valuesOf } from "/page/parts/queue/items.js";
import { chooseColumns, chooseRows, COLUMNS, isDense, shownColumns } from "/page/parts/queue/columns.js";
import { forgetView, savedViews, saveView, searchOf } from "/page/parts/queue/saved_views.js";
import { go, query, setQuery } from "/page/router/router.js";
import { visible, whole } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/** @param {{ count: number }} props */
export function Filters({ count }) {
  const wanted = query.value;
  const onText = (/** @type {any} */ event) => setQuery({ text: event.target.value });
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape") return;
    setQuery({ text: null });
    /** @type {HTMLElement} */ (event.target).blur();
  };
  const onState = (/** @type {any} */ event) =>
    setQuery({ state: event.target.value === "active" ? null : event.target.value }, { isStep: true });
  const known = valuesOf();
  const places = nodes.value.length > 1 ? [...new Set([...nodes.value.map((node) => node.name), ...known.node])] : known.node;
  const owners = [...new Set([session.value?.user ?? "", ...known.owner])];
  return html`<div class="filters" role="group" aria-label=${t("filters")}>
    <input class="field" type="search" data-search aria-label=${t("filter.text")} placeholder=${t("filter.text_hint")}
      value=${wanted.get("text") ?? ""} onInput=${onText} onKeyDown=${onKeyDown} />
    <select class="field" aria-label=${t("filter.state")} value=${wanted.get("state") ?? "active"} onChange=${onState}>
      ${Object.keys(FILTERS).map((name) => html`<option value=${name}>${t(`filter.${name}`)}</option>`)}
    </select>
    <${Choice} name="owner" all="filter.everyone" values=${owners} />
    <${Choice} name="project" all="filter.any_project" values=${known.project} />
    <${Choice} name="tag" all="filter.any_tag" values=${known.tag} />
    <${Choice} name="node" all="filter.any_node" values=${places} />
    <${Views} />
    <${Columns} />
    <span class="quiet count-line" role="status">${t("jobs", { n: count, jobs: whole(count) })}${isLoadingMore.value ? ` ${t("reading_more")}` : ""}</span>
  </div>`;
}

/** A filter by one of the values that jobs have; left out if they have none. @param {{ name: string, all: string, values: string[] }} props */
function Choice({ name, all, values }) {
  const chosen = query.value.get(name) ?? "";
  const offered = chosen && !values.includes(chosen) ? [chosen, ...values] : values;
  if (!offered.length) return null;
  const onChange = (/** @type {any} */ event) => setQuery({ [name]: event.target.value || null }, { isStep: true });
  return html`<select class="field" aria-label=${t(`filter.${name}`)} value=${chosen} onChange=${onChange}>
    <option value="">${t(all)}</option>
    ${offered.map((value) => html`<option value=${value}>${visible(value)}</option>`)}
  </select>`;
}

/** A menu that Escape closes, and leaving it. @param {{ word: string, kind: string, children?: unknown }} props */
function Menu({ word, kind, children }) {
  const [isOpen, setOpen] = useState(false);
  const onKeyDown = (/** @type {any} */ event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    setOpen(false);
    event.currentTarget.querySelector("summary").focus();
  };
  const onFocusOut = (/** @type {any} */ event) => {
    if (event.relatedTarget && !event.currentTarget.contains(event.relatedTarget)) setOpen(false);
  };
  return html`<details class="menu queue-menu ${kind}" open=${isOpen} onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}
    onKeyDown=${onKeyDown} onFocusOut=${onFocusOut}>
    <summary class="button">${t(word)}</summary>
    ${isOpen && html`<div>${children}</div>`}
  </details>`;
}

function Views() {
  const [name, setName] = useState("");
  const views = savedViews();
  const here = searchOf(query.value);
  const save = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (name.trim()) saveView(name.trim(), here);
    setName("");
  };
  return html`<${Menu} word="queue.views" kind="views-menu">
      ${!views.length && html`<p class="quiet">${t("queue.no_views")}</p>`}
      ${views.map(
        (view) => html`<p class="saved" key=${view.name}>
          <button type="button" class="button bare" aria-current=${view.search === here} onClick=${() => go(`/queue${view.search && `?${view.search}`}`)}><${Others} text=${view.name} /></button>
          <button type="button" class="button bare" aria-label=${t("queue.forget_view", { name: visible(view.name) })} onClick=${() => forgetView(view.name)}><${Icon} name="close" /></button>
        </p>`,
      )}
      <form class="saved" onSubmit=${save}>
        <input class="field" maxlength="60" aria-label=${t("queue.view_name")} placeholder=${t("queue.view_name")} value=${name}
          onInput=${(/** @type {any} */ event) => setName(event.target.value)} />
        <button class="button">${t("queue.save_view")}</button>
      </form>
  <//>`;
}

function Columns() {
  const shown = shownColumns();
  const rest = Object.keys(COLUMNS).filter((name) => !shown.includes(name));
  const toggle = (/** @type {string} */ name) =>
    chooseColumns(shown.includes(name) ? shown.filter((one) => one !== name) : [...shown, name]);
  const shift = (/** @type {string} */ name, /** @type {number} */ by) => {
    const at = shown.indexOf(name);
    const next = shown.filter((one) => one !== name);
    next.splice(at + by, 0, name);
    chooseColumns(next);
  };
  const line = (/** @type {string} */ name) => {
    const at = shown.indexOf(name);
    const column = t(`column.${name}`);
    return html`<p class="saved" key=${name}>
      <label><input type="checkbox" checked=${at >= 0} disabled=${at >= 0 && shown.length === 1} onChange=${() => toggle(name)} /> ${column}</label>
      ${at >= 0 && html`<button type="button" class="button bare" disabled=${at === 0} aria-label=${t("queue.earlier", { column })} onClick=${() => shift(name, -1)}><${Icon} name="up" /></button>
        <button type="button" class="button bare" disabled=${at === shown.length - 1} aria-label=${t("queue.later", { column })} onClick=${() => shift(name, 1)}><${Icon} name="down" /></button>`}
    </p>`;
  };
  return html`<${Menu} word="queue.columns" kind="columns-menu">
      ${[...shown, ...rest].map(line)}
      <p class="saved"><label><input type="checkbox" checked=${isDense()} onChange=${(/** @type {any} */ event) => chooseRows(event.target.checked)} /> ${t("queue.dense_rows")}</label></p>
      <button type="button" class="button bare" onClick=${() => chooseColumns(null)}>${t("queue.usual_columns")}</button>
  <//>`;
}
