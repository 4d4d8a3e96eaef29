// A complete signup by the five rules of the guide "Build a website". Compile it with tsc; it runs in node and in a browser.
import { follow, intend, Problem } from "@frontdesk/client";
import type { NeededAgreement, Registration } from "@frontdesk/client";
import { api, useToken } from "./client.js";
import { screen } from "./screens.js";

const started = await api.request("POST", "/v1/registrations", {
  intention: intend("start", { // on a web page, add headers: { "X-Frontdesk-Session": "cookie" }, so that no script can read the token
    clubId: "11",
    items: [{ offerId: "201", startDate: "2030-01-15" }],
    person: {
      givenName: "Ada", familyName: "Martin", birthDate: "1990-05-17", email: "ada@example.com", mobile: "+33612345678",
      address: { street: "12 rue des Lilas", postalCode: "75011", city: "Paris", country: "FR" },
    },
  }),
});
useToken(started.token);
const path = { id: started.id };
const { items: documents } = await api.request("GET", "/v1/clubs/{clubId}/documents", { path: { clubId: started.clubId } });
const shownOf = (one: NeededAgreement) => documents.find(({ document, version }) => document === one.document && version === one.version);

/** Pays what is on the screen. Until the gateway asks for a new payment, a repetition is the same payment. */
const pay = ({ id, cart: { revision: cart }, order, payment }: Registration) => {
  const agreements = (order?.agreements ?? []).map((one) => ({ ...one, sha256: shownOf(one)?.sha256 }));
  const after = payment?.payAgain === "new_request" ? payment.id : undefined;
  const intention = intend(`pay.${id}`, { method: "card" as const, cart, agreements }, { after, keep: true });
  return api.request("POST", "/v1/registrations/{id}/payment", { path, intention });
};

const follower = follow(api, { changed: show });
console.log(`${started.cart.dueNow.amount} cents are due: ${screen(started)}`);
show(started);

/** Shows the registration, and does what the visitor would do. */
function show(registration: Registration) {
  follower.show(registration);
  if (registration !== started) console.log(screen(registration));
  const canPay = registration.next.some(({ action, methods }) => action === "pay" && methods?.includes("card"));
  if (registration.final) console.log(`member ${registration.contact?.number}`);
  else if (canPay) pay(registration).then(show).catch(explain);
  else enterCard(registration.payment?.card?.clientSecret);
}

/** What a page does after a problem. The client has sent the same request again already, where that was safe. */
function explain(problem: unknown) {
  if (!(problem instanceof Problem)) throw problem;
  const { code, errors, registration, text, then } = problem;
  switch (then) {
    case "send_again": return console.log("offer to try again: the same intention is sent with the same key");
    case "correct_input": return console.log(errors.map((one) => one.text).join(" ") || text);
    case "captcha": return console.log("give createClient an onChallenge, which shows the captcha");
    case "log_in": return console.log("show the login");
    case "start_again": return console.log("forget the registration, and start again");
    case "fix_request": return console.log(`report a mistake of this program: ${code}`);
    case "read_again": return registration ? show(registration) : api.request("GET", "/v1/registrations/{id}", { path }).then(show);
    default: then satisfies never;
  }
}

let entered = "";

/** Acts as the buyer. A page would show the processor's card fields, or send the buyer to card.redirectUrl. */
async function enterCard(clientSecret = "") {
  if (clientSecret === entered) return;
  const [payment] = (entered = clientSecret).split("_secret_");
  await fetch(`http://localhost:8080/sandbox/payments/${payment}/confirm`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ card: "4242424242424242" }),
  });
}
