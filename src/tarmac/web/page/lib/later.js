// Files that are read when they are first needed. The server may be away at that moment.

const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 3000;

/**
 * Read a module, and try again until the server answers.
 * @template T
 * @param {() => Promise<T>} load
 * @returns {Promise<T>}
 */
export async function later(load) {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await load();
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // not a failed request
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

/** Read a style sheet. @param {string} href @returns {Promise<void>} once it applies */
export function style(href) {
  if (document.querySelector(`link[href="${href}"]`)) return Promise.resolve();
  return later(
    () =>
      new Promise((resolve, reject) => {
        const link = document.createElement("link");
        link.rel = "stylesheet";
        link.href = href;
        link.onload = () => resolve();
        link.onerror = () => (link.remove(), reject(new TypeError(href)));
        document.head.append(link);
      }),
  );
}
