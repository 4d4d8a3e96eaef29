// A complete signup with the typed client. Compile it with tsc; it runs in node and in a browser.
import { api, intention } from "./client.js";
import { screen } from "./screens.js";

const { data: started, error } = await api.POST("/v1/registrations", {
  params: { header: intention() }, // on a web page, add "X-Frontdesk-Session": "cookie" so that no script can read the token
  body: {
    clubId: "11",
    items: [{ offerId: "201", startDate: "2030-01-15" }],
    person: {
      givenName: "Ada", familyName: "Martin", birthDate: "1990-05-17", email: "ada@example.com", mobile: "+33612345678",
      address: { street: "12 rue des Lilas", postalCode: "75011", city: "Paris", country: "FR" },
    },
  },
});
if (error) throw new Error(`${error.code} (${error.then}): ${error.errors?.map(({ pointer, text }) => `${pointer} ${text}`)}`);

const id = started.id;
const headers = { Authorization: `Bearer ${started.token}` };
const path = { id };
console.log(`${started.cart.dueNow.amount} cents are due; possible actions: ${started.next.map(({ action }) => action)}`);
console.log(screen(started));

// One key for this payment. If the response is lost, the same request with the same key is carried out once.
const key = intention();
let paying;
for (let tries = 0; !paying; tries++) {
  const { data, error, response } = await api.POST("/v1/registrations/{id}/payment", { params: { path, header: key }, headers, body: { method: "card", cart: started.cart.revision } });
  paying = data;
  if (!error) continue;
  if (error.then !== "send_again" || tries === 3) throw new Error(error.code);
  await pause(Number(response.headers.get("Retry-After") ?? 1));
}

// A page would show the processor's fields, or send the buyer to card.redirectUrl; here the program acts as the buyer.
const { payment } = paying;
if (payment?.card?.clientSecret) {
  const [held] = payment.card.clientSecret.split("_secret_");
  await fetch(`http://localhost:8080/sandbox/payments/${held}/confirm`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ card: "4242424242424242" }),
  });
}

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
