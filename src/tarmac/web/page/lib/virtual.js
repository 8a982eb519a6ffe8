// The arithmetic of long lists: which rows are visible.
import "/page/lib/environment.js"; // first
export {
  Virtualizer,
  elementScroll,
  observeElementOffset,
  observeElementRect,
} from "/packages/@tanstack/virtual-core/dist/esm/index.js";
