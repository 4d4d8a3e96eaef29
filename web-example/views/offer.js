// @ts-check
/** The second step: choose an offer. With a registration in the address, the offer is added to its cart. */
import { button, h, heading, icon, price, termList } from "../dom.js";
import { money, per, spanOf } from "../format.js";
import { add, refuses, replace } from "../journey.js";
import { startKnown } from "../member.js";
import { go, showCategory } from "../route.js";
import { clubName, get, set } from "../store.js";
import { facts, findOffer, leading, nameOf, recurring, terms } from "../terms.js";
import { text, textFor } from "../text.js";
import { backTo, backToMe } from "./back.js";
import { about } from "./contact.js";
import { askDays } from "./days.js";
import { askPlan } from "./plan.js";
import { isKnownHere, mayStart, resume } from "./resume.js";

/**
 * @typedef {import("../contract").Product} Product
 * @typedef {import("../contract").Offer} Offer
 */

/** @param {import("../store.js").State} state */
export const reads = ({ clubs, details, catalogue, category, variants, inProgress, identity, place, isStuck }) => [clubs, details, catalogue, category, variants, inProgress, identity, place, isStuck];

export function show() {
  const { place, catalogue, registration, isStuck } = get();
  const isGone = place.me && place.offer && catalogue?.complete && !findOffer(catalogue, place.offer);
  if (place.offer && !place.registration && !isGone) return linked();
  const products = catalogue?.products ?? [];
  return h("div", { class: "offers" },
    h("div", { class: "step-head" }, back(), heading(place.step === "offer" && registration?.cart.items.length ? text.offer.adding : text.offer.heading), lead()),
    resume(),
    isGone && h("p", { class: "notice" }, icon("info"), text.problems.offer_not_available),
    products.length > 0 && categories(products),
    products.length || catalogue?.complete ? cards(products, !!catalogue?.complete) : !isStuck && skeleton(),
    catalogue?.complete && about(catalogue.clubId));
}

/** The one offer that a link names. */
function linked() {
  const { place, catalogue, isStuck } = get();
  const found = findOffer(catalogue, place.offer);
  return h("div", { class: "offers", "data-linked": place.offer },
    h("div", { class: "step-head" }, backTo({ me: place.me, club: place.club }, text.offer.all), heading(text.offer.linked), lead()),
    resume(),
    found ? h("ul", { class: "offer-list is-alone" }, h("li", {}, card(found.product, [found.offer]))) : !isStuck && h("i", { class: "bone bone-box", "aria-hidden": true }),
    found && about(place.club));
}

function back() {
  const { place } = get();
  if (place.registration) return backTo({ registration: place.registration, step: "cart" });
  if (place.me) return backToMe();
  return backTo({}, text.offer.another);
}

function lead() {
  const { place, registration, catalogue } = get();
  const club = registration ? registration.clubName : clubName(place.club);
  if (place.step === "instead" && registration?.cart.items.length) return h("p", { class: "lead" }, text.offer.replaces);
  const words = catalogue?.whose ? text.me.own : place.offer && !place.registration ? text.offer.linkedLead : text.offer.lead;
  return h("p", { class: "lead", "data-own": !!catalogue?.whose }, club ? words(club) : " ");
}

/**
 * The kinds of the products that are on offer, in the order of their names here; those without a name are last.
 * @param {Product[]} products
 * @returns {string[]}
 */
function present(products) {
  /** @type {Set<string>} */
  const types = new Set(products.filter(({ offers }) => offers.length).map(({ type }) => type));
  return [...new Set([...Object.keys(text.offer.category), ...types])].filter((type) => types.has(type));
}

/**
 * The kind of the displayed products: the chosen one, also while the page of the catalogue that has it is still being read.
 * @param {Product[]} products
 */
function chosen(products) {
  const { category, catalogue } = get();
  const types = present(products);
  return category && !catalogue?.complete ? category : types.find((type) => type === category) ?? types[0];
}

/** @param {Product[]} products */
function categories(products) {
  const types = present(products);
  if (types.length < 2) return null;
  const row = h("fieldset", { class: "chips" },
    h("legend", { class: "sr-only" }, text.offer.categories),
    types.map((type) =>
      h("label", { class: "chip" },
        h("input", {
          type: "radio",
          name: "category",
          id: `category-${type}`,
          "data-category": type,
          checked: type === chosen(products),
          onchange: () => showCategory(type),
        }),
        h("span", {}, textFor(text.offer.category, type) ?? text.offer.others))));
  queueMicrotask(() => center(row)); // once it is on the page
  return row;
}

