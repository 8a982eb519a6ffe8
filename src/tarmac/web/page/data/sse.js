// Reads server-sent events from an answer. `EventSource` cannot send the reader's language, nor say why it failed.

/** @typedef {{ kind: string, id: string | null, data: string }} Message */

/**
 * @param {Response} answer
 * @param {(messages: Message[]) => void} take
 */
export async function readEvents(answer, take) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (answer.body).getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const end = text.lastIndexOf("\n\n");
    if (end < 0) continue;
    take(text.slice(0, end).split("\n\n").map(parse));
    text = text.slice(end + 2);
  }
}

/** @param {string} block @returns {Message} */
function parse(block) {
  /** @type {Message} */
  const message = { kind: "message", id: null, data: "" };
  for (const line of block.split("\n")) {
    const colon = line.indexOf(": ");
    const value = line.slice(colon + 2);
    const name = line.slice(0, colon);
    if (name === "event") message.kind = value;
    else if (name === "id") message.id = value;
    else if (name === "data") message.data += value;
  }
  return message;
}
