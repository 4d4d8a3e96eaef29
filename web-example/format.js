// @ts-check
/**
 * Amounts, dates and durations as people read them: amounts and dates in the visitor's locale, durations in the words of
 * the text catalogue.
 */
import * as client from "../client/format.js";
import { locale, text } from "./text.js";

export { inDays } from "../client/format.js";

/** @param {import("./contract").Money} money */
export const money = (money) => client.money(money, locale);

/** @param {import("./contract").Money} money */
export const moneyParts = (money) => client.moneyParts(money, locale);

/** @param {string} day YYYY-MM-DD */
export const date = (day) => text.units.date(client.date(day, locale));

/** @param {string} instant RFC 3339 */
export const moment = (instant) => client.moment(instant, locale);

/** @param {string} number in international form; a French one is grouped, others have no common way */
export const phone = (number) => number.replace(/^\+33(\d)(\d\d)(\d\d)(\d\d)(\d\d)$/, "+33 $1 $2 $3 $4 $5").replaceAll(" ", "\u00a0");

/** Today in the visitor's time zone, as YYYY-MM-DD. The club's own day is in its details. */
export const today = () => client.inDays(0);

/**
 * Days of the week, as a range where they are consecutive: "Monday – Friday".
 * @param {string[]} days such as monday, in their order
 */
export function weekDays(days) {
  const format = new Intl.DateTimeFormat(locale, { weekday: "long", timeZone: "UTC" });
  const numbers = days.map((day) => WEEK.indexOf(day));
  const names = numbers.map((number) => format.format(new Date(Date.UTC(2024, 0, 1 + number)))); // a Monday
  const isSpan = names.length > 2 && numbers.every((number, at) => number === numbers[0] + at);
  return isSpan ? `${names[0]} – ${names.at(-1)}` : names.join(", ");
}

const WEEK = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/** @param {string} duration such as P52W: "52 weeks" */
export const span = (duration) => inWords(duration, text.units.span);

/**
 * @param {string} period such as P1M
 * @param {number} times how many of them, as in "3 months"
 */
export const spanOf = (period, times) => span(period.replace(/\d+/, (count) => String(times * Number(count))));

/** @param {string} duration such as P4W: "every 4 weeks" */
export const every = (duration) => inWords(duration, text.units.every);

/** @param {string} duration whether it keeps the day of the month, as P1M does and P4W does not */
export const keepsDay = (duration) => /^P\d+[MY]$/.test(duration);

/** @param {string} duration such as P1W: "per week" */
export const per = (duration) => inWords(duration, text.units.per);

/**
 * A duration of one unit, the only kind that offers have; anything else stays unchanged.
 * @param {string} duration
 * @param {(count: number, unit: string) => string} words
 */
function inWords(duration, words) {
  const parts = /^P(\d+)([DWMY])$/.exec(duration);
  return parts ? words(Number(parts[1]), parts[2]) : duration;
}
