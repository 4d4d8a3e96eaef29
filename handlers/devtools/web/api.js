// @ts-check
/**
 * The only file that makes requests, apart from the event stream in panel.js: to the control endpoints of the simulator, to the sandbox processor, and to the
 * panel's own two. All of them can be sent by curl as well; see `curl`.
 *
 * @typedef {{ key: string, contactId: string, clubId: string, status: string, givenName: string, familyName: string,
 *   identityToken: string, accessToken: string, description: string }} Persona
 * @typedef {{ to: string, contactId: string, signatureRequestId: string, code: string, sentAt: string }} SMS
 * @typedef {{ number: number, to: string, subject: string, messageId: string, text: string, sentAt: string,
 *   attachments: { name: string }[] }} Mail
 * @typedef {{ match: { method?: string, path?: string }, kind: string, code?: string, status?: number, delayMs?: number,
 *   times?: number, probability?: number, hits?: number }} Fault
 * @typedef {{ number: number, at: string, method: string, path: string, operation: string, status: number, clubId: string,
 *   networkNodeId: string, fault: string, durationMs: number, traceId: string }} Call a call to the club system
 * @typedef {{ at: string, method: string, path: string, status: number, code: string, replayed: boolean,
 *   durationMs: number, traceId: string }} Answer a response of the gateway
 * @typedef {{ webhooks: string, webhookUrl: string }} SandboxSettings
 */

const COOKIE = "frontdesk-world";

/** The names of worlds that the simulator accepts. */
export const WORLD_NAME = /^demo(-[A-Za-z0-9._-]{1,123})?$/;

/** A year, so that developers keep their world over the holidays. */
const COOKIE_AGE = 365 * 24 * 3600;

/** The world that this browser's requests use. */
export function world() {
  const cookie = document.cookie.split("; ").find((one) => one.startsWith(`${COOKIE}=`));
  return cookie?.slice(COOKIE.length + 1) || "demo";
}

/**
 * Moves this browser's requests to another world. In mock mode the gateway reads the world from the cookie, so the page's
 * requests and its EventSource need no change.
 * @param {string} name
 */
export function enterWorld(name) {
  document.cookie = `${COOKIE}=${name}; path=/; samesite=lax; max-age=${name === "demo" ? 0 : COOKIE_AGE}`;
}

/** @param {string} name an endpoint below _control/ */
export const controlPath = (name) => `/sim/${world()}/_control/${name}`;

/** @returns {Promise<Persona[]>} */
export const personas = async () => (await request("GET", controlPath("personas"))).items;

/** @returns {Promise<SMS[]>} newest first */
export const messages = async () => (await request("GET", controlPath("sms"))).items.toReversed();

/** @returns {Promise<Mail[]>} newest first */
export const mails = async () => (await request("GET", controlPath("mail"))).items.toReversed();

/** @returns {Promise<Fault[]>} */
export const faults = async () => (await request("GET", controlPath("faults"))).items;

/** @param {Fault[]} list replaces the list */
export const setFaults = (list) => request("PUT", controlPath("faults"), list);

/** @type {Promise<Map<string, string[]>> | undefined} */
let contract;

/** The operations of the gateway, such as "GET /v1/clubs", with the codes of the problems that each can answer. */
export const operations = () => (contract ??= readContract());

async function readContract() {
  const { paths } = await request("GET", "/openapi.json");
  const all = new Map();
  for (const path of Object.keys(paths).filter((one) => one.startsWith("/v1/"))) {
    for (const [method, { "x-problem-codes": codes }] of Object.entries(paths[path])) {
      if (codes) all.set(`${method.toUpperCase()} ${path}`, codes.toSorted());
    }
  }
  return all;
}

/** @returns {Promise<{ now: string }>} */
export const clock = () => request("GET", controlPath("clock"));

/** @param {{ now: string } | { advance: string }} to */
export const setClock = (to) => request("PUT", controlPath("clock"), to);

/** Resets the world to its initial state. */
export const reset = () => request("POST", controlPath("reset"));

/** @param {number} after @returns {Promise<Call[]>} the calls after that number; all, if there never was one */
export const calls = async (after) => (await request("GET", controlPath(`requests?after=${after}`))).items;

/** @returns {Promise<SandboxSettings>} of this world */
export const sandboxSettings = () => request("GET", "/sandbox/settings");

/** @param {SandboxSettings} settings replaces them */
export const setSandboxSettings = (settings) => request("PUT", "/sandbox/settings", settings);

/** @returns {Promise<{ items: Answer[], worlds: string[] }>} */
export const answers = () => request("GET", `/panel/requests?world=${encodeURIComponent(world())}`);

export const forgetAnswers = () => request("DELETE", `/panel/requests?world=${encodeURIComponent(world())}`);

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>}
 */
async function request(method, path, body) {
  const answer = await fetch(path, {
    method, headers: { "X-Frontdesk-World": world(), ...(body !== undefined && { "Content-Type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new Error("The mock back end does not respond. Is it running?");
  });
  if (answer.status === 204) return undefined;
  if (answer.ok) return answer.json();
  throw new Error(`${method} ${path}: ${answer.status} ${said(await answer.text())}`);
}

/**
 * Returns the error text of a response, in the formats of the simulator, the sandbox and the panel.
 * @param {string} text
 */
function said(text) {
  try {
    const body = JSON.parse(text);
    return body.message ?? body.error?.message ?? text;
  } catch {
    return text;
  }
}

/**
 * Returns the same request as a curl command.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 */
export function curl(method, path, body) {
  const data = body === undefined ? "" : ` -H 'Content-Type: application/json' -d '${JSON.stringify(body).replaceAll("'", `'\\''`)}'`;
  return `curl -X ${method} ${location.origin}${path}${data}`;
}

/** The id at the end of an IRI. @param {string} iri */
export const last = (iri) => iri.slice(iri.lastIndexOf("/") + 1);