/** @param {HTMLElement} row of choices, which is wider than a phone: the chosen one is scrolled into view */
function center(row) {
  const choice = /** @type {HTMLElement | null} */ (row.querySelector("label:has(:checked)"));
  if (choice) row.scrollLeft = choice.offsetLeft - row.offsetLeft - (row.clientWidth - choice.offsetWidth) / 2;
}

/**
 * @param {Product[]} products
 * @param {boolean} complete
 */
function cards(products, complete) {
  const all = products.filter((product) => product.type === chosen(products));
  const groups = list(all);
  return groups ? h("div", { class: "offer-groups" }, groups) : h("p", { class: "empty" }, complete ? text.offer.none : text.loading);
}

/**
 * The products with offers, in the club's own groups or by commitment.
 * @param {Product[]} products
 */
function list(products) {
  const shown = products.filter(({ offers }) => offers.length).map((product) => ({ product, offers: product.offers }))
    .sort((one, other) => Number(isRecommended(other)) - Number(isRecommended(one)));
  if (!shown.length) return null;
  if (shown.some(({ offers }) => offers[0].group)) return clubsGroups(shown);
  const groups = Map.groupBy(shown, ({ offers }) => commitment(offers[0]));
  if (groups.size === 1) return group(text.offer.onlineHeading, shown);
  const kinds = COMMITMENTS.filter((kind) => groups.has(kind));
  return [jumps(kinds.map((kind) => text.offer.groups[kind])), ...kinds.map((kind) => group(text.offer.groups[kind], groups.get(kind) ?? []))];
}

/**
 * The club's own groups, in its order; offers without a group come last.
 * @param {{ product: Product, offers: Offer[] }[]} shown
 */
function clubsGroups(shown) {
  const order = (/** @type {{ offers: Offer[] }} */ { offers }) => Math.min(...offers.map((offer) => offer.order ?? Infinity));
  const sorted = [...shown].sort((one, other) => (order(one) === order(other) ? 0 : order(one) - order(other)));
  const groups = Map.groupBy(sorted, ({ offers }) => offers[0].group?.name ?? text.offer.others);
  const others = groups.get(text.offer.others) ?? [];
  groups.delete(text.offer.others);
  if (others.length) groups.set(text.offer.others, others);
  return [jumps([...groups.keys()]), ...[...groups].map(([name, members]) => group(name, members))];
}

/**
 * Links to the groups, for phones.
 * @param {string[]} names of the groups
 */
const jumps = (names) =>
  h("ul", { class: "jumps" }, names.map((name) => h("li", {}, button({ class: "link", "data-jump": true, onclick: () => jump(name) }, name))));

/** @param {string} name of the group */
function jump(name) {
  const heading = [...document.querySelectorAll("h2")].find((one) => one.textContent === name);
  heading?.scrollIntoView();
  heading?.focus({ preventScroll: true });
}

/** @param {{ offers: Offer[] }} product whose offer the club recommends */
const isRecommended = ({ offers }) => offers.some(({ highlight }) => highlight);

/** The groups where the club has made none, in the order in which they are shown. */
const COMMITMENTS = /** @type {const} */ (["none", "term", "once"]);

/** @param {Offer} offer */
const commitment = ({ billing, commitment: term }) => (!billing ? "once" : billing.endless && !term ? "none" : "term");

/**
 * @param {string} name
 * @param {{ product: Product, offers: Offer[] }[]} shown
 */
const group = (name, shown) =>
  shown.length > 0 &&
  h("section", {},
    h("h2", { class: name === text.offer.onlineHeading ? "sr-only" : "", tabindex: "-1" }, name),
    h("ul", { class: "offer-list" }, shown.map(({ product, offers }) => h("li", {}, card(product, offers)))));

/**
 * A product with one of its offers, and a choice if there are more.
 * @param {Product} product
 * @param {Offer[]} offers
 */
function card(product, offers) {
  const offer = offers.find(({ id }) => id === get().variants[product.id]) ?? offers[0];
  const { name, variant } = nameOf(product, offer);
  return h("article", { class: "offer", "data-offer": offer.id },
    h("header", {},
      h("h3", {}, name),
      isRecommended({ offers }) && h("p", { class: "recommended", "data-recommended": true }, text.offer.recommended),
      offers.length === 1 && variant && h("p", { class: "offer-name" }, variant)),
    h("div", { class: "offer-about" }, factsOf(offer), h("p", {}, product.description), offers.length > 1 && variants(product, offers, offer)),
    due(offer),
    h("div", { class: "offer-terms" }, termList(further(offer)), planLink(product, offer)),
    button({
      class: (isRecommended({ offers }) || get().catalogue?.only) && !isKnownHere() ? "button" : "button button-soft",
      id: `choose-${offer.id}`,
      "data-choose": true,
      "aria-label": text.offer.chooseNamed([name, variant].join(" ")),
      onclick: () => choose(offer),
    }, text.offer.choose));
}

