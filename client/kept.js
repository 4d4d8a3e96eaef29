// @ts-check
/**
 * What the browser keeps of a journey over a reload of the page and a visit to the card page: the keys of requests that wait for
 * their responses, and the registrations of this browser. Nothing of it gives access to anything.
 *
 * @import { Client } from "./types.js"
 */

/**
 * Keeps values as JSON. The browser may forbid that, or have no room: then nothing is kept, which each caller must bear.
 * @param {() => Storage} storage a function, because even to name a forbidden storage is an error
 */
const shelf = (storage) => ({
  /**
   * @param {string} name
   * @param {unknown} value
   * @returns {boolean} whether it is kept; otherwise, what was kept before stays
   */
  keep(name, value) {
    try {
      storage().setItem(name, JSON.stringify(value));
      return true;
    } catch {
      return false; // storage is forbidden or full
    }
  },

  /**
   * @param {string} name
   * @returns {any} null if nothing is kept, or something that this page did not write
   */
  kept(name) {
    try {
      return JSON.parse(storage().getItem(name) ?? "null");
    } catch {
      return null;
    }
  },

  /** @param {string} name */
  drop(name) {
    try {
      storage().removeItem(name);
    } catch {
      // Storage is forbidden: nothing is kept.
    }
  },
});

/** Of this tab alone, until it is closed. */
export const tab = shelf(() => sessionStorage);

/** Of all tabs, and of later visits. */
export const browser = shelf(() => localStorage);

/**
 * An action that the visitor wants once, such as "pay". It has a key, and it keeps that key until a definitive response has come,
 * across a lost connection and a reload of the page. Sent again with the same key, a request has no second effect.
 * It is kept in sessionStorage, so each tab has its own; where the browser forbids that, in memory.
 * @template Body
 * @typedef {object} Intention
 * @property {string} name the action, such as "start"
 * @property {string} key the Idempotency-Key
 * @property {Body} body the request's body: a key belongs to one body
 * @property {string} after what the intention follows, such as the id of the declined payment before it
 * @property {boolean} [keep] the key outlives a success: the next request with the same body is the same request
 * @property {number} at when it was made, in ms
 */

const PREFIX = "frontdesk.intention.";

/** @type {Map<string, Intention<any>>} */
const memory = new Map();

/**
 * Returns the intention of that name. It is new unless an identical one still waits for its response.
 * @template Body
 * @param {string} name
 * @param {Body} body
 * @param {{ after?: string, secret?: boolean, keep?: boolean }} [options] `after`: a different value makes a new intention, ignored
 *   if left out; `secret`: keep the body only in this page's memory; `keep`: keep the key after a success, too
 * @returns {Intention<Body>}
 */
export function intend(name, body, { after, secret, keep } = {}) {
  const kept = /** @type {Intention<Body> | null} */ (pending(name));
  const same = kept && JSON.stringify(kept.body) === JSON.stringify(body) && (after ?? kept.after) === kept.after;
  if (same) return kept;
  const fresh = { name, key: randomKey(), body, after: after ?? "", ...(keep && { keep }), at: Date.now() };
  memory.set(name, fresh);
  if (secret || !tab.keep(PREFIX + name, fresh)) tab.drop(PREFIX + name); // the former one would hide it
  return fresh;
}

/**
 * Returns the intention of that name that still waits for a definitive response.
 * @param {string} name
 * @returns {Intention<any> | null}
 */
export const pending = (name) => tab.kept(PREFIX + name) ?? memory.get(name) ?? null;

/**
 * Deletes an intention after its definitive response. The client's requests do that themselves.
 * @param {string} name
 */
export function settle(name) {
  memory.delete(name);
  tab.drop(PREFIX + name);
}

/** 128 random bits; `crypto.randomUUID` is missing on plain http, as when testing with a phone on the local network. */
export function randomKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The registrations in progress, the newest first, and how many of them are kept; the ids are public, the cookies are secret. */
const IN_PROGRESS = "frontdesk.registrations";
const KEPT = 3;

/** The registrations whose cookies this browser may have, also completed ones, the newest first; and how many are kept. */
const SESSIONS = "frontdesk.sessions";
const SESSIONS_KEPT = 20;

/** Those whose sessions a logout could not end yet, because the gateway was out of reach. */
const ENDING = "frontdesk.ending";
const ENDING_KEPT = 2 * SESSIONS_KEPT;

/**
 * @param {string} list
 * @param {number} most
 * @returns {string[]}
 */
function idsIn(list, most) {
  const ids = browser.kept(list);
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "string").slice(0, most) : [];
}

/**
 * @param {string} list
 * @param {number} most
 * @param {string} id
 */
const without = (list, most, id) => idsIn(list, most).filter((one) => one !== id);

/** The ids of this browser's registrations in progress, the newest first. Where storage is forbidden, only the address knows it. */
export const remembered = () => idsIn(IN_PROGRESS, KEPT);

/**
 * Remembers a registration that was begun or continued in this browser.
 * @param {string} id
 */
export function remember(id) {
  browser.keep(IN_PROGRESS, [id, ...without(IN_PROGRESS, KEPT, id)].slice(0, KEPT));
  browser.keep(SESSIONS, [id, ...without(SESSIONS, SESSIONS_KEPT, id)].slice(0, SESSIONS_KEPT));
  browser.keep(ENDING, without(ENDING, ENDING_KEPT, id));
}

/**
 * Forgets a registration that is over, or that this browser has no access to.
 * @param {string} id
 */
export const forget = (id) => browser.keep(IN_PROGRESS, without(IN_PROGRESS, KEPT, id));

/**
 * Whether the visitor has ended this browser's session of a registration, even if the gateway does not know it yet.
 * @param {string} id
 */
export const isLeft = (id) => idsIn(ENDING, ENDING_KEPT).includes(id);

/**
 * Ends this browser's session of a registration.
 * @param {Client} client
 * @param {string} id
 */
export async function endSession(client, id) {
  try {
    await client.request("DELETE", "/v1/registrations/{id}/session", { path: { id } });
  } catch (/** @type {any} */ problem) {
    if (!problem.gone) throw problem; // else there is none
  }
  drop(id);
}

/** @param {string} id whose session has ended */
function drop(id) {
  forget(id);
  browser.keep(SESSIONS, without(SESSIONS, SESSIONS_KEPT, id));
  browser.keep(ENDING, without(ENDING, ENDING_KEPT, id));
}

/**
 * Forgets all registrations, at once, and ends this browser's sessions of them, such as on a shared computer.
 * @param {Client} client
 * @returns {Promise<boolean>} whether all have ended; otherwise, `endLeftSessions` tries again
 */
export function endSessions(client) {
  browser.keep(ENDING, [...new Set([...idsIn(SESSIONS, SESSIONS_KEPT), ...idsIn(ENDING, ENDING_KEPT)])]);
  browser.keep(IN_PROGRESS, []);
  browser.drop(SESSIONS);
  return endLeftSessions(client);
}

/**
 * Ends the sessions that `endSessions` has not ended.
 * @param {Client} client
 * @returns {Promise<boolean>} whether none is left
 */
export async function endLeftSessions(client) {
  await Promise.all(idsIn(ENDING, ENDING_KEPT).map((id) => endSession(client, id).catch((/** @type {any} */ problem) => {
    if (problem.passing === undefined) throw problem;
    if (!problem.passing) drop(id); // the gateway refuses for good
  })));
  return !idsIn(ENDING, 1).length;
}
