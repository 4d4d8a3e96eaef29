// A complete signup by the five rules of the guide "Build a website". Compile it with tsc; it runs in node and in a browser.
import { api, intention } from "./client.js";
import type { Later, NeededAgreement, Problem, Registration, StartedRegistration } from "./frontdesk.d.ts";
import { screen } from "./screens.js";

type Send = (header: ReturnType<typeof intention>) => Promise<{ data?: StartedRegistration; error?: Problem }>;

/** Carries out one intention. Returns the registration to show, or nothing if it must be read. */
async function carryOut(send: Send): Promise<StartedRegistration | undefined> {
  const header = intention();
  for (let tries = 1; ; tries++) {
    const { data, error } = await send(header).catch(() => ({ data: undefined, error: undefined }));
    if (data) return data;
    const then = error?.then ?? "send_again"; // there was no response, or a proxy's
    switch (then) {
      case "send_again":
        if (tries === 5) throw new Error("offer to try again later, with the same key");
        await pause(error?.retryAfter ?? tries);
        break;
      case "correct_input": throw new Error(error?.errors?.map(({ text }) => text).join(" ") ?? error?.detail ?? error?.title);
      case "captcha": throw new Error("show the captcha, then send the same request with the same key");
      case "log_in": throw new Error("show the login");
      case "start_again": throw new Error("forget the registration, and start again");
      case "fix_request": throw new Error(`report a mistake of this program: ${error?.code}`);
      case "read_again": return error?.registration;
      default: then satisfies Later; return error?.registration;
    }
  }
}

const started = await carryOut((header) => api.POST("/v1/registrations", {
  params: { header }, // on a web page, add "X-Frontdesk-Session": "cookie" so that no script can read the token
  body: {
    clubId: "11",
    items: [{ offerId: "201", startDate: "2030-01-15" }],
    person: {
      givenName: "Ada", familyName: "Martin", birthDate: "1990-05-17", email: "ada@example.com", mobile: "+33612345678",
      address: { street: "12 rue des Lilas", postalCode: "75011", city: "Paris", country: "FR" },
    },
  },
}));
if (!started) throw new Error("show the catalogue");
let shown: Registration = started;
const path = { id: started.id };
const headers = { Authorization: `Bearer ${started.token}` };
const read = () => carryOut(() => api.GET("/v1/registrations/{id}", { params: { path }, headers }));
const { data: documents } = await api.GET("/v1/clubs/{clubId}/documents", { params: { path: { clubId: started.clubId } } });
const shownOf = (one: NeededAgreement) => documents?.items.find(({ document, version }) => document === one.document && version === one.version);
const pay = ({ cart: { revision: cart }, order }: Registration) => carryOut((header) => {
  const agreements = (order?.agreements ?? []).map((one) => ({ ...one, sha256: shownOf(one)?.sha256 }));
  return api.POST("/v1/registrations/{id}/payment", { params: { path, header }, headers, body: { method: "card", cart, agreements } });
});

console.log(`${shown.cart.dueNow.amount} cents are due: ${screen(shown)}`);
while (!shown.final) {
  const canPay = shown.next.some(({ action, methods }) => action === "pay" && methods?.includes("card"));
  const latest = canPay && await pay(shown) || await read();
  if (!latest || latest.sequence <= shown.sequence) await pause(0.5);
  else {
    shown = latest;
    console.log(screen(shown));
    await enterCard(shown.payment?.card?.clientSecret);
  }
}
console.log(`member ${shown.contact?.number}`);

/** Acts as the buyer. A page would show the processor's card fields, or send the buyer to card.redirectUrl. */
async function enterCard(clientSecret?: string) {
  if (!clientSecret) return;
  const [payment] = clientSecret.split("_secret_");
  await fetch(`http://localhost:8080/sandbox/payments/${payment}/confirm`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ card: "4242424242424242" }),
  });
}

function pause(seconds: number) {
  return new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
}
