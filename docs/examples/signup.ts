// A whole signup with the typed client: node runs it once tsc has compiled it, and so does a browser.
import { api, intention } from "./client.js";

const { data: started, error } = await api.POST("/v1/registrations", {
  params: { header: intention() }, // for the web add "X-Frontdesk-Session": "cookie", and no token comes within a script's reach
  body: {
    clubId: "11",
    items: [{ offerId: "201", startDate: "2030-01-15" }],
    person: {
      givenName: "Ada", familyName: "Martin", birthDate: "1990-05-17", email: "ada@example.com", mobile: "+33612345678",
      address: { street: "12 rue des Lilas", postalCode: "75011", city: "Paris", country: "FR" },
    },
  },
});
if (error) throw new Error(`${error.code} (${error.retry}): ${error.errors?.map(({ pointer, message }) => `${pointer} ${message}`)}`);

const id = started.id;
const headers = { Authorization: `Bearer ${started.token}` };
const path = { id };
console.log(`${started.cart.dueNow.amount} cents are due; one can ${started.next.map(({ action }) => action)}`);

// One key for this wish to pay: whatever happens to the answer, the same request with the same key is the same wish.
const wish = intention();
let payment;
for (let tries = 0; !payment; tries++) {
  const answer = await api.POST("/v1/registrations/{id}/payment", { params: { path, header: wish }, headers, body: { method: "card", cart: started.cart.revision } });
  payment = answer.data;
  if (!answer.error) continue;
  if (answer.error.retry === "never" || tries === 3) throw new Error(answer.error.code);
  await pause(Number(answer.response.headers.get("Retry-After") ?? 1));
}

// A page would go to payment.card.redirectUrl; here the program is the buyer.
await fetch(`${payment.card?.redirectUrl}/confirm`, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ card: "4242424242424242" }),
});

for (let tries = 0; ; tries++) {
  const { data: registration } = await api.GET("/v1/registrations/{id}", { params: { path }, headers });
  if (registration?.state === "completed" || registration?.state === "attention") {
    console.log(`${registration.state}: ${registration.payment?.state}, member ${registration.contact?.number}`);
    break;
  }
  if (tries === 60) throw new Error(`still ${registration?.state}`);
  await pause(0.5);
}

function pause(seconds: number) {
  return new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
}
