// @ts-check
/**
 * Amounts and dates as people read them.
 *
 * @import { Money } from "./openapi.js"
 */

/**
 * @param {Money} money
 * @param {string} [locale] such as "fr-FR"; without it, the browser's
 */
export const money = (money, locale) => moneyParts(money, locale).map(({ value }) => value).join("");

/**
 * An amount in its parts, for places that show the cents smaller.
 * @param {Money} money
 * @param {string} [locale]
 */
export function moneyParts({ amount, currency }, locale) {
  const format = new Intl.NumberFormat(locale, { style: "currency", currency });
  return format.formatToParts(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

/**
 * @param {string} day YYYY-MM-DD: a calendar day, the same in every time zone
 * @param {string} [locale]
 */
export const date = (day, locale) =>
  new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "UTC" }).format(new Date(`${day}T00:00:00Z`));

/**
 * @param {string} instant RFC 3339
 * @param {string} [locale]
 */
export const moment = (instant, locale) =>
  new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }).format(new Date(instant));

/** @param {number} days from today in the visitor's time zone, as YYYY-MM-DD. The club's own day is in its details. */
export function inDays(days) {
  const now = new Date();
  now.setDate(now.getDate() + days);
  const two = (/** @type {number} */ part) => String(part).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}
