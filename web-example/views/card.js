// @ts-check
/**
 * The processor's card fields (Stripe's Payment Element), embedded where the gateway responds with a `clientSecret`
 * instead of a redirect. They are frames of the processor, so this page never sees the card. A frame reloads when it is
 * moved; therefore the fields have a place of their own below the step, where they stay while the step changes. Start
 * reading at `showCard`.
 *
 * The processor requires its script to be loaded from its own servers. Besides that of a captcha, it is the site's only foreign script, loaded only
 * when a payment needs it; the gateway's Content-Security-Policy allows it only then.
 */
import { button, h, icon, working } from "../dom.js";
import { money } from "../format.js";
import { confirmCard } from "../journey.js";
import { embeddedCard, returnUrl } from "../route.js";
import { get, set } from "../store.js";
import { language, text } from "../text.js";
import { waysOut } from "./abandon.js";

/** @typedef {import("../contract").Payment} Payment */

/** The address of the processor's script, which only the processor may serve. */
const SCRIPT = "https://js.stripe.com/v3/";

/**
 * The number of readings after which a payment's state is believed. Right after the buyer returns from the processor's
 * page, the gateway may not know the result yet, and "not charged, try again" could be wrong. The third reading comes
 * 1.25 s after the first.
 */
export const READINGS_TO_BELIEVE = 3;

/** States of a payment at the processor in which it needs a card. In all others the buyer has nothing left to do. */
const WANTS_CARD = ["requires_payment_method", "requires_confirmation", "requires_action"];

/** Types of errors whose messages are meant for the buyer. All others are meant for developers. */
const FOR_BUYERS = ["card_error", "validation_error"];

/** The client secret of the payment whose fields are shown. */
let shown = "";

/** @type {Promise<any> | undefined} */
let script;

/**
 * Shows the fields while the payment needs a card, and removes them afterwards.
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
  const pay = h("button", { class: "button button-wide", id: "pay-card", "data-pay-card": true, hidden: true },
    icon("lock"), working(text.cart.pay(money(amount)), text.cart.paying));
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
 * Confirms the payment at the processor. A bank that authenticates the buyer may redirect the browser to its own page and
 * back to the registration. After any error that is not about the card, this reads the payment's state from the processor,
 * because only the response may have been lost.
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

/** The processor's script could not be loaded. */
class ProcessorAway extends Error {}

/**
 * Loads the processor's script, and creates its library with a publishable key.
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
 * Says that the fields could not be loaded, and offers to try again.
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

/** The site's colours and fonts, for the frames, which its style sheets do not reach. */
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
