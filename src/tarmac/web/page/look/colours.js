// The tokens of the style sheet, for what is not drawn by the browser: terminal and charts.

/** A colour of the theme that is shown, as #rrggbb. @param {string} name such as --text @returns {string} */
export function colour(name) {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  const parts = (found.match(/\d+/g) ?? []).slice(0, 3).map(Number);
  return `#${parts.map((n) => n.toString(16).padStart(2, "0")).join("")}`;
}

/** @param {string} name */
export const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Call back when the theme changes. @param {() => void} changed @returns {() => void} ends it */
export function onTheme(changed) {
  const watch = new MutationObserver(changed);
  watch.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", changed);
  return () => {
    watch.disconnect();
    media.removeEventListener("change", changed);
  };
}
