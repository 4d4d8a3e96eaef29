// @ts-check
/**
 * The only file that makes requests. One function per operation of /openapi.yaml, in its order. Start reading at
 * `request`.
 *
 * @import { Intention } from "./intentions.js"
 * @import {
 *   ChallengeWidget, ChangeConsents, Club, ClubDetails, Config, ConsentChanges, ConsentList, DebitDay, Document, Me, NewItem, NewMandate,
 *   Person, PersonCorrection, ProblemDocument, Product, Registration, ResumeLink, Schedule, StartPayment, StartRegistration, Transfer,
 *   Acknowledgement, NewCancellation, Statement
 * } from "./contract"
 */

import { randomKey } from "./intentions.js";
import { language } from "./text.js";

/** As long as the gateway's longest read, in ms. A write may take longer there; the retry with its key gets its response. */
const TIMEOUT = 40_000;

/** Pauses before retries, in ms: three retries within seven seconds, then the page asks the visitor. */
const PAUSES = [1_000, 2_000, 4_000];

/** The longest Retry-After, in seconds, that the page waits for without asking the visitor. */
const PATIENCE = 15;

/** How long a request is retried while the service is overloaded, in ms. */
const CROWD_PATIENCE = 300_000;

/** Jitter: waits are up to this much longer than requested, so that refused visitors do not return together. */
const JITTER = 0.3;

/** Statuses of intermediate proxies: without a problem document, the request's effect is unknown. */
const GATEWAY_TROUBLE = [408, 429, 500, 502, 503, 504];

/** What the contract names after a problem. The list can grow: at any other value, the page reads again, which is always safe. */
const THEN = ["fix_request", "correct_input", "send_again", "read_again", "start_again", "log_in", "captcha"];

/** A request that did not succeed. `code` is the gateway's, or `offline` when no response came. */
export class Problem extends Error {
  /**
   * @param {Omit<Partial<ProblemDocument>, "code"> & { code: ProblemDocument["code"] | "offline", then: ProblemDocument["then"] }} document
   * @param {number} [retryAfter] seconds
   */
  constructor(document, retryAfter) {
    super(document.code);
    this.code = document.code;
    this.then = THEN.includes(document.then) ? document.then : "read_again";
    this.text = document.detail ?? document.title;
    this.status = document.status ?? 0;
    this.errors = document.errors ?? [];
    this.challenge = document.challenge;
    this.registration = document.registration; // with a 409, as it is now
    this.traceId = document.traceId;
    this.retryAfter = retryAfter;
  }

  /** Whether sending the same request with the same key can still succeed, at once or later; otherwise the response is definitive. */
  get passing() {
    return this.then === "send_again" || this.then === "captcha";
  }
}

let rest = 0;

/** How long the gateway asks to wait before the next poll, in ms; 0 unless it is busy. */
export const restBeforePoll = () => rest;

/** @type {(problem: Problem | null) => void} */
let report = () => {};

/**
 * Calls the listener when a request must be sent again, and with null when one has succeeded.
 * @param {(problem: Problem | null) => void} listener
 */
export function onTrouble(listener) {
  report = listener;
}

/** @type {(challenge: ChallengeWidget) => Promise<string | undefined>} */
let solve = async () => undefined;

/**
 * Calls the solver when the gateway asks for a captcha; the request is sent again with its response.
 * @param {typeof solve} solver
 */
export function onChallenge(solver) {
  solve = solver;
}

/** @returns {Promise<Config>} */
export const getConfig = () => request("GET", "/v1/config");

/** @returns {Promise<{ items: Club[] }>} */
export const listClubs = () => request("GET", "/v1/clubs");

/** @type {(clubId: string) => Promise<ClubDetails>} */
export const getClub = (clubId) => request("GET", `/v1/clubs/${encodeURIComponent(clubId)}`);

/**
 * @param {string} clubId
 * @param {string} [cursor]
 * @param {string} [identity] the identity token of the contact whose catalogue to read
 * @returns {Promise<{ items: Product[], next?: string }>}
 */
export const listProducts = (clubId, cursor, identity) =>
  request("GET", `/v1/clubs/${encodeURIComponent(clubId)}/products${query({ cursor })}`, { headers: as(identity) });

/**
 * @param {string} clubId
 * @param {string} offerId
 * @returns {Promise<Product>} its product, with only this offer
 */
export const getOffer = (clubId, offerId) => request("GET", `/v1/clubs/${encodeURIComponent(clubId)}/offers/${encodeURIComponent(offerId)}`);

/**
 * @param {string} clubId
 * @param {string} offerId
 * @param {{ startDate?: string, debitDay?: number }} terms
 * @param {string} [identity] the identity token of the contact whose offer it is
 * @returns {Promise<Schedule>}
 */
export const getSchedule = (clubId, offerId, { startDate, debitDay }, identity) =>
  request("GET", `/v1/clubs/${encodeURIComponent(clubId)}/offers/${encodeURIComponent(offerId)}/schedule${query({ startDate, debitDay })}`, { headers: as(identity) });

