// @ts-check
/** The dialog that asks when an offer starts and on which day it is debited. */
import { ask, button, h } from "../dom.js";
import { get } from "../store.js";
import { startDates, starts, wrongStart } from "../terms.js";
import { text } from "../text.js";
import { debitDays } from "./debit.js";

/**
 * Asks for the start date and the debit day, as far as the offer needs them.
 * @param {import("../contract").Offer} offer
 * @param {(item: import("../contract").NewItem) => void} take
 * @param {{ startDate?: string, debitDay?: number, isRefused?: boolean }} [chosen] the days to show first, and whether the club has refused the start date
 * @param {string} [label] what the button does
 */
export function askDays(offer, take, chosen = {}, label = text.offer.start.continue) {
  const asksStart = offer.needs.includes("startDate") || chosen.isRefused;
  const input = h("input", {
    type: "date", id: "start-date", name: "startDate", "data-field": "startDate",
    required: true, ...startDates(offer), ...(chosen.startDate && { value: chosen.startDate }), "aria-describedby": "start-hint start-error", onchange: () => judge(),
  });
  const error = h("p", { class: "field-error", id: "start-error", role: "alert" });
  const club = get().registration?.clubId ?? get().place.club ?? "";
  const days = offer.needs.includes("debit") && debitDays(club, input, offer.billing?.rhythm, chosen.debitDay);
  const dialog = ask(asksStart ? text.offer.start.heading : text.offer.start.debits,
    h("p", { class: "dialog-about" }, offer.name),
    h("form", { method: "dialog", novalidate: true, onsubmit },
      asksStart && [
        h("label", { for: "start-date" }, text.offer.start.label),
        h("p", { class: "hint", id: "start-hint" }, starts(offer) || text.offer.start.hint),
        input,
        error,
      ],
      days && days.element,
      h("div", { class: "dialog-actions" },
        button({ class: "button-quiet", onclick: () => dialog.close() }, text.cancel),
        h("button", { class: "button", "data-continue": true }, label))));
  if (chosen.isRefused) say(true);
  if (asksStart) input.focus();
  else if (days) days.chosen().then(() => /** @type {HTMLElement | null} */ (days.element.querySelector("input:checked"))?.focus());

  /** Says whether the date is possible. */
  function judge() {
    const isRight = input.checkValidity();
    say(!isRight);
    return isRight;
  }

  /** @param {boolean} isWrong */
  function say(isWrong) {
    input.setAttribute("aria-invalid", String(isWrong));
    error.textContent = isWrong ? wrongStart(offer, input) : "";
  }

  /** @param {SubmitEvent} event */
  async function onsubmit(event) {
    event.preventDefault();
    if (!judge()) return input.focus();
    const day = days ? await days.chosen() : undefined;
    if (!dialog.open) return;
    dialog.close();
    take({ offerId: offer.id, ...(asksStart && { startDate: input.value }), ...(day && { debit: { day } }) });
  }
}
