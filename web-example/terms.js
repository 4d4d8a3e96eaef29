// @ts-check
/** What an offer costs and for how long, in plain words. */
import { h } from "./dom.js";
import { date, every, money, per, span, spanOf, today } from "./format.js";
import { get } from "./store.js";
import { text } from "./text.js";

/** @typedef {import("./contract").Offer} Offer */

/**
 * The days on which an offer can start: from the club's own today, or as the club limits them. The earliest day can be
 * yesterday where the club's time zone is not known, so the visitor's today is suggested there.
 * @param {Offer} offer
 */
export function startDates({ startDates: limits }) {
  const { details } = get();
  const { earliest = today(), latest } = limits ?? details?.startDates ?? {};
  return { min: earliest, max: latest, value: details?.timeZone || earliest > today() ? earliest : today() };
}

/**
 * What a buyer must know first: the ages that the offer is for, when it can start, and the club's other facts.
 * @param {Offer} offer
 */
export const facts = (offer) => [agesOf(offer), starts(offer), ...(offer.facts ?? [])].filter(Boolean);

/** @param {Offer} offer */
export function agesOf({ ages: { min, max } = {} }) {
  if (min && max) return text.offer.ages.between(min, max);
  return min ? text.offer.ages.from(min) : max ? text.offer.ages.upTo(max) : "";
}

/**
 * When an offer can start; empty if the club does not limit it.
 * @param {Offer} offer
 */
export function starts({ startDates: limits }) {
  if (!limits) return "";
  return text.offer.startsBetween(date(limits.earliest), date(limits.latest));
}

/** The product type of goods. */
export const GOODS = "regular";

/**
 * When something that is bought starts; nothing for goods, which are handed over.
 * @param {{ type?: string, startDate?: string }} item
 */
export const startOf = ({ type, startDate }) => type !== GOODS && startDate && h("small", {}, text.terms.starts(date(startDate)));

/**
 * What is wrong with a start date.
 * @param {Offer} offer
 * @param {HTMLInputElement} input with the earliest and the latest one
 */
export function wrongStart(offer, { validity, max }) {
  return starts(offer) || (validity.rangeOverflow ? text.offer.start.latest(date(max)) : text.person.fields.startDate.error);
}

/**
 * Whether a person has the right age for an offer on the day that it starts.
 * @param {Pick<Offer, "ages">} offer
 * @param {string} birthDate YYYY-MM-DD
 * @param {string} start YYYY-MM-DD
 */
export function isOfAge({ ages: { min = 0, max = Infinity } = {} }, birthDate, start) {
  const [born, then] = [birthDate, start].map((day) => day.split("-").map(Number));
  const age = then[0] - born[0] - (start.slice(5) < birthDate.slice(5) ? 1 : 0);
  return age >= min && age <= max;
}

/**
 * A statement about an offer, with its subject; a note has none.
 * @typedef {{ about?: string, words: string }} Term
 */

/**
 * The later payments, for how long, and the parts of the amount due now.
 * @param {Offer} offer
 * @returns {Term[]}
 */
export function terms(offer) {
  const lines = follows(offer);
  const total = totalOf(offer);
  if (total) lines.push({ about: text.terms.total, words: money(total) });
  if (offer.commitment) {
    const length = span(offer.commitment);
    lines.push({ about: text.terms.term, words: offer.billing?.endless ? text.terms.runsOn(length) : length });
  }
  const fee = offer.registrationFee;
  if (fee?.price.amount) lines.push({ about: text.terms.part, words: text.terms.fee(money(fee.price), fee.name) });
  for (const { name, price } of offer.extras ?? []) lines.push({ about: text.terms.part, words: text.terms.fee(money(price), name) });
  if (offer.billing?.firstInstalmentPaid && lines.some(({ about }) => about === text.terms.instalments)) lines.push({ words: text.terms.firstToday });
  if (offer.prorated) lines.push({ words: text.terms.prorated });
  return lines;
}

/**
 * The recurring price, if there is only one.
 * @param {Offer} offer
 */
export function recurring({ billing }) {
  const [entry, ...others] = addedUp(billing?.entries ?? []);
  return others.length ? undefined : entry;
}

/**
 * The recurring price to show first: the only one or, where the first instalment shows that prices follow each other,
 * the first of them, with its `times`.
 * @param {Offer} offer
 */
