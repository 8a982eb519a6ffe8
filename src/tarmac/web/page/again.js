// Loads the page again if one of its first modules could not be read, such as when the network changed meanwhile.
// Browsers do not repeat such a request. Views that are read later try again by themselves (lib/later.js).
(() => {
  const KEPT = "tarmac.loads"; // main.js clears it
  const MOST = 10;
  const PAUSE_MS = 500;

  /** @param {Event} event */
  const onError = (event) => {
    const loads = Number(sessionStorage.getItem(KEPT));
    if (!(event.target instanceof HTMLScriptElement) || loads >= MOST) return;
    sessionStorage.setItem(KEPT, String(loads + 1));
    setTimeout(() => location.reload(), PAUSE_MS * (loads + 1));
  };
  addEventListener("error", onError, true);
})();
