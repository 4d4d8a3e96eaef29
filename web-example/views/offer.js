// @ts-check
/** The second step: choose an offer. With a registration in the address, the offer is added to its cart. */
import { ask, button, h, heading, price, termList } from "../dom.js";
import { today } from "../format.js";
import { add } from "../journey.js";
import { startKnown } from "../member.js";
import { go } from "../route.js";
import { get, set } from "../store.js";
import { nameOf, soldHere, terms } from "../terms.js";
import { text } from "../text.js";
import { backTo, backToMe } from "./back.js";
import { debitDays } from "./debit.js";
import { askPlan } from "./plan.js";
import { resume } from "./resume.js";

/**
 * @typedef {import("../contract").Product} Product
 * @typedef {import("../contract").Offer} Offer
 */

/** @param {import("../store.js").State} state */
export const reads = ({ clubs, catalogue, category, inProgress, place, isStuck }) => [clubs, catalogue, category, inProgress, place, isStuck];

export function show() {
  const { place, catalogue, isStuck } = get();
  const products = catalogue?.products ?? [];
  return h("div", { class: "offers" },
    h("div", { class: "step-head" }, back(), heading(place.registration ? text.offer.adding : text.offer.heading), lead()),
    resume(),
    products.length > 0 && categories(products),
    products.length || catalogue?.complete ? cards(products, !!catalogue?.complete) : !isStuck && skeleton());
}

function back() {
  const { place } = get();
  if (place.registration) return backTo({ registration: place.registration });
  if (place.me) return backToMe();
  return backTo({}, text.offer.another);
}

function lead() {
  const { place, clubs, registration, catalogue } = get();
  const club = clubs?.find((one) => one.id === (registration?.clubId ?? place.club));
  const words = catalogue?.whose ? text.me.own : text.offer.lead;
  return h("p", { class: "lead", "data-own": !!catalogue?.whose }, club ? words(club.name) : " ");
}

/** @param {Product[]} products */
const present = (products) =>
  /** @type {import("../contract").ProductType[]} */ (Object.keys(text.offer.category))
    .filter((type) => products.some((product) => product.type === type && product.offers.length));

/** @param {Product[]} products */
const chosen = (products) => get().category ?? present(products)[0];

/** @param {Product[]} products */
function categories(products) {
  const types = present(products);
  if (types.length < 2) return null;
  return h("fieldset", { class: "chips" },
    h("legend", { class: "sr-only" }, text.offer.categories),
    types.map((type) =>
      h("label", { class: "chip" },
        h("input", {
          type: "radio",
          name: "category",
          id: `category-${type}`,
          "data-category": type,
          checked: type === chosen(products),
          onchange: () => set({ category: type }),
        }),
        h("span", {}, text.offer.category[type]))));
}

/**
 * @param {Product[]} products
 * @param {boolean} complete
 */
function cards(products, complete) {
  const all = products
    .filter((product) => product.type === chosen(products))
    .flatMap((product) => product.offers.map((offer) => ({ product, offer })));
  if (!all.length) return h("p", { class: "empty" }, complete ? text.offer.none : text.loading);
  const [online, atClub] = [true, false].map((here) => all.filter(({ offer }) => soldHere(offer) === here));
  return h("div", {},
    online.length > 0 && h("h2", { class: "sr-only" }, text.offer.onlineHeading),
    list(online),
    atClub.length > 0 && h("div", { class: "offers-at-club" }, h("h2", {}, text.offer.atClubHeading), h("p", { class: "lead" }, text.offer.atClubLead), list(atClub)));
}

/** @param {{ product: Product, offer: Offer }[]} offers */
const list = (offers) =>
  offers.length > 0 &&
  h("ul", { class: "offer-list" }, offers.map(({ product, offer }) => h("li", {}, card(product, offer))));

/**
 * @param {Product} product
 * @param {Offer} offer
 */
