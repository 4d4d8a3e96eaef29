// @ts-check
/** What an offer costs, and when: the first debits, then how they continue. Start reading at `plan`. */
import { ask, button, h, icon, termList, ticks } from "../dom.js";
import { date, every, money } from "../format.js";
import { loadSchedule, scheduleKey, scheduleOf } from "../journey.js";
import { get } from "../store.js";
import { findOffer, startDates, starts, terms, wrongStart } from "../terms.js";
import { text, textFor } from "../text.js";
import { debitDays } from "./debit.js";

/**
 * @typedef {import("../contract").Schedule} Schedule
 * @typedef {import("../contract").Debit} Debit
 */

/**
 * The payments after today, from the schedule or, without one, from the offer's terms.
 * @param {import("../contract").Offer} offer
 * @param {import("../journey.js").ScheduleRequest} [request] left out for what has no schedule
 */
export function follows(offer, request) {
  const said = request && get().schedules[scheduleKey(request)] !== null;
  const lines = terms(offer).filter(({ about }) => !said || about === text.terms.term);
  return [termList(lines), request && planFor(request)];
}

/**
 * A schedule from the store, or a placeholder while it is read.
 * @param {import("../journey.js").ScheduleRequest} request
 */
export function planFor(request) {
  const schedule = get().schedules[scheduleKey(request)];
  if (schedule === undefined) return h("i", { class: "bone bone-plan", "aria-hidden": true });
  return schedule ? plan(asInCart(schedule)) : failed();
}

/**
 * A schedule as the cart has it: the club system has calculated what is due now. A cart with more items is paid in one
 * payment, so a bank statement shows their sum, and the line for today is left out.
 * @param {Schedule} schedule
 * @returns {Schedule}
 */
function asInCart(schedule) {
  const due = get().registration?.cart.dueNow.amount;
  if (due === undefined) return schedule;
  const { dueNow, total } = schedule;
  const today = due === dueNow.price.amount;
  const rest = total && { ...total, amount: total.amount - dueNow.price.amount };
  return { ...schedule, total: today ? total : rest, firstStatement: schedule.firstStatement.flatMap((line) => (line.kind !== "due_now" ? line : today ? { ...line, basis: "exact" } : [])) };
}

/**
 * What an item's price consists of, unless it is only the price of the first period; nothing if its schedule does not say. A
 * prorata has a line of its own in most carts.
 * @param {import("../contract").Cart["items"][number]} item
 */
export function partsOf(item) {
  const dueNow = scheduleOf(item)?.dueNow;
  const isPrice = (/** @type {Schedule["dueNow"]["parts"]} */ some) => some.reduce((sum, { price }) => sum + price.amount, 0) === item.price.amount;
  const own = dueNow && [dueNow.parts, dueNow.parts.filter(({ kind }) => kind !== "prorata")].find(isPrice);
  const words = own && parts({ ...dueNow, parts: own, extras: [] });
  return words && h("small", { "data-parts": true }, words);
}

/** What is said where the later payments cannot be read. */
export const failed = () => h("p", { class: "fine", "data-plan-failed": true }, icon("info"), text.plan.failed);

/**
 * The debits after today's payment; nothing if they are unknown.
 * @param {import("../journey.js").ScheduleRequest[]} requests
 */
export function coming(requests) {
  const plans = requests.flatMap((request) => comingOf(request) ?? []);
  return plans.length > 0 && h("section", { class: "panel", "aria-labelledby": "coming-heading" }, h("h2", { id: "coming-heading" }, text.plan.coming), plans);
}

/** @param {import("../journey.js").ScheduleRequest} request */
function comingOf(request) {
  const schedule = get().schedules[scheduleKey(request)];
  const debited = schedule?.firstStatement.filter(({ kind }) => kind === "debit") ?? [];
  if (!schedule || !debited.length) return null;
  const name = findOffer(get().catalogue, request.offer)?.product.name;
  return h("div", { class: "plan", "data-coming": schedule.offerId },
    h("h3", {}, name),
    h("ol", { class: "lines" }, debited.map((one) => line(schedule, one))),
    h("p", { class: "plan-then" }, then({ ...schedule, total: undefined }, debited.length)),
    rules(schedule));
}

/** @param {Schedule} schedule */
export function plan(schedule) {
  const { firstStatement, debits, basis, offerId } = schedule;
  const debited = firstStatement.filter(({ kind }) => kind === "debit").length;
  return h("section", { class: "plan", "data-plan": offerId, "data-basis": basis, "aria-label": text.plan.heading },
    firstStatement.length > 0 && h("p", { class: "plan-list" }, firstStatement.length > debited ? text.plan.list : text.plan.after),
    h("ol", { class: "lines" }, firstStatement.map((one) => line(schedule, one))),
    h("p", { class: "plan-then", "data-plan-then": true }, then(schedule, debited)),
    debited < debits.length && all(debits),
    debited > 0 && debited < firstStatement.length && h("p", { class: "fine" }, icon("info"), h("span", {}, text.plan.separate)),
    rules(schedule));
}

/**
 * @param {Schedule} schedule
 * @param {Schedule["firstStatement"][number]} movement
 */
const line = ({ dueNow }, movement) =>
  h("li", { "data-movement": movement.date, "data-kind": movement.kind },
    h("div", {},
      h("strong", {}, movement.kind === "due_now" ? text.plan.today : date(movement.date)),
      h("small", {}, movement.kind === "due_now" ? parts(dueNow) : movement.kind === "debit" && text.plan.debit, " ", estimated(movement))),
    h("span", { class: "amount" }, money(movement.price)));

/** @param {{ basis: string }} debit */
export const estimated = ({ basis }) => basis === "estimated" && h("span", { class: "tag tag-estimated", "data-estimated": true }, text.plan.estimated);

