// Packages that were written for bundlers ask whether this is production.
const scope = /** @type {{ process?: { env: Record<string, string> } }} */ (/** @type {unknown} */ (globalThis));
scope.process ??= { env: { NODE_ENV: "production" } };
