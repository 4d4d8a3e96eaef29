// @ts-check
/** The check digits of an IBAN, ISO 13616: with its first four characters at the end and letters as 10 to 35, it is 1 modulo 97. */

/** @param {string} iban with or without spaces */
export function isIBAN(iban) {
  const bare = iban.replace(/\s/g, "").toUpperCase();
  if (!/^[A-Z]{2}\d{2}[A-Z\d]{11,30}$/.test(bare)) return false;
  const digits = (bare.slice(4) + bare.slice(0, 4)).replace(/[A-Z]/g, (letter) => String(parseInt(letter, 36)));
  return BigInt(digits) % 97n === 1n;
}