/** @type {(clubId: string, startDate: string) => Promise<{ items: DebitDay[] }>} */
export const listDebitDays = (clubId, startDate) =>
  request("GET", `/v1/clubs/${encodeURIComponent(clubId)}/debit-days${query({ startDate })}`);

/** @type {(clubId: string, language: string) => Promise<{ items: Document[] }>} */
export const listDocuments = (clubId, language) => request("GET", `/v1/clubs/${encodeURIComponent(clubId)}/documents${query({ language })}`);

/**
 * @param {Intention<StartRegistration>} intention
 * @param {string} [identity] the identity token of the person who registers, after a login at the club
 * @returns {Promise<Registration>}
 */
export const startRegistration = ({ key, body }, identity) =>
  request("POST", "/v1/registrations", { key, body, headers: { "X-Frontdesk-Session": "cookie", ...as(identity) } });

/** @type {(id: string, intention: Intention<undefined>) => Promise<ResumeLink>} */
export const createResumeLink = (id, { key }) => request("POST", `${registration(id)}/resume-link`, { key });

/** @type {(intention: Intention<{ resume: string }>) => Promise<Registration>} */
export const resumeRegistration = ({ key, body }) =>
  request("POST", "/v1/resumptions", { key, body, headers: { "X-Frontdesk-Session": "cookie" } });

/**
 * @param {string} id
 * @param {{ once?: boolean }} [options] `once`: do not retry, for a caller that polls regularly anyway
 * @returns {Promise<Registration>}
 */
export const getRegistration = (id, options) => request("GET", registration(id), options);

/**
 * Ends this browser's session of a registration.
 * @param {string} id
 */
export const endSession = (id) => request("DELETE", `${registration(id)}/session`);

/** @type {(id: string) => Promise<ConsentList>} */
export const listBuyersConsents = (id) => request("GET", `${registration(id)}/consents`, { once: true });

/** @type {(id: string, body: ChangeConsents) => Promise<ConsentChanges>} */
export const changeBuyersConsents = (id, body) => request("PATCH", `${registration(id)}/consents`, { body });

/** @type {(id: string) => Promise<Registration>} */
export const abandonRegistration = (id) => request("DELETE", registration(id));

/** @type {(id: string, body: Person) => Promise<Registration>} */
export const putPerson = (id, body) => request("PUT", `${registration(id)}/person`, { body });

/** @type {(id: string, body: PersonCorrection) => Promise<Registration>} */
export const correctPerson = (id, body) => request("PATCH", `${registration(id)}/person`, { body });

/** @type {(id: string, body: import("./contract").Guardian) => Promise<Registration>} */
export const putGuardian = (id, body) => request("PUT", `${registration(id)}/guardian`, { body });

/** @type {(id: string, intention: Intention<NewItem>) => Promise<Registration>} */
export const addItem = (id, { key, body }) => request("POST", `${registration(id)}/items`, { key, body });

/** @type {(id: string) => Promise<Registration>} */
export const clearItems = (id) => request("DELETE", `${registration(id)}/items`);

/** @type {(id: string, item: string) => Promise<Registration>} */
export const removeItem = (id, item) => request("DELETE", `${registration(id)}/items/${item}`);

/** @type {(id: string) => Promise<Registration>} */
export const checkCart = (id) => request("POST", `${registration(id)}/check`, { key: randomKey() });

/** @type {(id: string, intention: Intention<NewMandate>) => Promise<Registration>} */
export const createMandate = (id, { key, body }) => request("POST", `${registration(id)}/mandate`, { key, body });

/** @type {(id: string, intention: Intention<{ code: string }>) => Promise<Registration>} */
export const signMandate = (id, { key, body }) => request("POST", `${registration(id)}/mandate/signature`, { key, body });

/** @type {(id: string) => Promise<Registration>} */
export const cancelSignature = (id) => request("DELETE", `${registration(id)}/mandate/signature`);

/** @type {(id: string, intention: Intention<undefined>) => Promise<Registration>} */
export const resendCode = (id, { key }) => request("POST", `${registration(id)}/mandate/signature/resend`, { key });

/** @type {(id: string, intention: Intention<{ accessToken: string }>) => Promise<Registration>} */
export const migrateProspect = (id, { key, body }) => request("POST", `${registration(id)}/prospect`, { key, body });

/** @type {(id: string, intention: Intention<StartPayment>) => Promise<Registration>} */
export const startPayment = (id, { key, body }) => request("POST", `${registration(id)}/payment`, { key, body });

/** @type {(id: string) => Promise<Registration>} */
export const cancelPayment = (id) => request("DELETE", `${registration(id)}/payment`);

/** @type {(identity: string) => Promise<Me>} */
export const getMe = (identity) => request("GET", "/v1/me", { headers: as(identity) });

