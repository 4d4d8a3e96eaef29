// @ts-check
/**
 * The card processor's library (Stripe.js) and its card fields (the Payment Element). The site and the gateway's own card page
 * share this file, so it uses nothing of either. Start reading at `load`.
 *
 * The processor requires its script to be loaded from its own servers. Besides that of a captcha, it is the only foreign script,
 * loaded only where a card is entered. The gateway's Content-Security-Policy allows it there.
 */

/** States of a payment at the processor in which it needs a card. In all others the buyer has nothing left to do. */
const NEEDS_CARD = ["requires_payment_method", "requires_confirmation", "requires_action"];

/** Types of errors whose messages are meant for the buyer. All others are meant for developers. */
const FOR_BUYERS = ["card_error", "validation_error"];

/** The processor's script could not be loaded, or something has replaced it. */
export class ProcessorAway extends Error {}

/** @type {Promise<any> | undefined} */
let script;

/**
 * Loads the processor's script, and creates its library with a publishable key.
 * @param {string | undefined} address of the script, as the gateway's configuration has it
 * @param {string} publishableKey
 */
export async function load(address, publishableKey) {
  if (!address) throw new ProcessorAway();
  script ??= new Promise((resolve, reject) => {
    const element = document.createElement("script");
    const fail = () => {
      script = undefined;
      element.remove();
      reject(new ProcessorAway());
    };
    element.addEventListener("load", () => {
      const library = /** @type {any} */ (window).Stripe;
      if (typeof library === "function") resolve(library);
      else fail(); // a blocker has replaced the script by an empty one
    });
    element.addEventListener("error", fail);
    element.src = address;
    document.head.append(element);
  });
  return (await script)(publishableKey);
}

/**
 * Whether the payment can still be paid with a card, according to the processor, which knows it first.
 * @param {any} stripe
 * @param {string} secret the payment's client secret
 */
export async function needsCard(stripe, secret) {
  const { paymentIntent } = await stripe.retrievePaymentIntent(secret);
  return !paymentIntent || NEEDS_CARD.includes(paymentIntent.status);
}

/**
 * Shows the card fields, in the colours and fonts of a form and its button. They are frames of the processor, which no style
 * sheet of the page reaches and whose content the page never sees. A frame reloads when it is moved.
 * @param {any} stripe
 * @param {string} secret the payment's client secret
 * @param {HTMLElement} place inside the form
 * @param {{ locale: string, onReady: () => void, onAway: () => void }} options `onAway`: the fields could not be loaded
 * @returns {any} the fields, for `confirm`
 */
export function mount(stripe, secret, place, { locale, onReady, onAway }) {
  const elements = stripe.elements({ clientSecret: secret, locale, appearance: appearanceAt(place) });
  const element = elements.create("payment");
  element.on("ready", onReady);
  element.on("loaderror", onAway);
  element.mount(place);
  return elements;
}

/**
 * Confirms the payment at the processor. A bank that authenticates the buyer may redirect the browser to its own page and
 * back to `returnUrl`. After any error that is not about the card, this reads the payment's state from the processor,
 * because only the response may have been lost.
 * @param {any} stripe
 * @param {any} elements
 * @param {string} secret the payment's client secret
 * @param {string} returnUrl
 * @param {string} failed what to show to the buyer after an error whose message is not for buyers
 * @param {string} [declined] what to show after a decline, where the page says itself that the card was declined
 * @returns {Promise<string | undefined>} what to show to the buyer; nothing when the card was taken
 */
export async function confirm(stripe, elements, secret, returnUrl, failed, declined) {
  const { error } = await stripe.confirmPayment({ elements, confirmParams: { return_url: returnUrl }, redirect: "if_required" });
  if (!error) return undefined;
  if (declined && error.code === "card_declined") return declined;
  if (FOR_BUYERS.includes(error.type) && error.message) return error.message;
  const { paymentIntent } = await stripe.retrievePaymentIntent(secret);
  return paymentIntent && !NEEDS_CARD.includes(paymentIntent.status) ? undefined : failed;
}

/**
 * The page's colours and fonts at a place, for the frames.
 * @param {HTMLElement} place
 */
function appearanceAt(place) {
  const probe = document.createElement("button");
  probe.className = "button";
  place.append(probe);
  const brand = getComputedStyle(probe).backgroundColor;
  probe.remove();
  const { color, fontFamily } = getComputedStyle(place);
  const surface = getComputedStyle(/** @type {HTMLElement} */ (place.closest("form"))).backgroundColor;
  return {
    theme: matchMedia("(prefers-color-scheme: dark)").matches ? "night" : "stripe",
    variables: { colorPrimary: brand, colorText: color, colorBackground: surface, fontFamily, borderRadius: "12px" },
  };
}
