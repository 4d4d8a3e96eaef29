// @ts-check
/** The choice to pay at the club instead, by a day that the visitor chooses. */
import { h, icon, working } from "../dom.js";
import { date, inDays, money, today } from "../format.js";
import { payLater } from "../journey.js";
import { get } from "../store.js";
import { text } from "../text.js";
import { field, mark, markOne } from "./field.js";

/** The suggested number of days until the payment. */
const USUAL = 14;

/**
 * @param {string} latest the last day that the gateway accepts
 * @param {import("../contract").Money} amount
 * @param {boolean} open whether it is shown at once: after a payment by card that did not succeed, or if no card is accepted
 */
export function laterForm(latest, amount, open) {
  const usual = inDays(USUAL) < latest ? inDays(USUAL) : latest;
  const words = (/** @type {string} */ day) => text.cart.later.lead(money(amount), date(day));
  const lead = h("p", { class: "fine" }, words(usual));
  /** @param {Event & { currentTarget: HTMLInputElement }} event */
  const choose = ({ currentTarget: input }) => {
    markOne(input, "");
    if (input.checkValidity()) lead.textContent = words(input.value);
  };
  return h("details", { class: "later", "data-later": true, open },
    h("summary", {}, text.cart.later.summary, icon("down")),
    h("form", { "data-form": "later", novalidate: true, onsubmit: submit },
      lead,
      field("dueDate", { label: text.cart.later.dueDate, hint: text.cart.later.until(date(latest)) }, { type: "date", required: true, min: get().details?.startDates.earliest ?? today(), max: latest, value: usual, oninput: choose }),
      h("button", { class: "button button-quiet button-wide", "data-pay-later": true }, icon("calendar"), working(text.cart.later.go, text.cart.paying))));
}

/** @param {SubmitEvent} event */
function submit(event) {
  event.preventDefault();
  const form = /** @type {HTMLFormElement} */ (event.currentTarget);
  const day = /** @type {HTMLInputElement} */ (form.elements.namedItem("dueDate"));
  mark(form, day.checkValidity() ? {} : { dueDate: day.validity.rangeOverflow ? text.cart.later.tooLate : text.cart.later.wrong });
  if (day.checkValidity()) payLater(day.value);
}
