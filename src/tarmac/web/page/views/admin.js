// Administration: the queue as a whole, GPUs, settings and the log of the controller. The API refuses other users.
import { html } from "/page/lib/preact.js";
import { session } from "/page/data/http.js";
import { isLoaded } from "/page/data/store.js";
import { Empty } from "/page/parts/bits.js";
import { ControllerLog } from "/page/parts/admin/log.js";
import { Gpus } from "/page/parts/admin/gpus.js";
import { QueueControls } from "/page/parts/admin/queue.js";
import { SettingsList } from "/page/parts/admin/settings.js";
import { query } from "/page/router/router.js";
import { t } from "/page/words/words.js";
import "/page/words/rooms/admin.js";

/** @type {Record<string, () => unknown>} */
const TABS = { queue: QueueControls, gpus: Gpus, settings: SettingsList, log: ControllerLog };

export function Admin() {
  if (!session.value?.is_admin) {
    return html`<${Empty} title=${t("admin.refused")}><p class="command"><code>tarmac set admins</code></p><//>`;
  }
  if (!isLoaded.value) return null;
  const wanted = query.value.get("tab") ?? "";
  const chosen = wanted in TABS ? wanted : "queue";
  return html`<div class="panels">
    <h1 class="unseen">${t("view.admin")}</h1>
    <nav class="tabs" aria-label=${t("view.admin")}>
      ${Object.keys(TABS).map(
        (name) => html`<a href=${`/admin?tab=${name}`} aria-current=${name === chosen ? "page" : undefined}>${t(`admin.${name}`)}</a>`,
      )}
    </nav>
    <${TABS[chosen]} />
  </div>`;
}
