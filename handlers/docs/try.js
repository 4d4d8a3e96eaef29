// @ts-check
// Makes the examples of the contract's page work as they stand. A request that
// names the example registration gets one in its place with which that can be
// done: the one that this page used last, or else a new one. Anything that the
// developer typed or authorised is sent as it is.

/** As in openapi.yaml. */
const EXAMPLE = {
  id: "3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11",
  item: "0f2b7a3f-9c11-4d3c-9d53-6f1d0c0e8a55",
  key: "6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11",
  resume: "3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11.Qm9vdHMgYW5kIGJpa2VzIGFuZCBiYWxscyBhbmQgYm8",
  code: "123456",
  revision: "q0WDkV3nUf7s2aYH",
  statement: "8a1f6a4e-5c0f-4f7e-9a35-3d1b7c1f0e22",
  document: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  accessToken: "the-access-token-of-the-persons-own-account",
  dueAtDesk: 14900, // what its cards and its cheque add up to
};

// Offers of the simulated club.
const PAID_BY_CARD = "201", DIRECT_DEBIT = "901", FREE_TRIAL = "3801";

/** What an operation needs `next` of a registration to have. Those that are not named can be done with any. */
const ACTIONS = {
  "PUT /person": "person", "PATCH /person": "person", "PUT /guardian": "person", "POST /items": "add_item", "DELETE /items": "clear_items", "POST /check": "check",
  "POST /mandate": "mandate", "POST /mandate/signature": "sign", "DELETE /mandate/signature": "cancel_signature",
  "POST /mandate/signature/resend": "resend", "POST /prospect": "prospect", "POST /payment": "pay", "PATCH /consents": "consents", "DELETE ": "abandon",
};

/** The registration that this page used last, and how to get at it. @type {{ id: string, token: string, world: string } | undefined} */
let latest;

/** The world in which a contact of this page is moving to another club. @type {string | undefined} */
let moving;

/**
 * The interceptor of the page's requests.
 * @param {any} request
 * @param {any} ui the page
 * @param {boolean} mock whether the gateway is a mock: only there can anything be arranged
 */
export async function prepare(request, ui, mock) {
  if (request.loadSpec) return request;
  if (request.headers["Idempotency-Key"] === EXAMPLE.key) request.headers["Idempotency-Key"] = random();
  const path = new URL(request.url, location.href).pathname;
  if (path.endsWith("/events")) request.userFetch = firstEvent;
  if (!mock) return request;
  if (path.startsWith(`/v1/registrations/${EXAMPLE.id}`)) await putRegistration(request, path, ui);
  if (path.startsWith("/v1/me") && !request.headers.Authorization) await putPersona(request, path);
  if (path === "/v1/resumptions") await putLink(request);
  if (path.endsWith(`/${EXAMPLE.statement}/confirm`)) await putStatement(request, path);
  if (path.endsWith(`/documents/${EXAMPLE.document}`)) await putDocument(request, path);
  if (path === "/v1/registrations/current") await send("POST", "/v1/registrations", { clubId: "11" }, { "X-Frontdesk-Session": "cookie" });
  if (path === "/v1/webhooks/card") await sign(request);
  return request;
}

/** Puts a registration in the place of the example's, and whatever else only exists once it does. */
async function putRegistration(request, path, ui) {
  const operation = `${request.method} ${path.slice(`/v1/registrations/${EXAMPLE.id}`.length).replace(EXAMPLE.item, "{itemId}")}`;
  const body = request.body ? JSON.parse(request.body) : {};
  if (!latest || !(await allows(latest, operation, body))) latest = await makeFor(operation, body);
  ui.preauthorizeApiKey("token", latest.token);
  request.url = request.url.replace(EXAMPLE.id, latest.id);
  if (operation === REMOVE) request.url = request.url.replace(EXAMPLE.item, await chosenItem(latest));
  Object.assign(request.headers, holder(latest));
  if (body.code === EXAMPLE.code) setBody(request, { ...body, code: await lastCode(latest.world) });
  if (body.accessToken === EXAMPLE.accessToken) setBody(request, { ...body, accessToken: (await persona("prospect", latest.world)).accessToken });
  if (body.cart === EXAMPLE.revision) setBody(request, { ...body, cart: (await read(latest)).cart.revision, agreements: await seen(body.agreements) });
  if (body.method === "desk") request.headers["X-Frontdesk-Staff-Key"] ??= "demo-staff-key-1";
  if (operation === "DELETE /session") latest = undefined; // its token is invalid from now on
}

