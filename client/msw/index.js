// @ts-check
/**
 * Request handlers for Mock Service Worker: a gateway with one registration, which answers what the simulator has answered.
 *
 * @import { RequestHandler } from "msw"
 * @import { KnownProblemCode, KnownStep, Registration } from "../openapi.js"
 * @import { Method, PathOf } from "../types.js"
 */
import { HttpResponse, http } from "msw";
import recorded from "./recorded.js";

/** A day, in ms. */
const DAY = 86_400_000;

/** The steps to which a visitor's requests lead. Every other write leaves the registration as it is. */
const LEADS = /** @type {Record<string, KnownStep>} */ ({
  "DELETE /v1/registrations/:id": "abandoned",
  "POST /v1/registrations/:id/mandate": "code",
  "POST /v1/registrations/:id/mandate/signature": "ready",
  "POST /v1/registrations/:id/mandate/signature/resend": "code",
  "DELETE /v1/registrations/:id/mandate/signature": "mandate",
  "POST /v1/registrations/:id/payment": "at_processor",
  "DELETE /v1/registrations/:id/payment": "ready",
  "PUT /v1/registrations/:id/person": "ready",
  "PATCH /v1/registrations/:id/person": "ready",
  "POST /v1/registrations/:id/items": "ready",
  "DELETE /v1/registrations/:id/items": "items",
  "POST /v1/registrations/:id/check": "ready",
});

/**
 * A gateway for tests and stories. Its registration begins at the step `ready`, or at another one, such as `mandate`.
 * @param {{ baseUrl?: string, start?: KnownStep }} [options] `baseUrl`: the gateway's origin; without it, any
 * @returns {{ handlers: RequestHandler[], registration: () => Registration, show: (step: KnownStep) => void }} `show` has the
 *   registration be at another step, as after a change elsewhere
 */
export function mockFrontdesk({ baseUrl = "*", start = "ready" } = {}) {
  let step = start;
  let sequence = 1;
  /** @type {Set<(registration: Registration) => void>} */
  const streams = new Set();

  /** The registration as it is now. Each change has a higher sequence, as at the gateway. */
  const registration = () => {
    const found = recorded.steps[step];
    if (!found) throw new Error(`no registration at the step ${step} was recorded; there are ${Object.keys(recorded.steps).join(", ")}`);
    return /** @type {Registration} */ ({ ...today(found), sequence, version: String(sequence) });
  };

  /** @param {KnownStep} next */
  function show(next) {
    step = next;
    sequence++;
    for (const send of streams) send(registration());
  }

  const methods = { GET: http.get, POST: http.post, PUT: http.put, PATCH: http.patch, DELETE: http.delete };
  const reads = Object.entries(recorded.reads).map(([path, body]) => http.get(baseUrl + path, () => HttpResponse.json(today(body))));
  const writes = Object.entries(LEADS).map(([operation, next]) => {
    const [method, path] = /** @type {[Method, string]} */ (operation.split(" "));
    return methods[method](baseUrl + path, () => {
      show(next);
      return HttpResponse.json(registration(), { status: recorded.statuses[operation] ?? 200 });
    });
  });
  /** @type {RequestHandler[]} */
  const handlers = [
    http.post(`${baseUrl}/v1/registrations`, () => {
      show(start);
      return HttpResponse.json({ ...registration(), token: "a-token-of-the-mock" }, { status: 201 });
    }),
    http.get(`${baseUrl}/v1/registrations/:id`, () => HttpResponse.json(registration())),
    http.delete(`${baseUrl}/v1/registrations/:id/session`, () => new HttpResponse(null, { status: 204 })),
    http.get(`${baseUrl}/v1/registrations/:id/events`, () => eventStream(registration(), streams)),
    http.post(`${baseUrl}/sandbox/payments/:payment/confirm`, () => {
      show("done");
      return HttpResponse.json({});
    }),
    ...reads,
    ...writes,
  ];
  return { handlers, registration, show };
}

/**
 * A handler that answers a problem: `server.use(problem("POST", "/v1/registrations/{id}/payment", "cart_changed"))`.
 * @template {Method} M
 * @param {M} method
 * @param {PathOf<M>} path
 * @param {KnownProblemCode} code
 * @param {{ baseUrl?: string, once?: boolean }} [options] `once`: the next request is answered by another handler
 * @returns {RequestHandler}
 */
export function problem(method, path, code, { baseUrl = "*", once = false } = {}) {
  const body = recorded.problems[code];
  if (!body) throw new Error(`the problem ${code} was not recorded`);
  const headers = { "Content-Type": "application/problem+json", ...(body.retryAfter && { "Retry-After": String(body.retryAfter) }) };
  const handler = { GET: http.get, POST: http.post, PUT: http.put, PATCH: http.patch, DELETE: http.delete }[method];
  return handler(baseUrl + String(path).replace(/{(\w+)}/g, ":$1"), () => HttpResponse.json(body, { status: body.status, headers }), { once });
}

/**
 * Moves the dates of a recording, so that what began today when it was recorded begins today.
 * @template T
 * @param {T} body
 * @returns {T}
 */
function today(body) {
  const days = Math.floor((Date.now() - Date.parse(recorded.at)) / DAY);
  const moved = JSON.stringify(body).replace(/"(\d{4}-\d\d-\d\d)(T[\d:]+Z)?"/g, (_, day, time = "") => {
    const date = new Date(Date.parse(day) + days * DAY);
    return `"${date.toISOString().slice(0, 10)}${time}"`;
  });
  return JSON.parse(moved);
}

/**
 * A stream of the registration, as it is now and at each change, until it is final.
 * @param {Registration} now
 * @param {Set<(registration: Registration) => void>} streams
 */
function eventStream(now, streams) {
  const encoder = new TextEncoder();
  /** @type {((registration: Registration) => void) | undefined} */
  let send;
  const body = new ReadableStream({
    start(controller) {
      const write = (/** @type {string} */ event, /** @type {object} */ data) =>
        controller.enqueue(encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
      send = (registration) => {
        write("registration", registration);
        if (!registration.final || !send) return;
        write("end", { reason: "final" });
        streams.delete(send);
        controller.close();
      };
      streams.add(send);
      send(now);
    },
    cancel() {
      if (send) streams.delete(send);
    },
  });
  return new HttpResponse(body, { headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" } });
}
