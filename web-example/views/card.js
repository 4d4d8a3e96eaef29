// @ts-check
/**
 * The processor's own card fields on this page, where the gateway responds with a `clientSecret` instead of a page to
 * go to: Stripe's Payment Element. What is typed there is in frames of the processor; this page never has it. The fields
 * stand in a place of their own below the step, since a frame that is moved reloads: they stay while the step above
 * changes. Start reading at `showCard`.
 *
 * The script has to come from the processor itself, which is why this file loads one: it is the only one of the site, and
 * it is asked for only when a payment needs it. The gateway's Content-Security-Policy allows it just then.
 */
import { button, h, icon } from "../dom.js";
import { money } from "../format.js";
import { confirmCard } from "../journey.js";
import { embeddedCard, returnUrl } from "../route.js";
import { get, set } from "../store.js";
import { language, text } from "../text.js";
import { waysOut } from "./abandon.js";

/** @typedef {import("../contract").Payment} Payment */

/** Where the processor's script is. Others may not serve it. */
const SCRIPT = "https://js.stripe.com/v3/";

/**
 * Who comes back from the processor's page has just paid, or has not. The gateway's first responses can still be those from
 * before; to say "not charged, try again" then would be wrong. The third reading comes 1.25 s after the first.
 */
export const READINGS_TO_BELIEVE = 3;

/** States of a payment at the processor in which a card is wanted. In any other one the buyer has done their part. */
const WANTS_CARD = ["requires_payment_method", "requires_confirmation", "requires_action"];

/** Refusals whose words are for the buyer; those of others are for developers. */
const FOR_BUYERS = ["card_error", "validation_error"];

/** The payment whose fields are on the page, by its client secret. */
let shown = "";

/** @type {Promise<any> | undefined} */
let script;

/**
 * Shows the fields while the payment wants a card, and takes them away when it does not.
 * @param {HTMLElement} place
 * @param {import("../route.js").Step} step
 * @param {import("../store.js").State} state
 */
export function showCard(place, step, { registration, confirmed, readings, busy }) {
  const payment = registration?.payment;
  const card = embeddedCard(payment);
  const secret = card?.clientSecret ?? "";
  const isBehind = readings < READINGS_TO_BELIEVE && secret !== shown;
  const wanted = step === "payment" && confirmed !== secret && !isBehind ? secret : "";
  if (wanted === shown || busy) return;
  shown = wanted;
  place.hidden = !wanted;
  place.replaceChildren();
  if (registration && payment && card && wanted) begin(place, registration, payment, card);
}

/**
 * @param {HTMLElement} place
 * @param {import("../contract").Registration} registration
 * @param {Payment} payment
 * @param {import("../contract").CardEmbedded} card
 */
async function begin(place, registration, { amount }, { clientSecret: secret, publishableKey }) {
  const fields = h("div", { class: "card-fields", "data-card-fields": "loading" }, h("i", { class: "bone bone-box", "aria-hidden": true }));
  const error = h("p", { class: "field-error", role: "alert", "data-card-error": "" });
  const pay = h("button", { class: "button button-wide", id: "pay-card", "data-pay-card": true, hidden: true }, icon("lock"),
    h("span", { class: "when-idle" }, text.cart.pay(money(amount))), h("span", { class: "when-busy" }, text.cart.paying));
  const form = h("form", { class: "panel card-form", novalidate: true, "data-form": "card", "aria-label": text.card.label }, fields, error, pay);
  place.append(form, h("div", { class: "actions" }, waysOut(registration)));
  /** @param {string} [words] */
  const refuse = (words) => error.replaceChildren(...(words ? [icon("alert"), words] : []));
  try {
    const stripe = await loadProcessor(publishableKey);
    const { paymentIntent } = await stripe.retrievePaymentIntent(secret);
    if (shown !== secret) return;
    if (paymentIntent && !WANTS_CARD.includes(paymentIntent.status)) return set({ confirmed: secret });
    const elements = stripe.elements({ clientSecret: secret, locale: language, appearance: looks() });
    const element = elements.create("payment");
    element.on("ready", () => {
      fields.dataset.cardFields = "ready";
      fields.querySelector(".bone")?.remove();
      pay.hidden = false;
    });
    element.on("loaderror", () => unloaded(place, form));
    element.mount(fields.appendChild(h("div", { "data-card-mount": true })));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (get().busy) return;
      refuse();
      refuse(await confirmCard((one) => (one === secret ? confirm(stripe, elements, secret, registration.id) : Promise.resolve(text.card.failed))));
    });
  } catch (problem) {
    if (!(problem instanceof ProcessorAway)) throw problem;
    if (shown === secret) unloaded(place, form);
  }
}

/**
 * Has the processor confirm the card. A bank that wants to ask the buyer may take the browser away, and back to the
 * registration. After any failure that is not the card's own, the processor is asked for the payment's state: it may have
 * been the response that got lost.
 * @param {any} stripe
 * @param {any} elements
 * @param {string} secret
 * @param {string} id
 * @returns {Promise<string | undefined>} what to show to the buyer; nothing when the card was taken
 */
async function confirm(stripe, elements, secret, id) {
  const { error } = await stripe.confirmPayment({ elements, confirmParams: { return_url: returnUrl(id) }, redirect: "if_required" });
  if (!error) return undefined;
  if (FOR_BUYERS.includes(error.type) && error.message) return error.message;
  const { paymentIntent } = await stripe.retrievePaymentIntent(secret);
  return paymentIntent && !WANTS_CARD.includes(paymentIntent.status) ? undefined : text.card.failed;
}

/** The processor's script did not come. */
class ProcessorAway extends Error {}

/**
 * The processor's library for a key, from its script.
 * @param {string} publishableKey
 */
async function loadProcessor(publishableKey) {
  script ??= new Promise((resolve, reject) => {
    const element = h("script", { src: SCRIPT });
    element.addEventListener("load", () => resolve(/** @type {any} */ (window).Stripe));
    element.addEventListener("error", () => {
      script = undefined;
      element.remove();
      reject(new ProcessorAway());
    });
    document.head.append(element);
  });
  return (await script)(publishableKey);
}

/**
 * Says that the fields did not come, and offers to try again.
 * @param {HTMLElement} place
 * @param {HTMLElement} form
 */
function unloaded(place, form) {
  const again = () => {
    shown = "";
    place.replaceChildren();
    set({});
  };
  form.replaceChildren(
    h("p", { class: "problem", role: "alert", "data-card-error": "unloaded" }, icon("alert"), text.card.unloaded),
    button({ class: "button button-quiet", "data-card-again": true, onclick: again }, text.retry));
}

/** The site's own looks, for the frames that its style sheets do not reach. */
function looks() {
  const probe = document.body.appendChild(h("button", { class: "button", hidden: false }));
  const brand = getComputedStyle(probe).backgroundColor;
  probe.remove();
  const { color, fontFamily } = getComputedStyle(document.body);
  const surface = getComputedStyle(/** @type {HTMLElement} */ (document.querySelector(".card-form"))).backgroundColor;
  return {
    theme: matchMedia("(prefers-color-scheme: dark)").matches ? "night" : "stripe",
    variables: { colorPrimary: brand, colorText: color, colorBackground: surface, fontFamily, borderRadius: "12px" },
  };
}
