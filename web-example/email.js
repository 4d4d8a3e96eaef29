// @ts-check
/** Common typos in e-mail addresses: `ada@gmial.com` was probably meant to be `ada@gmail.com`. */

const DOMAINS = ["gmail.com", "yahoo.com", "yahoo.fr", "hotmail.com", "hotmail.fr", "outlook.com", "outlook.fr", "icloud.com", "orange.fr",
  "free.fr", "sfr.fr", "wanadoo.fr", "laposte.net", "live.fr", "live.com", "proton.me", "mail.com", "ymail.com", "gmx.fr", "gmx.com", "gmx.net", "gmx.de"];

/**
 * @param {string} address
 * @returns {string | undefined} the address that was probably meant; undefined if there is nothing to ask
 */
export function meantAddress(address) {
  const at = address.lastIndexOf("@");
  const domain = address.slice(at + 1).toLowerCase();
  if (at < 1 || DOMAINS.includes(domain)) return undefined;
  const meant = DOMAINS.find((one) => isSlip(domain, one));
  return meant && `${address.slice(0, at)}@${meant}`;
}

/**
 * Whether one inserted, missing or wrong character, or two swapped ones, turn one word into the other.
 * @param {string} typed
 * @param {string} word
 */
function isSlip(typed, word) {
  let start = 0;
  while (start < word.length && typed[start] === word[start]) start++;
  let end = 0;
  while (end < Math.min(typed.length, word.length) - start && typed.at(-1 - end) === word.at(-1 - end)) end++;
  const [left, right] = [typed.slice(start, typed.length - end), word.slice(start, word.length - end)];
  return Math.max(left.length, right.length) <= 1 || (left.length === 2 && left === [...right].reverse().join(""));
}

/** @param {string} address whether its domain can be reached: unlike browsers, mail needs a name with a dot */
export const isAddress = (address) => /@[^@\s]+\.[^@.\s]+$/.test(address.trim());