export function leading(offer) {
  const { billing, listPrice, registrationFee } = offer;
  const only = recurring(offer);
  if (only || !billing?.firstInstalmentPaid) return only && { ...only, times: undefined };
  const [first] = billing.entries;
  return first.price.amount === listPrice.amount - (registrationFee?.price.amount ?? 0) ? first : undefined;
}

/**
 * How the offer is paid over time.
 * @param {Offer} offer
 * @returns {Term[]}
 */
function follows({ billing }) {
  if (!billing?.entries.length) return [{ about: text.terms.then, words: text.terms.nothingFollows }];
  return addedUp(billing.entries).map(({ every: period, price, times }) => {
    if (times && period === billing.rhythm) return inTurn(billing, { price, times });
    let words = text.terms.goesOn(money(price), period === billing.rhythm ? every(period) : per(period));
    if (times) words = text.terms.lasts(words, spanOf(period, times));
    else if (billing.endless) words = text.terms.untilCancelled(words);
    if (period !== billing.rhythm) words = text.terms.debited(words, every(billing.rhythm), debitOf(billing));
    return { about: text.terms.then, words };
  });
}

/**
 * What each debit takes, where it is not a price of the offer; empty if that is unknown.
 * @param {import("./contract").Billing} billing
 */
function debitOf({ debit }) {
  if (!debit) return "";
  return debit.basis === "exact" ? money(debit.price) : text.plan.about(money(debit.price));
}

/**
 * Instalments that can be counted. Where the first one is paid today and all are alike, those that follow are; where they
 * are not, an offer does not say which of them the first one is, so all are, and the terms say so.
 * @param {import("./contract").Billing} billing
 * @param {{ price: import("./contract").Money, times: number }} entry
 */
function inTurn({ rhythm, entries, firstInstalmentPaid }, { price, times }) {
  const alike = entries.every((one) => one.times === times);
  const left = firstInstalmentPaid && alike ? times - 1 : times;
  const about = firstInstalmentPaid && !alike ? text.terms.instalments : text.terms.then;
  return { about, words: left ? text.terms.times(left, money(price), per(rhythm)) : text.terms.nothingFollows };
}

/**
 * All that an offer costs, where it says so: it ends, every part is counted in the unit of the debits, and none depends on the start.
 * @param {Offer} offer
 * @returns {import("./contract").Money | undefined}
 */
function totalOf({ billing, listPrice, registrationFee, prorated, extras = [] }) {
  if (!billing?.entries.length || billing.endless || prorated) return undefined;
  if (billing.entries.some(({ every: period, times }) => !times || period.at(-1) !== billing.rhythm.at(-1))) return undefined;
  const instalments = billing.entries.reduce((sum, { price, times = 0 }) => sum + price.amount * times, 0);
  const first = billing.firstInstalmentPaid ? registrationFee?.price.amount ?? 0 : listPrice.amount;
  return { ...listPrice, amount: first + instalments + extras.reduce((sum, { price }) => sum + price.amount, 0) };
}

/**
 * Adds up entries with the same period and count.
 * @param {import("./contract").Billing["entries"]} entries
 */
const addedUp = (entries) =>
  [...Map.groupBy(entries, ({ every: period, times }) => `${period} ${times}`).values()].map((alike) => ({
    ...alike[0],
    price: { ...alike[0].price, amount: alike.reduce((sum, { price }) => sum + price.amount, 0) },
  }));

/**
 * @param {import("./store.js").Catalogue | undefined} catalogue
 * @param {string | undefined} offerId
 * @returns {{ product: import("./contract").Product, offer: Offer } | undefined}
 */
export function findOffer(catalogue, offerId) {
  for (const product of catalogue?.products ?? []) {
    const offer = product.offers.find((one) => one.id === offerId);
    if (offer) return { product, offer };
  }
  return undefined;
}

/**
 * What to call an offer: the product's name, and what distinguishes the offer from the product's others, such as "monthly".
 * @param {import("./contract").Product} product
 * @param {Offer} offer
 * @returns {{ name: string, variant: string }} `variant` is empty for a product's only offer, if all are read
 */
export function nameOf(product, offer) {
  if (product.offers.length === 1 && !get().catalogue?.only) return { name: product.name, variant: "" };
  const rest = offer.name.startsWith(product.name) ? offer.name.slice(product.name.length) : offer.name;
  return { name: product.name, variant: rest.replace(/^[\s,:·–-]+/, "") };
}
