// The address says what is shown: the path is the view, the query its filters. Back, reload and sharing work.
import { batch, computed, signal } from "/page/lib/signals.js";

const here = signal(read());

function read() {
  return { path: location.pathname, query: location.search };
}

export const path = computed(() => here.value.path);
const search = computed(() => here.value.query);
export const query = computed(() => new URLSearchParams(search.value));
/** A screen on a wall shows no controls. */
export const isWall = computed(() => query.value.get("wall") === "1");

/** Go to another view. @param {string} address */
export function go(address) {
  history.pushState(null, "", address);
  here.value = read();
  window.scrollTo(0, 0);
}

/** Change parts of the query; empty values are removed. Adds a step to the history only on request. */
export function setQuery(/** @type {Record<string, string | null>} */ changes, { isStep = false } = {}) {
  const next = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  const text = next.toString();
  const address = location.pathname + (text && `?${text}`);
  if (isStep) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  here.value = read();
}

/** @param {string} address */
export function replace(address) {
  history.replaceState(null, "", address);
  here.value = read();
}

export function startRouter() {
  window.addEventListener("popstate", () => batch(() => (here.value = read())));
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!(link instanceof HTMLAnchorElement) || !isPlain || event.defaultPrevented) return;
    if (link.target || link.origin !== location.origin || link.hasAttribute("download")) return;
    if (link.hash && link.pathname === location.pathname && link.search === location.search) return; // a place in the view
    event.preventDefault();
    if (link.href !== location.href) go(link.pathname + link.search);
  });
}
