// Dragging by the browser's own drag and drop. Only the queue imports it.
import "/page/lib/environment.js"; // first
export {
  draggable,
  dropTargetForElements,
  monitorForElements,
} from "/packages/@atlaskit/pragmatic-drag-and-drop/dist/esm/adapter/element-adapter.js";
