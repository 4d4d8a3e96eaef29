// @ts-check
/** Addresses of the simulator's page for developers, in the world that this browser uses. */

/** Whether this page runs on the developer's own machine, where nothing is real. */
export const isLocal = () => location.hostname === "localhost" || location.hostname === "127.0.0.1";

/** @param {"personas" | "sms-outbox"} part of the page of what the simulator holds */
export const inspector = (part) => `/sim/${world()}/_control/#${part}`;

/** The simulator's world that this browser is in; the developer panel can choose another. */
const world = () => /(?:^|; )frontdesk-world=([\w.-]+)/.exec(document.cookie)?.[1] ?? "demo";