const REMOVE = "DELETE /items/{itemId}", CONFIRMATION = "GET /confirmation";

/** The agreements of the example, with the hashes of the club's documents in place of its own. */
async function seen(agreements) {
  const { items } = agreements ? await send("GET", "/v1/clubs/11/documents") : {};
  return agreements?.map((one) => ({ ...one, sha256: items.find(({ document }) => document === one.document)?.sha256 }));
}

/** The first item that the buyer chose. */
const chosenItem = async (one) => (await read(one)).cart.items.find(({ origin }) => origin === "chosen").id;

/** A registration as it stands; undefined if it cannot be read. */
async function read(one) {
  const response = await fetch(`/v1/registrations/${one.id}`, { headers: holder(one) });
  return response.ok ? response.json() : undefined;
}

/** Whether an operation can be carried out with a registration as it stands. */
async function allows(one, operation, body) {
  if (operation === "POST /prospect") return false; // a prospect can be taken over once in a world
  if (operation === REMOVE) return false; // the cart may be empty
  const registration = await read(one);
  if (!registration) return false;
  if (operation === CONFIRMATION) return registration.state === "completed";
  if (!ACTIONS[operation]) return true;
  const action = registration.next.find(({ action }) => action === ACTIONS[operation]);
  if (!action || operation !== "POST /payment") return Boolean(action);
  return body.method === "desk" ? registration.cart.dueNow.amount === EXAMPLE.dueAtDesk : action.methods.includes(body.method);
}

/** Starts a registration with which an operation can be carried out. */
async function makeFor(operation, body) {
  if (operation === "POST /prospect") return start(cart(PAID_BY_CARD), world());
  if (operation === "POST /payment") return start(cart(body.method === "free" ? FREE_TRIAL : PAID_BY_CARD));
  if (operation === CONFIRMATION) {
    const ordered = await start(cart(FREE_TRIAL));
    const { cart: { revision } } = await read(ordered);
    await send("POST", `/v1/registrations/${ordered.id}/payment`, { method: "free", cart: revision }, holder(ordered));
    return ordered;
  }
  if (!operation.includes("/mandate")) return start(cart(PAID_BY_CARD));
  const made = await start(cart(DIRECT_DEBIT));
  if (operation === "POST /mandate") return made;
  if (operation.endsWith("/resend")) { // one can only be sent at once where the first one was not
    await send("PUT", "/sim/demo/_control/faults",
      [{ match: { method: "POST", path: "/signature_requests" }, kind: "error_before", status: 421, times: 1 }]);
  }
  await send("POST", `/v1/registrations/${made.id}/mandate`, { holder: "Ada Martin", iban: "FR76 3000 6000 0112 3456 7890 189" }, holder(made));
  return made;
}

/** Has a persona of the simulated club log in. A persona that moves does so in its own world, because a contact can move only once. */
async function putPersona(request, path) {
  const moves = path.startsWith("/v1/me/transfer");
  if (path === "/v1/me/transfer") moving = world();
  if (moves && !moving) {
    moving = world();
    const { identityToken } = await persona("former", moving);
    await send("POST", "/v1/me/transfer", { clubId: "13" }, { Authorization: `Bearer ${identityToken}`, "X-Frontdesk-World": moving });
  }
  const where = moves && moving ? moving : "demo";
  const { identityToken } = await persona(moves ? "former" : "customer", where);
  request.headers.Authorization = `Bearer ${identityToken}`;
  if (where !== "demo") request.headers["X-Frontdesk-World"] = where;
  const body = request.body ? JSON.parse(request.body) : {};
  if (body.code === EXAMPLE.code) setBody(request, { code: await lastCode(where) });
}

