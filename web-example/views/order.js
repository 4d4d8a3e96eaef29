// @ts-check
/**
 * What the buyer orders: the essential terms, and the button directly below them, whose words say whether it obliges to pay.
 * The law asks for both: nothing may stand between them. Start reading at `ordering`.
 */
import { h, icon, price } from "../dom.js";
import { date, every, money, span } from "../format.js";
import { get } from "../store.js";
import { GOODS } from "../terms.js";
import { text, textFor } from "../text.js";
import { placeOf } from "./contact.js";
import { estimated, runs } from "./plan.js";

/**
 * @typedef {import("../contract").Registration} Registration
 * @typedef {import("../contract").Essentials} Essentials
 */

/**
 * The words of the button that orders. On the safe side, they say that it obliges to pay.
 * @param {Registration} registration
 */
export const label = ({ order }) => textFor(text.order.buttons, order?.button ?? "") ?? text.order.buttons.order_with_obligation_to_pay;

/**
 * The essential terms, and the button.
 * @param {Registration} registration
 * @param {HTMLElement} button
 * @param {HTMLElement} [about] what the amount is, if it is not due today
 */
export const ordering = (registration, button, about) => [essentials(registration, about), button];

/**
 * @param {Registration} registration
 * @param {HTMLElement} [about]
 */
export function essentials({ cart, order, clubId }, about = h("span", {}, text.cart.dueNow)) {
  /** @type {Essentials} */
  const terms = order?.essentials ?? { items: [], dueNow: cart.dueNow, debits: [], basis: "unknown" };
  const goods = new Set(cart.items.filter(({ type }) => type === GOODS).map(({ id }) => id));
  const place = placeOf(clubId);
  return h("div", { class: "essentials", role: "group", "aria-label": text.order.heading, "data-essentials": order?.button ?? "", "data-basis": terms.basis },
    h("ul", { class: "lines" }, terms.items.map((item) =>
      h("li", {},
        h("div", {}, item.name, item.startDate && h("small", {}, text.terms.starts(date(item.startDate))),
          place && goods.has(item.itemId) && h("small", { "data-handed-over": true }, text.order.handedOver(place))),
        h("span", { class: "amount" }, money(item.price))))),
    h("div", { class: "due-total" },
      about,
      h("span", { "data-due": terms.dueNow.amount }, price(terms.dueNow)),
      cart.taxes?.filter(({ included }) => included.amount).map(({ percent, included }) => h("p", { class: "fine", "data-tax": percent }, text.cart.taxOf(percent, money(included)))) ?? h("p", { class: "fine" }, text.cart.tax)),
    h("ul", { class: "essentials-terms" }, [...later(terms), ...lasting(terms), ...withdrawals(terms), ...personalised(terms)].map((line) => h("li", {}, line))));
}

/**
 * The payments after today.
 * @param {Essentials} terms
 * @returns {import("../dom.js").Child[][]}
 */
function later({ basis, debits, recurrence = [], total }) {
  const lines = [
    ...runs(debits).map((run) => [text.order.debits(run.length, money(run[0].price), date(run[0].date), date(run[run.length - 1].date)), " ", estimated(run[0])]),
    ...recurrence.map((one) => [text.order.endless(money(one.price), every(one.every), one.day ? text.plan.onDay(one.day) : "", date(one.from)), " ", estimated(one)]),
  ];
  if (basis === "unknown") return [...lines, [text.order.unknown]];
  if (!lines.length) return [[text.terms.nothingFollows]];
  return total ? [...lines, [text.order.total(money(total)), " ", estimated({ basis })]] : lines;
}

/**
 * How long the contract lasts, and how it ends.
 * @param {Essentials} terms
 */
function lasting({ items, minimumTerm, renewal, recurrence, basis }) {
  const mayContinue = recurrence || basis === "unknown";
  const notices = apart(items.filter(({ notice }) => notice), ({ notice = "" }) => notice);
  return [minimumTerm && (mayContinue ? text.order.minimum : text.order.runs)(span(minimumTerm)), renewal, ...notices].filter((line) => !!line);
}

/**
 * The right of withdrawal, with the names of the items if they differ in it.
 * @param {Essentials} terms
 */
export const withdrawals = ({ items }) => apart(items, ({ withdrawal }) => rightOf(withdrawal));

/**
 * What is said of items, each once, with the names of the items if they differ in it.
 * @param {Essentials["items"]} items
 * @param {(item: Essentials["items"][number]) => string} said
 */
function apart(items, said) {
  const alike = [...Map.groupBy(items, said)];
  return alike.map(([words, some]) => (alike.length > 1 ? text.order.about(namesOf(some), words) : words));
}

/** @param {Essentials["items"][number]["withdrawal"]} withdrawal */
function rightOf({ right, until, exception }) {
  if (!right) return text.order.withdrawal.none(exception ?? "").trim();
  return until ? text.order.withdrawal.until(date(until)) : text.order.withdrawal.delivery;
}

/** @param {Essentials} terms */
function personalised({ items }) {
  const some = items.filter((item) => item.personalised);
  return some.length ? [h("span", { "data-personalised": true }, text.order.personalised(namesOf(some)))] : [];
}

/** @param {Essentials["items"]} items */
const namesOf = (items) => [...new Set(items.map(({ name }) => name))].join(", ");

/** Where the EU describes the guarantee. */
const GUARANTEE = "https://europa.eu/youreurope/citizens/consumers/shopping/guarantees-returns/index_en.htm";

/** The EU's own notice, a picture that may not be changed; nothing if the club has none. */
function guaranteeNotice() {
  const notice = get().documents?.items.find(({ document }) => document === "guarantee_notice");
  return notice && h("a", { href: notice.url, target: "_blank", rel: "noopener", class: "guarantee", "data-guarantee-notice": true },
    h("img", { src: notice.url, alt: text.order.guarantee.notice }));
}

/**
 * The notice on the legal guarantee, if there are goods in the cart: it stands before the contract.
 * @param {Registration} registration
 */
export const guarantee = ({ cart }) =>
  cart.items.some(({ type }) => type === GOODS) &&
  h("div", { class: "notice", "data-guarantee": true }, icon("shield"),
    h("div", {},
      h("h3", {}, text.order.guarantee.heading),
      guaranteeNotice(),
      h("p", {}, text.order.guarantee.words, " ", h("a", { href: GUARANTEE, target: "_blank", rel: "noopener" }, text.order.guarantee.more, h("span", { class: "sr-only" }, ` ${text.legal.tab}`)))));
