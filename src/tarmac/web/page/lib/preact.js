// The one place that knows where Preact, its hooks and htm are.
import htm from "/packages/htm/dist/htm.module.js";
import { Fragment, h, render } from "/packages/preact/dist/preact.mjs";
import {
  useCallback,
  useEffect,
  useErrorBoundary,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "/packages/preact/hooks/dist/hooks.mjs";

const html = htm.bind(h);

export {
  Fragment,
  h,
  html,
  render,
  useCallback,
  useEffect,
  useErrorBoundary,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
};