function card(product, offer) {
  const here = soldHere(offer);
  const { name, variant } = nameOf(product, offer);
  return h("article", { class: here ? "offer" : "offer is-at-club", "data-offer": offer.id },
    h("header", {},
      h("h3", {}, name),
      variant && h("p", { class: "offer-name" }, variant)),
    h("p", { class: "offer-about" }, product.description),
    due(offer),
    h("div", { class: "offer-terms" }, termList(terms(offer)), planLink(product, offer)),
    here
      ? button({
          class: "button button-soft",
          id: `choose-${offer.id}`,
          "data-choose": true,
          "aria-label": text.offer.chooseNamed([name, variant].join(" ")),
          onclick: () => choose(product, offer),
        }, text.offer.choose)
      : h("div", { class: "at-club", "data-at-club": true },
          h("strong", {}, text.offer.atClub), h("p", {}, text.offer.atClubWhy)));
}

/**
 * @param {Product} product
 * @param {Offer} offer
 */
const planLink = (product, offer) =>
  offer.billing &&
  button({ class: "link", id: `plan-${offer.id}`, "data-show-plan": true, onclick: () => askPlan(product, offer) },
    text.plan.show, h("span", { class: "sr-only" }, ` – ${offer.name}`));

/** @param {Offer} offer */
function due({ dueNow, billing }) {
  const free = dueNow.amount === 0 && !billing?.entries.length;
  return h("p", { class: "price" },
    free ? h("strong", { class: "price-tag" }, text.offer.free) : price(dueNow),
    h("span", {}, billing?.entries.length ? text.offer.dueNow : !free && text.offer.once));
}

/**
 * @param {Product} product
 * @param {Offer} offer
 */
function choose(product, offer) {
  if (offer.needs.includes("startDate")) askStart(product, offer);
  else take({ offerId: offer.id });
}

/** @param {import("../contract").NewItem} item */
function take(item) {
  const { place } = get();
  if (place.registration) return void add(item);
  if (place.me) return void startKnown(item);
  const { offerId: offer, startDate, debit } = item;
  go({ club: place.club, offer, startDate, debitDay: debit?.day ? String(debit.day) : undefined });
  scrollTo(0, 0);
}

/**
 * Asks when the offer shall start, and takes it.
 * @param {Product} product
 * @param {Offer} offer
 */
export function askStart(product, offer) {
  const input = h("input", {
    type: "date", id: "start-date", name: "startDate", "data-field": "startDate",
    required: true, min: today(), value: today(), "aria-describedby": "start-hint start-error",
  });
  const error = h("p", { class: "field-error", id: "start-error", role: "alert" });
  const days = offer.needs.includes("debit") && debitDays(get().registration?.clubId ?? get().place.club ?? "", input, offer.billing?.rhythm);
  const dialog = ask(text.offer.start.heading,
    h("p", { class: "dialog-about" }, product.name),
    h("form", { method: "dialog", novalidate: true, onsubmit },
      h("label", { for: "start-date" }, text.offer.start.label),
      h("p", { class: "hint", id: "start-hint" }, text.offer.start.hint),
      input,
      error,
      days && days.element,
      h("div", { class: "dialog-actions" },
        button({ class: "button-quiet", onclick: () => dialog.close() }, text.cancel),
        h("button", { class: "button", "data-continue": true }, text.offer.start.continue))));
  input.focus();

  /** @param {SubmitEvent} event */
  async function onsubmit(event) {
    const wrong = !input.checkValidity();
    input.setAttribute("aria-invalid", String(wrong));
    error.textContent = wrong ? text.person.fields.startDate.error : "";
    event.preventDefault();
    if (wrong) return input.focus();
    const day = days ? await days.chosen() : undefined;
    if (!dialog.open) return;
    dialog.close();
    take({ offerId: offer.id, startDate: input.value, ...(day && { debit: { day } }) });
  }
}

const skeleton = () =>
  h("div", { "aria-hidden": true },
    h("div", { class: "bone bone-chips" }),
    h("ul", { class: "offer-list" }, Array.from({ length: 3 }, () => h("li", { class: "bone bone-offer" }))));
