// @ts-check
/**
 * Idempotency keys. An intention is one thing that the visitor wants done once, such as "pay": it has a key, and it
 * keeps that key until a definitive response has come, across a lost connection and a reload of the page. Sent again with
 * the same key, a request has no second effect.
 *
 * Kept in sessionStorage, so each tab has its own; where the browser forbids that, in memory.
 */

/**
 * @template Body
 * @typedef {object} Intention
 * @property {string} name what is intended, such as "start"
 * @property {string} key the Idempotency-Key
 * @property {Body} body the request's body: a key belongs to one body
 * @property {string} after what the intention answers to, such as the id of the declined payment before it
 */

const PREFIX = "frontdesk.intention.";

/** @type {Map<string, string>} */
const memory = new Map();

/**
 * The intention of that name, new unless the very same one still waits for its response.
 * @template Body
 * @param {string} name
 * @param {Body} body
 * @param {string} [after] a change of it makes a new intention; left out, it does not count
 * @param {{ secret?: boolean }} [options] `secret`: the body is kept in the memory of this page alone
 * @returns {Intention<Body>}
 */
export function intend(name, body, after, { secret = false } = {}) {
  const kept = /** @type {Intention<Body> | null} */ (pending(name));
  const same = kept && JSON.stringify(kept.body) === JSON.stringify(body) && (after ?? kept.after) === kept.after;
  if (same) return kept;
  const fresh = { name, key: randomKey(), body, after: after ?? "" };
  write(name, JSON.stringify(fresh), secret);
  return fresh;
}

/**
 * The intention of that name that has had no definitive response yet.
 * @param {string} name
 * @returns {Intention<any> | null}
 */
export function pending(name) {
  const text = read(name);
  return text ? JSON.parse(text) : null;
}

/**
 * Forgets an intention: it has its definitive response.
 * @param {string} name
 */
export function settle(name) {
  memory.delete(name);
  try {
    sessionStorage.removeItem(PREFIX + name);
  } catch {
    // Storage is forbidden: the copy in memory was the only one.
  }
}

/** @param {string} name */
function read(name) {
  try {
    return sessionStorage.getItem(PREFIX + name) ?? memory.get(name);
  } catch {
    return memory.get(name);
  }
}

/**
 * @param {string} name
 * @param {string} text
 * @param {boolean} secret
 */
function write(name, text, secret) {
  memory.set(name, text);
  if (secret) return;
  try {
    sessionStorage.setItem(PREFIX + name, text);
  } catch {
    // Storage is forbidden or full: the key then lives as long as the page.
  }
}

/** 128 random bits; `crypto.randomUUID` is missing on plain http, which is how one tries a phone on the local network. */
function randomKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
