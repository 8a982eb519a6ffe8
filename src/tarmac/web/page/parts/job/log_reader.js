// Reads a log as it grows, goes on where it was after a break, and rests while the tab is hidden.
import { API, queryText, Refusal, send } from "/page/data/http.js";

const AGAIN_MS = 1000;

/**
 * @typedef {{
 *   write: (bytes: Uint8Array) => void, restart: () => void,
 *   status: (status: { isCut: boolean, problem: string, removed: boolean }) => void,
 * }} Sink
 */

export class LogReader {
  /** @param {number} job @param {number | null} attempt @param {number} lines @param {Sink} sink */
  constructor(job, attempt, lines, sink) {
    this.path = `${API}/jobs/${job}/log`;
    this.attempt = attempt;
    this.lines = lines;
    this.sink = sink;
    this.offset = /** @type {number | null} */ (null); // of the next byte, once some were read
    this.running = /** @type {AbortController | null} */ (null);
    this.isDone = false;
    this.onVisible = () => (document.visibilityState === "visible" ? this.resume() : this.running?.abort());
  }

  start() {
    document.addEventListener("visibilitychange", this.onVisible);
    this.resume();
  }

  end() {
    this.isDone = true;
    document.removeEventListener("visibilitychange", this.onVisible);
    this.running?.abort();
  }

  resume() {
    if (this.isDone || (this.running && !this.running.signal.aborted)) return;
    this.running = new AbortController();
    void this.read(this.running);
  }

  /** @param {AbortController} running */
  async read(running) {
    while (!this.isDone && !running.signal.aborted) {
      try {
        await this.readOn(running.signal);
        this.isDone = true; // the attempt has ended, and all of it was read
      } catch (error) {
        if (running.signal.aborted) return;
        if (error instanceof Refusal && error.status >= 400 && error.status < 500) {
          this.sink.status({ isCut: false, problem: error.message, removed: false });
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  /** One connection, until the log ends or the connection breaks. @param {AbortSignal} signal */
  async readOn(signal) {
    const from = this.offset === null ? { lines: this.lines } : { offset: this.offset };
    const answer = await send("GET", this.path + queryText({ ...from, attempt: this.attempt, follow: 1 }), { signal });
    const first = Number(answer.headers.get("Tarmac-Log-Offset") ?? 0);
    if (this.offset === null) {
      this.sink.status({ isCut: first > 0, problem: "", removed: answer.headers.has("Tarmac-Log-Removed") });
    }
    this.offset = first;
    const reader = /** @type {ReadableStream<Uint8Array>} */ (answer.body).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      this.offset += value.length;
      this.sink.write(value);
    }
  }
}
