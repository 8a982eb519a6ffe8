// A long list: only the visible rows exist.
import { useLayoutEffect, useMemo, useState } from "/page/lib/preact.js";
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "/page/lib/virtual.js";

const SPARE = 6; // rows beyond the edges

/**
 * @param {{ current: HTMLElement | null }} ref the element that scrolls
 * @param {number} count @param {number} height of one row @param {number} offset where to begin
 */
export function useRows(ref, count, height, offset) {
  const [, setTurn] = useState(0);
  const options = {
    count,
    getScrollElement: () => ref.current,
    estimateSize: () => height,
    overscan: SPARE,
    initialOffset: offset,
    initialRect: { width: 1000, height: 900 },
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => setTurn((turn) => turn + 1),
  };
  const virtual = useMemo(() => new Virtualizer(options), []);
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => virtual._willUpdate());
  useLayoutEffect(() => virtual.measure(), [height]);
  return {
    height: virtual.getTotalSize(),
    visible: virtual.getVirtualItems(),
    offset: virtual.scrollOffset ?? 0,
    scrollTo: (/** @type {number} */ index) => virtual.scrollToIndex(index),
  };
}
