// Signals: values that a component reads, and that render it again when they change.
export {
  batch,
  computed,
  effect,
  signal,
  untracked,
  useComputed,
  useSignal,
  useSignalEffect,
} from "/packages/@preact/signals/dist/signals.module.js";
