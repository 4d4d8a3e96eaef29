// @ts-check
/** The choice to pay at the club instead, by a day that the visitor chooses. */
import { h, icon, working } from "../dom.js";
import { date, inDays, money, today } from "../format.js";
import { payLater } from "../journey.js";
import { get } from "../store.js";
import { text } from "../text.js";
import { isAgreed } from "./agreements.js";
import { field, mark, markOne } from "./field.js";
import { ordering } from "./order.js";

/** The suggested number of days until the payment. */
const USUAL = 14;

/**
 * @param {import("../contract").Registration} registration
 * @param {string} latest the last day that the gateway accepts
 * @param {boolean} open whether it is shown at once: after a payment by card that did not succeed, or if no card is accepted
 */
export function laterForm(registration, latest, open) {
  const usual = inDays(USUAL) < latest ? inDays(USUAL) : latest;
  const about = h("span", {}, text.cart.later.due(date(usual)));
  /** @param {Event & { currentTarget: HTMLInputElement }} event */
  const choose = ({ currentTarget: input }) => {
    markOne(input, "");
    if (input.checkValidity()) about.textContent = text.cart.later.due(date(input.value));
  };
  const order = h("button", { class: "button button-quiet button-wide", "data-pay-later": true }, icon("calendar"),
    working(text.order.buttons.order_with_obligation_to_pay, text.cart.paying)); // the buyer must pay after the order
  return h("details", { class: "later", "data-later": true, open },
    h("summary", {}, text.cart.later.summary, icon("down")),
    h("form", { "data-form": "later", novalidate: true, onsubmit: submit },
      h("p", { class: "fine" }, text.cart.later.lead(money(registration.cart.dueNow))),
      field("dueDate", { label: text.cart.later.dueDate, hint: text.cart.later.until(date(latest)) }, { type: "date", required: true, min: get().details?.startDates.earliest ?? today(), max: latest, value: usual, oninput: choose }),
      h("div", { class: "ordering" }, ordering(registration, order, about))));
}

/** @param {SubmitEvent} event */
function submit(event) {
  event.preventDefault();
  const form = /** @type {HTMLFormElement} */ (event.currentTarget);
  const day = /** @type {HTMLInputElement} */ (form.elements.namedItem("dueDate"));
  mark(form, day.checkValidity() ? {} : { dueDate: day.validity.rangeOverflow ? text.cart.later.tooLate : text.cart.later.wrong });
  if (day.checkValidity() && isAgreed()) payLater(day.value);
}
