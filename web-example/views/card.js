// @ts-check
/**
 * The processor's card fields, embedded where the gateway responds with a `clientSecret`. A frame reloads when it is
 * moved; therefore the fields have a place of their own below the step, where they stay while the step changes. Start
 * reading at `showCard`.
 */
import { Problem, getConfig } from "../api.js";
import { button, h, icon, working } from "../dom.js";
import { confirmCard } from "../journey.js";
import { ProcessorAway, confirm, load, mount, needsCard } from "../processor.js";
import { embeddedCard, returnUrl } from "../route.js";
import { get, set } from "../store.js";
import { language, text } from "../text.js";
import { waysOut } from "./abandon.js";
import { label, ordering } from "./order.js";

/**
 * The number of readings after which a payment's state is believed. Right after the buyer returns from the processor's
 * page, the gateway may not know the result yet, and "not charged, try again" could be wrong. The third reading comes
 * 1.25 s after the first.
 */
export const READINGS_TO_BELIEVE = 3;

/** The client secret of the payment whose fields are shown. */
let shown = "";

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
  if (registration && payment && card && wanted) begin(place, registration, card);
}

/**
 * @param {HTMLElement} place
 * @param {import("../contract").Registration} registration
 * @param {{ clientSecret: string, publishableKey: string }} card
 */
async function begin(place, registration, { clientSecret: secret, publishableKey }) {
  const fields = h("div", { class: "card-fields", "data-card-fields": "loading" }, h("i", { class: "bone bone-box", "aria-hidden": true }));
  const error = h("p", { class: "field-error", role: "alert", "data-card-error": "" });
  const pay = h("button", { class: "button button-wide", id: "pay-card", "data-pay-card": true, hidden: true },
    icon("lock"), working(label(registration), text.cart.paying));
  const form = h("form", { class: "panel card-form", novalidate: true, "data-form": "card", "aria-label": text.card.label },
    fields, error, h("div", { class: "ordering" }, ordering(registration, pay)));
  place.append(form, h("div", { class: "actions" }, waysOut(registration)));
  /** @param {string} [words] */
  const refuse = (words) => error.replaceChildren(...(words ? [icon("alert"), words] : []));
  try {
    const { card } = await getConfig();
    const stripe = await load(card.scriptUrl, publishableKey);
    const needed = await needsCard(stripe, secret);
    if (shown !== secret) return;
    if (!needed) return set({ confirmed: secret });
    const elements = mount(stripe, secret, fields.appendChild(h("div", { "data-card-mount": true })), {
      locale: language,
      onReady() {
        fields.dataset.cardFields = "ready";
        fields.querySelector(".bone")?.remove();
        pay.hidden = false;
      },
      onAway: () => unloaded(place, form),
    });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (get().busy) return;
      refuse();
      const back = returnUrl(registration.id);
      refuse(await confirmCard(async (one) => (one === secret ? confirm(stripe, elements, secret, back, text.card.failed, text.card.declined) : text.card.failed)));
    });
  } catch (problem) {
    if (!(problem instanceof ProcessorAway || problem instanceof Problem)) throw problem;
    if (shown === secret) unloaded(place, form);
  }
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