/** @param {Offer} offer */
const factsOf = (offer) => facts(offer).length > 0 && h("ul", { class: "facts", "data-facts": true }, facts(offer).map((fact) => h("li", {}, fact)));

/**
 * The terms that the card's group and price do not already tell.
 * @param {Offer} offer
 */
function further(offer) {
  const entry = recurring(offer);
  const said = !offer.billing || (offer.billing.endless && entry?.every === offer.billing.rhythm);
  return terms(offer).filter(({ about, words }) => !(said && about === text.terms.then) && words !== text.terms.prorated);
}

/**
 * @param {Product} product
 * @param {Offer[]} offers
 * @param {Offer} shown
 */
const variants = (product, offers, shown) =>
  h("fieldset", { class: "variants" },
    h("legend", { class: "sr-only" }, text.offer.variants(product.name)),
    offers.map((offer) =>
      h("label", { class: "chip" },
        h("input", {
          type: "radio",
          name: `variant-${product.id}`,
          id: `variant-${offer.id}`,
          "data-variant": offer.id,
          checked: offer === shown,
          onchange: () => set({ variants: { ...get().variants, [product.id]: offer.id } }),
        }),
        h("span", {}, nameOf(product, offer).variant || offer.name))));

/**
 * @param {Product} product
 * @param {Offer} offer
 */
const planLink = (product, offer) =>
  offer.billing &&
  button({ class: "link", id: `plan-${offer.id}`, "data-show-plan": true, onclick: () => askPlan(product, offer, take) },
    text.plan.show, h("span", { class: "sr-only" }, ` – ${offer.name}`));

/**
 * The recurring price, if any, and the amount due today.
 * @param {Offer} offer
 */
function due(offer) {
  const { dueToday, prorated } = offer;
  const entry = leading(offer);
  if (!entry && !offer.billing && !dueToday.price.amount) return h("p", { class: "price" }, h("strong", { class: "price-tag" }, text.offer.free));
  const words = prorated ? text.offer.dueIfToday : text.offer.dueToday;
  return h("p", { class: "price" },
    price(entry?.price ?? dueToday.price),
    h("span", {}, entry ? rhythmOf(entry) : offer.billing ? text.offer.dueNow : text.offer.once),
    entry && h("span", { class: "price-today", "data-due-today": dueToday.price.amount }, words(money(dueToday.price))));
}

/** @param {{ every: string, times?: number }} entry */
const rhythmOf = ({ every, times }) => (times ? text.terms.lasts(per(every), spanOf(every, times)) : per(every));

/** @param {Offer} offer */
function choose(offer) {
  const { me, startDate, debitDay } = get().place;
  const linked = me ? { startDate, debitDay: Number(debitDay) || undefined } : {}; // an address for others that has the days asks for nothing here
  if (offer.needs.includes("startDate") || offer.needs.includes("debit")) askDays(offer, take, linked);
  else take({ offerId: offer.id });
}

/**
 * Asks again for the days of the offer in the address, because the club has refused them.
 * @param {import("../route.js").Place} before with the days
 * @param {import("../api.js").Problem} problem
 */
export function chooseAgain({ debitDay }, problem) {
  const { place, catalogue } = get();
  const found = findOffer(catalogue, place.offer);
  if (found) askDays(found.offer, take, { debitDay: Number(debitDay) || undefined, isRefused: refuses(problem, "startDate") });
}

/** @param {import("../contract").NewItem} item */
async function take(item) {
  const { place, registration } = get();
  if (!place.registration) return void ((await mayStart()) && get().place === place && begin(item));
  if (place.step === "instead" && registration?.cart.items.length) replace(item);
  else add(item);
}

/** @param {import("../contract").NewItem} item */
function begin(item) {
  const { place } = get();
  if (place.me) return void startKnown(item);
  const { offerId: offer, startDate, debit } = item;
  const clubChooses = !startDate && findOffer(get().catalogue, offer)?.offer.needs.includes("debit");
  const debitDay = debit?.day ? String(debit.day) : clubChooses ? "0" : undefined;
  go({ club: place.club, offer, startDate, debitDay, ...(!startDate && !debitDay && { step: "person" }) });
  scrollTo(0, 0);
}

const skeleton = () =>
  h("div", { "aria-hidden": true },
    h("div", { class: "bone bone-chips" }),
    h("ul", { class: "offer-list" }, Array.from({ length: 3 }, () => h("li", { class: "bone bone-offer" }))));
