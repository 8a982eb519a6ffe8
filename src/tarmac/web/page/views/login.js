// Log-in by the one-time link that `tarmac web` prints. Its word is in the fragment, which browsers send to nobody.
import { html, useEffect, useState } from "/page/lib/preact.js";
import { logIn, session } from "/page/data/http.js";
import { CopyCommand } from "/page/parts/bits.js";
import { Icon } from "/page/parts/icons.js";
import { replace } from "/page/router/router.js";
import { t } from "/page/words/words.js";

const BACK = "tarmac.back"; // where a user was when the session ended

/** @param {string} text */
const wordOf = (text) => text.trim().split("#").pop() ?? "";

export function Login() {
  const [problem, setProblem] = useState(/** @type {{ message: string, hint?: string | null } | null} */ (null));
  const enter = async (/** @type {string} */ word) => {
    try {
      await logIn(word);
      replace(sessionStorage.getItem(BACK) ?? "/");
      sessionStorage.removeItem(BACK);
    } catch (error) {
      if (session.value) replace("/"); // a link that was used before, in a browser that is logged in
      else setProblem(/** @type {Error} */ (error));
    }
  };
  const take = () => {
    const word = wordOf(location.hash);
    if (location.pathname !== "/login") sessionStorage.setItem(BACK, location.pathname + location.search);
    if (!word) {
      if (session.value && location.pathname === "/login") replace("/");
      return;
    }
    replace("/login"); // the word works once; it does not stay in the address
    void enter(word);
  };
  useEffect(() => {
    take();
    window.addEventListener("hashchange", take); // a fresh link in the same tab
    return () => window.removeEventListener("hashchange", take);
  }, []);
  const onSubmit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (
      /** @type {HTMLFormElement} */ (event.target).elements.namedItem("link")
    );
    if (field.value) void enter(wordOf(field.value));
  };
  return html`<main class="login">
    <h1><${Icon} name="logo" size=${18} /> Tarmac</h1>
    <p>${t("login.how")}</p>
    <p class="command"><code>tarmac web</code><${CopyCommand} command="tarmac web" isBare /></p>
    <form onSubmit=${onSubmit}>
      <label for="link">${t("login.paste")}</label>
      <div class="login-row">
        <input id="link" name="link" class="field" autocomplete="off" spellcheck="false" placeholder="http://127.0.0.1:…/login#…" />
        <button class="button first">${t("login.enter")}</button>
      </div>
    </form>
    ${problem && html`<p role="alert" class="problem">${problem.message}${problem.hint && html`<br />${problem.hint}`}</p>`}
  </main>`;
}