/** Puts a new link in the place of the example's. */
async function putLink(request) {
  if (JSON.parse(request.body).resume !== EXAMPLE.resume) return;
  const started = await start(cart(PAID_BY_CARD));
  const { url } = await send("POST", `/v1/registrations/${started.id}/resume-link`, undefined, holder(started));
  setBody(request, { resume: new URL(url).searchParams.get("resume") });
}

/** Puts a new withdrawal or cancellation in the place of the example's. */
async function putStatement(request, path) {
  const { id } = await send("POST", path.slice(0, path.indexOf(`/${EXAMPLE.statement}`)), { name: "Ada Martin", email: "ada@example.com" });
  request.url = request.url.replace(EXAMPLE.statement, id);
}

/** Puts one of the club's documents in the place of the example's. */
async function putDocument(request, path) {
  const { items } = await send("GET", path.replace(`/${EXAMPLE.document}`, ""));
  request.url = request.url.replace(EXAMPLE.document, items[0].sha256);
}

/** Signs a webhook as the sandbox processor does. */
async function sign(request) {
  const bytes = (text) => new TextEncoder().encode(text);
  const at = Math.floor(Date.now() / 1000);
  const key = await crypto.subtle.importKey("raw", bytes("whsec_sandbox_demo"), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const mac = await crypto.subtle.sign("HMAC", key, bytes(`${at}.${request.body}`));
  request.headers["Stripe-Signature"] = `t=${at},v1=${[...new Uint8Array(mac)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Reads a stream of events up to its first: the page shows an answer when it has ended, and a stream does not end. */
async function firstEvent(url, request) {
  const response = await fetch(url, request);
  if (!response.ok || !response.body) return response;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("\n\n")) {
    const { value, done } = await reader.read();
    if (done) break;
    text += value;
  }
  await reader.cancel();
  return new Response(text, { status: response.status, headers: response.headers });
}

/** A new person with an offer in the cart. Each has a new mobile number, because a number gets only one code a minute. */
function cart(offerId) {
  return {
    clubId: "11", items: [{ offerId, startDate: "2030-01-15" }],
    person: {
      givenName: "Ada", familyName: "Martin", birthDate: "1990-05-17", email: "ada@example.com",
      mobile: `+336${String(crypto.getRandomValues(new Uint32Array(1))[0] % 1e8).padStart(8, "0")}`,
      address: { street: "12 rue des Lilas", postalCode: "75011", city: "Paris", country: "FR" },
    },
  };
}

async function start(body, world = "demo") {
  const { id, token } = await send("POST", "/v1/registrations", body, { "X-Frontdesk-World": world });
  return { id, token, world };
}

async function persona(name, world) {
  const { items } = await send("GET", `/sim/${world}/_control/personas`);
  return items.find(({ key }) => key === name);
}

async function lastCode(world) {
  const { items } = await send("GET", `/sim/${world}/_control/sms`);
  return items.at(-1)?.code ?? EXAMPLE.code;
}

/** The headers of requests about a registration, which only its own world knows. */
const holder = ({ token, world }) => ({ Authorization: `Bearer ${token}`, ...(world !== "demo" && { "X-Frontdesk-World": world }) });

const world = () => `demo-docs-${random().slice(0, 8)}`;

/** 128 random bits; a page that was loaded by plain http from another machine has no randomUUID. */
const random = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

const setBody = (request, body) => (request.body = JSON.stringify(body, null, 2));

async function send(method, path, body, headers = {}) {
  if (method === "POST") headers = { ...headers, "Idempotency-Key": random() };
  const response = await fetch(path, {
    method, headers: { ...headers, "Content-Type": "application/json" }, body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}, so the example could not be prepared.`);
  const text = await response.text();
  return text ? JSON.parse(text) : undefined;
}
