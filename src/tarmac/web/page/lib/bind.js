// What the drag-and-drop library expects of the package bind-event-listener, which is not published as an ES module.

/**
 * @typedef {{ type: string, listener: EventListener, options?: boolean | AddEventListenerOptions }} Binding
 */

/** @param {EventTarget} target @param {Binding} binding */
export function bind(target, { type, listener, options }) {
  target.addEventListener(type, listener, options);
  return () => target.removeEventListener(type, listener, options);
}

/** @param {EventTarget} target @param {Binding[]} bindings @param {boolean | AddEventListenerOptions} [shared] */
export function bindAll(target, bindings, shared) {
  const common = typeof shared === "boolean" ? { capture: shared } : shared;
  const unbinds = bindings.map((one) => {
    const own = typeof one.options === "boolean" ? { capture: one.options } : one.options;
    return bind(target, { ...one, options: { ...common, ...own } });
  });
  return () => unbinds.forEach((unbind) => unbind());
}