/** @param {Schedule["dueNow"]} dueNow */
function parts({ parts: all, extras = [] }) {
  if (all.length + extras.length < 2 && all[0]?.kind === "price") return "";
  const words = [...all.map(part), ...extras.map(({ name, price }) => `${name} ${money(price)}`)].join(", ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** @param {Schedule["dueNow"]["parts"][number]} part */
function part({ kind, price, name }) {
  if (kind === "prorata" && price.amount < 0) return text.plan.parts.deducted(money({ ...price, amount: -price.amount }));
  return textFor(text.plan.parts, kind)?.(money(price), name) ?? `${name ?? text.plan.anotherPart} ${money(price)}`;
}

/**
 * How the debits continue after those that are shown.
 * @param {Schedule} schedule
 * @param {number} shown how many debits these are
 */
function then({ basis, recurrence, debits, total, firstStatement }, shown) {
  if (basis === "unknown") return text.plan.unknown;
  if (recurrence) return text.plan.forever(roughly(recurrence), every(recurrence.every), recurrence.day ? text.plan.onDay(recurrence.day) : "");
  const last = debits.at(-1);
  if (!last) return text.terms.nothingFollows;
  const left = debits.slice(shown);
  const end = left.length ? runs(left).map(run).join(" ") : text.plan.end;
  return total && firstStatement.length > 1 ? `${end} ${text.plan.total(money(total))}` : end;
}

/**
 * A run of equal debits.
 * @param {Debit[]} debits
 * @returns {Debit[][]}
 */
export function runs(debits) {
  /** @type {Debit[][]} */
  const all = [];
  for (const debit of debits) {
    const before = all.at(-1);
    if (before && roughly(before[0]) === roughly(debit)) before.push(debit);
    else all.push([debit]);
  }
  return all;
}

/**
 * @param {Debit[]} alike
 * @param {number} at
 * @param {Debit[][]} all
 */
function run(alike, at, all) {
  const until = date(alike[alike.length - 1].date);
  const words = at === all.length - 1 ? text.plan.last : text.plan.more;
  return words(alike.length, roughly(alike[0]), until);
}

/** Rules of the schedule by which the amount is estimated, and not only the date. */
const ROUGH = ["months_as_weeks", "rounded"];

/** @param {{ price: import("../contract").Money, rules?: string[] }} debit */
export const roughly = ({ price, rules: names = [] }) => (names.some((name) => ROUGH.includes(name)) ? text.plan.about(money(price)) : money(price));

/** @param {Debit[]} debits */
const all = (debits) =>
  h("details", { class: "plan-all", "data-plan-all": debits.length },
    h("summary", {}, text.plan.all(debits.length), icon("down")),
    h("ol", { class: "lines" }, debits.map((debit) =>
      h("li", { "data-debit": debit.date }, h("span", {}, date(debit.date), " ", estimated(debit)), h("span", { class: "amount" }, money(debit.price))))));

/** @param {Schedule} schedule why lines are estimated, each reason once */
function rules({ rules: names, basis }) {
  if (basis !== "estimated" || !names) return null;
  const words = /** @type {Record<string, string>} */ (text.plan.rules);
  const reasons = [...new Set(names.map((name) => words[name] ?? text.plan.otherRule))];
  return h("div", { class: "plan-rules", "data-plan-rules": names.join(" ") }, ticks(reasons.map((reason) => ({ words: reason, picture: "info" }))));
}

/**
 * Shows an offer's schedule before it is chosen, for a start date and debit day that the visitor can try.
 * @param {import("../contract").Product} product
 * @param {import("../contract").Offer} offer
 * @param {(item: import("../contract").NewItem) => void} join takes the offer with what was tried out
 */
export function askPlan(product, offer, join) {
  const club = get().registration?.clubId ?? get().place.club ?? "";
  const start = h("input", { type: "date", id: "plan-start", "data-field": "startDate", required: true, ...startDates(offer), "aria-describedby": "plan-error" });
  const error = h("p", { class: "field-error", id: "plan-error", role: "alert" });
  const days = debitDays(club, start, offer.billing?.rhythm);
  const place = h("div", { class: "plan-place", "aria-live": "polite" });
  const dialog = ask(text.plan.heading,
    h("p", { class: "dialog-about" }, offer.name),
    h("form", { method: "dialog", novalidate: true, onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
      h("label", { for: "plan-start" }, text.offer.start.label), start, error, days.element),
    place,
    h("div", { class: "dialog-actions" }, 
      button({ class: "button-quiet", "data-close": true, onclick: () => dialog.close() }, text.plan.close),
      button({ class: "button", "data-join": true, onclick: choose }, text.plan.join)));
  dialog.classList.add("dialog-plan");
  for (const control of [start, days.element]) control.addEventListener("change", update);
  let asked = 0;
  update();

  async function choose() {
    if (!start.checkValidity()) return start.focus();
    const day = offer.needs.includes("debit") ? await days.chosen() : undefined;
    if (!dialog.open) return;
    dialog.close();
    join({ offerId: offer.id, ...(offer.needs.includes("startDate") && { startDate: start.value }), ...(day && { debit: { day } }) });
  }

  async function update() {
    const mine = ++asked;
    const wrong = !start.checkValidity();
    start.setAttribute("aria-invalid", String(wrong));
    error.textContent = wrong ? wrongStart(offer, start) : "";
    if (wrong) return place.replaceChildren();
    const debitDay = await days.chosen();
    if (mine !== asked) return; // the visitor has made another choice meanwhile
    const schedule = await loadSchedule({ club, offer: offer.id, startDate: start.value, debitDay });
    if (mine === asked) place.replaceChildren(schedule ? plan(schedule) : failed());
  }
}
