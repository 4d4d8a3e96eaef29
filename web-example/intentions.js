// @ts-check
/**
 * Idempotency keys. An intention is an action that the visitor wants once, such as "pay". It has a key, and it
 * keeps that key until a definitive response has come, across a lost connection and a reload of the page. Sent again with
 * the same key, a request has no second effect.
 *
 * Kept in sessionStorage, so each tab has its own; where the browser forbids that, in memory.
 */
import { tab } from "./storage.js";

/**
 * @template Body
 * @typedef {object} Intention
 * @property {string} name the action, such as "start"
 * @property {string} key the Idempotency-Key
 * @property {Body} body the request's body: a key belongs to one body
 * @property {string} after what the intention follows, such as the id of the declined payment before it
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
 * @param {string} [after] a different value makes a new intention; ignored if left out
 * @param {{ secret?: boolean }} [options] `secret`: keep the body only in this page's memory
 * @returns {Intention<Body>}
 */
export function intend(name, body, after, { secret = false } = {}) {
  const kept = /** @type {Intention<Body> | null} */ (pending(name));
  const same = kept && JSON.stringify(kept.body) === JSON.stringify(body) && (after ?? kept.after) === kept.after;
  if (same) return kept;
  const fresh = { name, key: randomKey(), body, after: after ?? "", at: Date.now() };
  memory.set(name, fresh);
  if (!secret) tab.keep(PREFIX + name, fresh);
  return fresh;
}

/**
 * Returns the intention of that name that still waits for a definitive response.
 * @param {string} name
 * @returns {Intention<any> | null}
 */
export const pending = (name) => tab.kept(PREFIX + name) ?? memory.get(name) ?? null;

/**
 * Deletes an intention after its definitive response.
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