/** @type {(identity: string) => Promise<{ items: import("./contract").Membership[] }>} */
export const listMemberships = (identity) => request("GET", "/v1/me/memberships", { headers: as(identity) });

/** @type {(identity: string) => Promise<ConsentList>} */
export const listConsents = (identity) => request("GET", "/v1/me/consents", { headers: as(identity) });

/** @type {(identity: string, body: ChangeConsents) => Promise<ConsentChanges>} */
export const changeConsents = (identity, body) => request("PATCH", "/v1/me/consents", { body, headers: as(identity) });

/** @type {(identity: string) => Promise<Transfer | undefined>} */
export const getTransfer = (identity) => request("GET", "/v1/me/transfer", { headers: as(identity) });

/** @type {(identity: string, intention: Intention<{ clubId: string }>) => Promise<Transfer>} */
export const startTransfer = (identity, { key, body }) => request("POST", "/v1/me/transfer", { key, body, headers: as(identity) });

/** @type {(identity: string, intention: Intention<{ code: string }>) => Promise<Transfer>} */
export const signTransfer = (identity, { key, body }) =>
  request("POST", "/v1/me/transfer/signature", { key, body, headers: as(identity) });

/**
 * @param {import("./statement.js").Kind} kind
 * @param {Intention<NewCancellation>} intention
 * @param {string} [identity] the identity token of the contact whose contract it is
 * @returns {Promise<Statement>}
 */
export const stateStatement = (kind, { key, body }, identity) => request("POST", `/v1/${kind}s`, { key, body, headers: as(identity) });

/** @type {(kind: import("./statement.js").Kind, id: string) => Promise<Acknowledgement>} */
export const confirmStatement = (kind, id) => request("POST", `/v1/${kind}s/${encodeURIComponent(id)}/confirm`);

/**
 * Follows a registration and reports each state. The browser reconnects after a lost connection. After an invalid
 * response it does not, and `closed` is called.
 * @param {string} id
 * @param {{ changed: (registration: Registration) => void, closed: () => void }} listener
 * @returns {() => void} stops it
 */
export function followRegistration(id, { changed, closed }) {
  const stream = new EventSource(`${registration(id)}/events${query({ lang: language })}`);
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
}

/**
 * @param {string} [identity]
 * @returns {Record<string, string>} the header that identifies the visitor
 */
const as = (identity) => (identity ? { Authorization: `Bearer ${identity}` } : {});

/** @param {Record<string, string | number | undefined>} parameters those without a value are left out */
function query(parameters) {
  const given = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

/** @param {string} id */
const registration = (id) => `/v1/registrations/${encodeURIComponent(id)}`;

/**
 * Sends a request, and retries it while that is safe and may help: the methods are idempotent, and a POST has its key.
 * @param {string} method
 * @param {string} path
 * @param {{ key?: string, body?: unknown, headers?: Record<string, string>, once?: boolean }} [options]
 * @returns {Promise<any>}
 */
async function request(method, path, options = {}) {
  const begun = Date.now();
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await send(method, path, options);
      report(null);
      return response;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.then === "captcha") {
        const answer = error.challenge && (await solve(error.challenge));
        if (!answer) throw error;
        options = { ...options, headers: { ...options.headers, "X-Frontdesk-Challenge": answer } };
        continue;
      }
      const isCrowd = error.code === "overloaded";
      const isPatient = isCrowd ? Date.now() - begun < CROWD_PATIENCE : (error.retryAfter ?? 0) <= PATIENCE && attempt < PAUSES.length;
      if (error.then !== "send_again" || !isPatient || options.once) throw error;
      report(error);
      await pause(Math.max(PAUSES[attempt] ?? 0, 1_000 * (error.retryAfter ?? 0)) * (1 + JITTER * Math.random()));
    }
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {{ key?: string, body?: unknown, headers?: Record<string, string> }} options
 */
async function send(method, path, { key, body, headers = {} }) {
  headers = { Accept: "application/json", "Accept-Language": language, ...headers };
  if (key) headers["Idempotency-Key"] = key;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response, text;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      signal: AbortSignal.timeout(TIMEOUT),
    });
    text = await response.text();
  } catch {
    throw new Problem({ code: "offline", then: "send_again" });
  }
  if (response.status === 204) return undefined;
  const document = parse(text);
  if (response.ok) rest = 1_000 * Number(response.headers.get("Retry-After"));
  if (response.ok && document) return document;
  throw problemOf(response, document);
}

/**
 * @param {Response} response
 * @param {any} document the body, if it was JSON
 */
function problemOf(response, document) {
  const retryAfter = Number(response.headers.get("Retry-After")) || undefined;
  if (document?.code && document?.then) return new Problem(document, retryAfter);
  const passing = response.ok || GATEWAY_TROUBLE.includes(response.status);
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
    addEventListener("online", () => (clearTimeout(timer), resolve(undefined)), { once: true });
  });
}
