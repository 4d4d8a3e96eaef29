/**
 * The page of a buyer's bank, which asks whether the payment is meant. It is a page of its own, which leads back to the
 * payment's return_url, or a frame in the merchant's page, to which it says that it was answered.
 */
const given = new URLSearchParams(location.search);
const texts = translate(given.get("locale") ?? "auto");
const buyer = { key: given.get("key") ?? "", client_secret: given.get("payment_intent_client_secret") ?? "" };
const id = location.pathname.split("/").at(-1);
const isFrame = parent !== window;
const find = (selector) => document.querySelector(selector);
const form = find("form");

/** How Stripe names the result in the address of the return, by the payment's status. Any other status is a failure. */
const results = { requires_capture: "succeeded", succeeded: "succeeded", processing: "pending" };

/** Shows a headline, a text, and the buttons that fit. */
function say(headline, text, canAnswer) {
  find("#headline").textContent = texts[headline];
  find("#text").textContent = texts[text];
  document.title = `${texts[headline]} · ${texts.notice}`;
  form.hidden = !canAnswer;
  find("#back").hidden = canAnswer;
  find("main").hidden = false;
}

/** Writes minor units as the page's language does. */
function money(amount, currency) {
  const format = new Intl.NumberFormat(document.documentElement.lang, { style: "currency", currency });
  return format.format(amount / 10 ** format.resolvedOptions().maximumFractionDigits);
}

/** Tells the merchant's page that the buyer has answered: nothing secret, because the frame does not know its page. */
const tellPage = () => parent.postMessage("answered", "*");

async function show() {
  const answer = await fetch(new URL(`../../v1/payment_intents/${id}?${new URLSearchParams(buyer)}`, location));
  const payment = await answer.json();
  if (!answer.ok) return say("missing", "missingText", false);
  find("#merchant").textContent = payment.description ?? "";
  find("#amount").textContent = money(payment.amount, payment.currency);
  if (payment.status !== "requires_action") return isFrame ? tellPage() : say("settled", "settledText", false);
  say("challenge", "challengeText", true);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    answerChallenge(event.submitter.dataset.answer, payment.next_action.redirect_to_url?.return_url);
  });
}

/** Sends the buyer's answer, and returns to the merchant. */
async function answerChallenge(approve, back) {
  const buttons = form.querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  find("#problem").textContent = "";
  let status;
  try {
    const answer = await fetch(location.pathname, { method: "POST", body: new URLSearchParams({ ...buyer, approve }) });
    const { error, ...payment } = await answer.json();
    ({ status } = error?.payment_intent ?? payment);
  } catch {
    // without a status
  }
  if (!status) {
    for (const button of buttons) button.disabled = false;
    find("#problem").textContent = texts.unreachable;
    return;
  }
  if (isFrame) return tellPage();
  if (!back) return location.reload(); // the page was opened without a merchant's
  const address = new URL(back);
  address.searchParams.set("payment_intent", id);
  address.searchParams.set("payment_intent_client_secret", buyer.client_secret);
  address.searchParams.set("redirect_status", results[status] ?? "failed");
  location.replace(address);
}

find("#back").addEventListener("click", () => history.back());
// A page that comes back from the browser's cache shows a payment that may be settled by now.
addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
show().catch(() => say("missing", "unreachable", false));
