// Records what the simulator answers: node client/msw/record.mjs GATEWAY writes recorded.js, or the file that a second argument names.
import { writeFile } from "node:fs/promises";

const [gateway, file = new URL("recorded.js", import.meta.url)] = process.argv.slice(2);
const world = "demo-recording";
const recorded = { at: new Date().toISOString(), reads: {}, statuses: {}, steps: {}, problems: {} };

/** Sends a request to the recording's world. */
async function send(method, path, { body, token } = {}) {
  const response = await fetch(gateway + path, {
    method,
    headers: {
      "Accept-Language": "en", "Content-Type": "application/json", "X-Frontdesk-World": world, "Idempotency-Key": crypto.randomUUID(),
      ...(token && { Authorization: `Bearer ${token}` }),
    },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text && JSON.parse(text) };
}

async function must(method, path, options) {
  const response = await send(method, path, options);
  if (response.status >= 400) throw new Error(`${method} ${path}: ${JSON.stringify(response.body)}`);
  return response;
}

const person = {
  givenName: "Ada", familyName: "Martin", birthDate: "1990-05-17", email: "ada@example.com", mobile: "+33612345678",
  address: { street: "12 rue des Lilas", postalCode: "75011", city: "Paris", country: "FR" },
};
const items = [{ offerId: "901", startDate: "2030-01-15", debit: { day: 10 } }];

/** A registration, whose responses are recorded by their steps. */
async function start(body) {
  const { status, body: started } = await must("POST", "/v1/registrations", { body: { clubId: "11", ...body } });
  recorded.statuses["POST /v1/registrations"] = status;
  const { id, token } = started;
  keep(started);
  return {
    /** Requests something, and waits for a step. */
    async go(method, operation, step, body) {
      const { status, body: now } = await must(method, `/v1/registrations/${id}${operation}`, { body, token });
      recorded.statuses[`${method} /v1/registrations/:id${operation}`] = status;
      return now.step === step ? keep(now) : this.reach(step);
    },
    async reach(step) {
      for (let tries = 0; tries < 100; tries++) {
        const { body: now } = await must("GET", `/v1/registrations/${id}`, { token });
        if (now.step === step) return keep(now);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error(`the registration does not reach ${step}`);
    },
    read: (what) => must("GET", `/v1/registrations/${id}${what}`, { token }),
  };
}

function keep({ token, ...registration }) {
  recorded.steps[registration.step] = registration;
  return registration;
}

/** The processor's id of a payment. */
const paymentOf = ({ payment }) => payment.card.clientSecret.split("_secret_")[0];

/** The buyer enters a card. */
const enter = (registration, card) => send("POST", `/sandbox/payments/${paymentOf(registration)}/confirm`, { body: { card } });

async function read(path, query = "") {
  const { body } = await must("GET", path.replace(":clubId", "11").replace(":offerId", "901") + query);
  recorded.reads[path] = body;
}

for (const path of ["/v1/config", "/v1/clubs", "/v1/clubs/:clubId", "/v1/clubs/:clubId/products", "/v1/clubs/:clubId/documents"]) await read(path);
await read("/v1/clubs/:clubId/offers/:offerId");
await read("/v1/clubs/:clubId/offers/:offerId/schedule", "?startDate=2030-01-15&debitDay=10");
await read("/v1/clubs/:clubId/debit-days", "?startDate=2030-01-15");

await start({ person });
const left = await start({ person, items });
await left.go("DELETE", "", "abandoned");

const buyer = await start({ person, items });
await buyer.go("POST", "/mandate", "code", { holder: "Ada Martin", iban: "FR14 2004 1010 0505 0001 3M02 606" });
const { body: messages } = await must("GET", `/sim/${world}/_control/sms`);
const ready = await buyer.go("POST", "/mandate/signature", "ready", { code: messages.items.at(-1).code });
const payment = { method: "card", cart: ready.cart.revision, agreements: ready.order.agreements ?? [] };
await enter(await buyer.go("POST", "/payment", "at_processor", payment), "4000000000000002");
await buyer.reach("declined");
const paying = await buyer.go("POST", "/payment", "at_processor", payment);
await must("PUT", "/sandbox/settings", { body: { confirmations: "processing" } });
await enter(paying, "4242424242424242");
await buyer.reach("waiting");
await must("PUT", "/sandbox/settings", { body: { confirmations: "" } });
await must("POST", `/sandbox/payments/${paymentOf(paying)}/settle-confirmation`, { body: { succeeded: true } });
await buyer.reach("done");
recorded.reads["/v1/registrations/:id/consents"] = (await buyer.read("/consents")).body;

// One problem of each code, at the first operation that can have it.
const { body: contract } = await must("GET", "/openapi.json");
for (const [path, operations] of Object.entries(contract.paths)) {
  for (const [method, { "x-problem-codes": codes = [] }] of Object.entries(operations)) {
    if (!path.startsWith("/v1/") || path.startsWith("/v1/webhooks")) continue;
    const [verb, address] = [method.toUpperCase(), path.replace(/{\w+}/g, crypto.randomUUID())];
    for (const code of codes.filter((one) => !recorded.problems[one])) {
      const match = { method: verb, path: path.replace(/{\w+}/g, "*") };
      await must("PUT", `/sim/${world}/_control/faults`, { body: [{ match, kind: "problem", code, times: 1 }] });
      const { body } = await send(verb, address, { body: verb === "GET" || verb === "DELETE" ? undefined : {} });
      if (body.code === code) recorded.problems[code] = body;
      else console.error(`${verb} ${path} cannot answer ${code}, but ${body.code}`);
    }
  }
}
await writeFile(file, `// What the simulator has answered. Written by record.mjs.\nexport default ${JSON.stringify(recorded, null, 1)};\n`);
