// @ts-check
/**
 * Requests to the gateway. Each is typed by its method and path in the contract, and is sent again while that is safe and may help.
 * Start reading at `createClient`.
 *
 * @import { KnownProblemCode, Later, ProblemThen, KnownProblemThen, Problem as ProblemDocument } from "./openapi.js"
 * @import { Client, Options } from "./types.js"
 */
import { randomKey, settle } from "./kept.js";

/** As long as the gateway's longest read, in ms. A write may take longer there; the retry with its key gets its response. */
const TIMEOUT = 40_000;

/** Pauses before retries, in ms: three retries within seven seconds, then the page asks the visitor. */
const PAUSES = [1_000, 2_000, 4_000];

/** The longest Retry-After, in seconds, that a request waits for without asking the visitor. */
const PATIENCE = 15;

/** How long a request is retried while the service is overloaded, in ms. */
const CROWD_PATIENCE = 300_000;

/** Jitter: waits are up to this much longer than requested, so that refused visitors do not return together. */
const JITTER = 0.3;

/** Statuses of intermediate proxies, as all from 500 on: without a problem document, the request's effect is unknown. */
const PROXY_TROUBLE = [408, 425, 429];

/** What the contract names after a problem. The list can grow: at any other value, a page reads again, which is always safe. */
const THEN = ["fix_request", "correct_input", "send_again", "read_again", "start_again", "log_in", "captcha"];

/** A request that did not succeed. */
export class Problem extends Error {
  /**
   * @param {Omit<Partial<ProblemDocument>, "code" | "then"> & { code: ProblemDocument["code"] | "offline", then: ProblemThen }} document
   * @param {number} [retryAfter] seconds
   */
  constructor(document, retryAfter) {
    super(document.code);
    /** @type {KnownProblemCode | "offline" | Later} the gateway's, or `offline` when no response came */
    this.code = document.code;
    /** @type {KnownProblemThen} what to do now */
    this.then = THEN.includes(document.then) ? /** @type {KnownProblemThen} */ (document.then) : "read_again";
    this.type = document.type ?? ""; // empty: the gateway did not answer
    this.text = document.detail ?? document.title;
    this.status = document.status ?? 0;
    this.errors = document.errors ?? [];
    this.challenge = document.challenge;
    this.registration = document.registration; // with a 409, as it is now
    this.traceId = document.traceId;
    /** In seconds. */
    this.retryAfter = retryAfter ?? document.retryAfter;
  }

  /** Whether sending the same request with the same key can still succeed, at once or later; otherwise the response is definitive. */
  get passing() {
    return this.then === "send_again" || this.then === "captcha";
  }

  /** Whether the gateway has answered for good. What stands before it, such as a firewall, does not know the request's effect. */
  get definitive() {
    return !this.passing && !!this.type;
  }

  /** Whether this browser has no access to the registration, or no longer. */
  get gone() {
    return this.then === "start_again" || this.code === "token_required";
  }
}

/**
 * @param {Options} [options]
 * @returns {Client}
 */
export function createClient({ baseUrl = "", credentials, language, headers: common, onTrouble, onChallenge } = {}) {
  let rest = 0;

  /**
   * Sends a request, and retries it while that is safe and may help: the methods are idempotent, and a POST has its key.
   * @param {string} method
   * @param {string} path
   * @param {{ key?: string, body?: unknown, headers?: Record<string, string>, once?: boolean }} options
   */
  async function sendAgain(method, path, { once, ...options }) {
    const begun = Date.now();
    for (let attempt = 0; ; attempt++) {
      try {
        const response = await send(method, path, options);
        onTrouble?.(null);
        return response;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (error.then === "captcha") {
          const answer = error.challenge && (await onChallenge?.(error.challenge));
          if (!answer) throw error;
          options = { ...options, headers: { ...options.headers, "X-Frontdesk-Challenge": answer } };
          continue;
        }
        const after = error.retryAfter ?? 0;
        const isPatient = error.code === "overloaded" ? Date.now() - begun < CROWD_PATIENCE : after <= PATIENCE && attempt < PAUSES.length;
        if (error.then !== "send_again" || !isPatient || once) throw error;
        onTrouble?.(error);
        await pause(Math.max(PAUSES[attempt] ?? 0, 1_000 * after) * (1 + JITTER * Math.random()));
      }
    }
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {{ key?: string, body?: unknown, headers?: Record<string, string> }} options
   */
  async function send(method, path, { key, body, headers }) {
    const spoken = language?.();
    const all = { Accept: "application/json", ...(spoken && { "Accept-Language": spoken }), ...common?.(), ...headers };
    let response, text;
    try {
      response = await fetch(baseUrl + path, {
        method,
        headers: { ...all, ...(key && { "Idempotency-Key": key }), ...(body !== undefined && { "Content-Type": "application/json" }) },
        body: body === undefined ? undefined : JSON.stringify(body),
        credentials,
        cache: "no-store",
        signal: AbortSignal.timeout(TIMEOUT),
      });
      text = await response.text();
    } catch {
      throw new Problem({ code: "offline", then: "send_again" });
    }
    if (response.status === 204) return undefined;
    const document = parse(text);
    if (response.ok) rest = 1_000 * Number(response.headers.get("Retry-After")) || 0; // not a number: a date, which only a proxy sends
    if (response.ok && document) return document;
    throw problemOf(response, document);
  }

  return {
    async request(/** @type {string} */ method, /** @type {string} */ path, /** @type {any} */ options = {}) {
      const { intention, body = intention?.body, path: parts, query, ...rest } = options;
      const address = path.replace(/{(\w+)}/g, (_, name) => encodeURIComponent(parts[name])) + queryOf(query);
      const key = intention?.key ?? (method === "POST" ? randomKey() : undefined);
      try {
        const response = await sendAgain(method, address, { ...rest, key, body });
        if (intention && !intention.keep) settle(intention.name);
        return response;
      } catch (error) {
        if (intention && error instanceof Problem && error.definitive) settle(intention.name);
        throw error;
      }
    },

    stream(id, { changed, closed }) {
      if (!("EventSource" in globalThis) || common?.().Authorization) return undefined;
      const address = `${baseUrl}/v1/registrations/${encodeURIComponent(id)}/events${queryOf({ lang: language?.() })}`;
      const stream = new EventSource(address, { withCredentials: credentials === "include" });
      stream.addEventListener("registration", ({ data }) => {
        const document = parse(data);
        if (document) changed(document);
      });
      stream.addEventListener("end", ({ data }) => {
        if (data.includes("draining")) return; // the browser reconnects, to another gateway
        stream.close();
        closed();
      });
      stream.addEventListener("error", () => {
        if (stream.readyState === EventSource.CLOSED) closed();
      });
      return () => stream.close();
    },

    rest: () => rest,
  };
}

/** @param {Record<string, string | number | undefined>} [parameters] those without a value are left out */
function queryOf(parameters = {}) {
  const given = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

/**
 * @param {Response} response
 * @param {any} document the body, if it was JSON
 */
function problemOf(response, document) {
  const retryAfter = Number(response.headers.get("Retry-After")) || undefined;
  if (document?.code && document?.then) return new Problem(document, retryAfter);
  const passing = response.ok || response.status >= 500 || PROXY_TROUBLE.includes(response.status);
  return new Problem({ code: "internal", status: response.status, then: passing ? "send_again" : "fix_request" }, retryAfter);
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Waits, but at most until the connection is back.
 * @param {number} ms
 */
function pause(ms) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    globalThis.addEventListener?.("online", () => (clearTimeout(timer), resolve(undefined)), { once: true });
  });
}
