// @ts-check
/**
 * Amounts, dates and durations as people read them: amounts and dates in the visitor's locale, durations in the words of
 * the text catalogue.
 */
import { locale, text } from "./text.js";

/** @param {import("./contract").Money} money */
export const money = (money) => moneyParts(money).map(({ value }) => value).join("");

/**
 * An amount in its parts, for where the cents are written smaller than the rest.
 * @param {import("./contract").Money} money
 */
export function moneyParts({ amount, currency }) {
  const format = new Intl.NumberFormat(locale, { style: "currency", currency });
  return format.formatToParts(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

/** @param {string} day YYYY-MM-DD: a day of the calendar, the same in every time zone */
export function date(day) {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "UTC" });
  return text.units.date(format.format(new Date(`${day}T00:00:00Z`)));
}

/** @param {string} instant RFC 3339 */
export function moment(instant) {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
  return format.format(new Date(instant));
}

/** Today in the visitor's time zone, as YYYY-MM-DD. */
export const today = () => inDays(0);

/** @param {number} days from today in the visitor's time zone, as YYYY-MM-DD */
export function inDays(days) {
  const now = new Date();
  now.setDate(now.getDate() + days);
  const two = (/** @type {number} */ part) => String(part).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

/** @param {string} duration such as P52W: "52 weeks" */
export const span = (duration) => inWords(duration, text.units.span);

/** @param {string} duration such as P4W: "every 4 weeks" */
export const every = (duration) => inWords(duration, text.units.every);

/** @param {string} duration whether it keeps the day of the month, as P1M does and P4W does not */
export const keepsDay = (duration) => /^P\d+[MY]$/.test(duration);

/** @param {string} duration such as P1W: "per week" */
export const per = (duration) => inWords(duration, text.units.per);

/**
 * A duration of one unit, which is all that an offer has; anything else stays as it came.
 * @param {string} duration
 * @param {(count: number, unit: string) => string} words
 */
function inWords(duration, words) {
  const parts = /^P(\d+)([DWMY])$/.exec(duration);
  return parts ? words(Number(parts[1]), parts[2]) : duration;
}
