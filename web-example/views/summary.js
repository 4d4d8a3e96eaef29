// @ts-check
/** The choice so far, next to the step: always open on wide screens, folded to one line on phones. */
import { h, icon, price } from "../dom.js";
import { money, per } from "../format.js";
import { offerSchedules, scheduleKey } from "../journey.js";
import { linkTo, stepOf } from "../route.js";
import { clubName, get } from "../store.js";
import { findOffer, nameOf, startOf } from "../terms.js";
import { text } from "../text.js";
import { follows } from "./plan.js";

/** @param {import("../store.js").State} state */
export const reads = ({ place, clubs, catalogue, registration, schedules }) => [place, clubs, catalogue, registration, schedules];

const wide = matchMedia("(min-width: 60rem)");

export function show() {
  const state = get();
  const step = stepOf(state.place, state);
  if (step === "person") return state.place.registration ? ofCart() : ofOffer();
  return step === "payment" || step === "mandate" || (step === "guardian" && state.place.registration) || step === "prospect" ? ofCart() : null;
}

/** Before there is a cart, the offer from the catalogue. */
function ofOffer() {
  const { place, catalogue } = get();
  const found = findOffer(catalogue, place.offer);
  if (!found) return catalogue?.complete ? null : h("i", { class: "bone bone-side", "aria-hidden": true });
  const { product, offer } = found;
  const { name, variant } = nameOf(product, offer);
  const request = offerSchedules(get())[0];
  const due = (request && get().schedules[scheduleKey(request)]?.dueNow.price) ?? offer.dueToday.price;
  return fold(text.summary.dueNow, due, debited(offer),
    h("div", { class: "side-lines" },
      h("p", { class: "side-club" }, icon("pin"), clubName(place.club)),
      h("p", { class: "side-offer" }, h("span", {}, h("strong", {}, name), variant && h("small", {}, variant)), h("a", { href: linkTo({ club: place.club }) }, text.summary.change)),
      h("p", { class: "fine" }, startOf({ type: product.type, startDate: place.startDate }))),
    ...follows(offer, request));
}

/** The cart from the club system. */
function ofCart() {
  const { registration } = get();
  if (!registration) return null;
  const { cart } = registration;
  const payment = stepOf(get().place, get()) === "payment" ? registration.payment : undefined; // an ended one was for another cart
  const repeated = cart.items.flatMap(({ offerId }) => debited(findOffer(get().catalogue, offerId)?.offer) ?? []);
  return fold(payment ? text.summary.amount : text.summary.dueNow, payment?.total ?? cart.dueNow, repeated.length === 1 ? repeated[0] : undefined,
    h("div", { class: "side-lines" },
      h("p", { class: "side-club" }, icon("pin"), registration.clubName ?? ""),
      h("ul", { class: "lines" }, cart.items.map((item) =>
        h("li", {}, h("div", {}, item.name, startOf(item)),
          h("span", { class: "amount" }, money(item.price)))))));
}

/**
 * What each later debit takes, if they are all alike.
 * @param {import("../contract").Offer} [offer]
 */
const debited = (offer) => offer?.billing?.debit && { price: offer.billing.debit.price, every: offer.billing.rhythm };

/**
 * @param {string} label
 * @param {import("../contract").Money} amount
 * @param {ReturnType<typeof debited>} then what is debited later, where there is one such price
 * @param {HTMLElement} choice
 * @param {...import("../dom.js").Child} rest what follows after today
 */
function fold(label, amount, then, choice, ...rest) {
  return h("details", { class: "summary", "data-summary": true, open: wide.matches },
    h("summary", {}, h("span", { class: "summary-title" }, text.summary.heading), icon("down"), h("span", { class: "summary-due", "data-due": amount.amount }, money(amount), then && h("small", {}, text.summary.then(money(then.price), per(then.every))))),
    h("div", { class: "summary-content" }, choice,
      h("p", { class: "summary-total" }, h("span", {}, label), price(amount)),
      then && !rest.length && h("p", { class: "fine", "data-then": true }, text.summary.after(money(then.price), per(then.every))),
      rest.some((part) => part) && h("div", { class: "tear" }),
      ...rest));
}

wide.addEventListener("change", () => {
  document.querySelector("[data-summary]")?.toggleAttribute("open", wide.matches);
});
