// Add a machine over SSH. The controller tries to reach it, and cannot ask anything: that needs a terminal.
import { html, useState } from "/page/lib/preact.js";
import { useDraft } from "/page/data/drafts.js";
import { post, Refusal } from "/page/data/http.js";
import { putNode } from "/page/data/store.js";
import { CopyCommand, Others } from "/page/parts/bits.js";
import { nodeAddress } from "/page/parts/nodes/state.js";
import { say } from "/page/parts/toast.js";
import { go } from "/page/router/router.js";
import { shellCommand } from "/page/words/format.js";
import { t } from "/page/words/words.js";

const FIELDS = /** @type {const} */ (["host", "user", "port", "name"]);

/** The user and the host of USER@HOST. @param {string} word */
function split(word) {
  const at = word.lastIndexOf("@");
  return { user: word.slice(0, Math.max(0, at)), host: word.slice(at + 1) };
}

export function NodeForm() {
  const drafts = FIELDS.map((name) => useDraft(`node.${name}`));
  const [host, user, port, name] = drafts.map(([text]) => text.trim());
  const [watch, setWatch, dropWatch] = useDraft("node.watch");
  const [refusal, setRefusal] = useState(/** @type {Refusal | null} */ (null));
  const [isBusy, setBusy] = useState(false);
  const given = split(host);
  const account = user || given.user;
  const command = shellCommand([
    ...["tarmac", "node", "add", `${account && `${account}@`}${given.host || "HOST"}`],
    ...(port ? ["--port", port] : []),
    ...(name ? ["--name", name] : []),
    ...(watch ? ["--watch-only"] : []),
  ]);
  const onSubmit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    setRefusal(null);
    try {
      const how = { user: account || null, port: port ? Number(port) : null, watch_only: Boolean(watch) };
      const added = await post("/nodes", { name: name || given.host, host: given.host, ...how });
      for (const [, , drop] of drafts) drop();
      dropWatch();
      putNode(added);
      say({ text: t("node.did_add", { name: added.name }), command });
      go(nodeAddress(added.name));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      setRefusal(error);
    } finally {
      setBusy(false);
    }
  };
  const field = (/** @type {number} */ at, /** @type {Record<string, unknown>} */ more) => {
    const [text, setText] = drafts[at];
    return html`<label class="stacked">${t(`node.${FIELDS[at]}`)} <input class="field" ...${more} autocomplete="off" spellcheck=${false}
      value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)} /></label>`;
  };
  return html`<section class="panel" aria-label=${t("node.add")}>
    <h2>${t("node.add")}</h2>
    <form class="inline-form" onSubmit=${onSubmit}>
      ${field(0, { required: true, autofocus: true, placeholder: "gpu02" })}
      ${field(1, { placeholder: t("node.user_hint") })}
      ${field(2, { type: "number", min: 1, max: 65535, placeholder: "22", class: "field narrow" })}
      ${field(3, { placeholder: given.host || t("node.name_hint") })}
      <label class="check"><input type="checkbox" checked=${Boolean(watch)}
        onChange=${(/** @type {any} */ event) => setWatch(event.target.checked ? "1" : "")} /> ${t("node.watch_hint")}</label>
      <button class="button first" disabled=${isBusy}>${t(isBusy ? "node.adding" : "node.do_add")}</button>
    </form>
    <p class="quiet">${t("node.add_about")}</p>
    <p class="command"><code>${command}</code><${CopyCommand} command=${command} isBare /></p>
    ${refusal && html`<div class="problem" role="alert"><p><${Others} text=${refusal.message} hasLines /></p>${refusal.hint && html`<p><${Others} text=${refusal.hint} hasLines /></p>`}</div>`}
  </section>`;
}
