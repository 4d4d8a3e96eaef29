// @ts-check
/** The day of the direct debits, chosen together with the start date, on which the possible days depend. */
import { h } from "../dom.js";
import { date, every, keepsDay } from "../format.js";
import { readDebitDays, scheduleOf } from "../journey.js";
import { text } from "../text.js";

/**
 * The days to choose from; the first one is selected. If they cannot be read, the club chooses.
 * @param {string} club
 * @param {HTMLInputElement} start the field with the start date
 * @param {string} [rhythm] of the debits
 * @param {number} [wanted] what the visitor chose, before or while the days are read again
 */
export function debitDays(club, start, rhythm, wanted) {
  const element = h("fieldset", { class: "plan-days", "data-debit-days": 0, onchange: () => (wanted = picked()) });
  let asked = 0;
  let read = update();
  start.addEventListener("change", () => (read = update()));
  return { element, chosen: () => read.then(picked) };

  async function update() {
    const mine = ++asked;
    if (!start.checkValidity()) return void element.replaceChildren(); // the start date says what is wrong
    const days = (await readDebitDays(club, start.value)) ?? [];
    if (mine !== asked) return; // another start date was chosen meanwhile
    const day = days.some((one) => one.day === wanted) ? wanted : days[0]?.day;
    element.dataset.debitDays = String(days.length);
    element.replaceChildren(...(days.length ? choices(days, day, rhythm) : [h("p", { class: "hint" }, text.debit.open)]));
  }

  function picked() {
    const input = /** @type {HTMLInputElement | null} */ (element.querySelector("input:checked"));
    return input ? Number(input.value) : undefined;
  }
}

/**
 * @param {import("../contract").DebitDay[]} listed
 * @param {number | undefined} chosen
 * @param {string} [rhythm] of the debits
 */
const choices = (listed, chosen, rhythm = "") => [
  h("legend", {}, keepsDay(rhythm) ? text.plan.day : text.plan.firstDay),
  h("div", { class: "plan-choices" }, [...listed].sort((one, other) => one.day - other.day).map(({ day }) =>
    h("label", { class: "chip" },
      h("input", { type: "radio", name: "debitDay", value: day, checked: day === chosen, "data-debit-day": day }),
      h("span", {}, text.plan.dayOf(day))))),
];

/**
 * When an item is debited, if the buyer has chosen a day. For debits by the week, the day is only that of the first one.
 * @param {import("../contract").Cart["items"][number]} item
 * @param {string} [rhythm] of the debits, once it is read
 */
export function debitOf(item, rhythm = "") {
  const { debit } = item;
  const first = scheduleOf(item)?.firstStatement.find(({ kind }) => kind === "debit")?.date;
  if (!debit?.day || !(keepsDay(rhythm) || first)) return null;
  return h("small", { "data-debits-on": debit.day }, keepsDay(rhythm) ? text.debit.on(debit.day) : text.debit.first(date(first ?? ""), every(rhythm)));
}
