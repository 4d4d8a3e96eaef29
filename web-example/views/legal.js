// @ts-check
/**
 * What the visitor agrees to, and the club's own terms, privacy notice, legal notice and accessibility statement. Where the page is about a
 * club, its terms and its privacy notice are the documents that its orders name. All other addresses are in index.html, in the lines
 * `frontdesk:terms`, `frontdesk:privacy`, `frontdesk:legal` and `frontdesk:accessibility`; without an address, no link.
 */
import { h } from "../dom.js";
import { get } from "../store.js";
import { text } from "../text.js";
import { creditor } from "./contact.js";

/** @typedef {"terms" | "privacy" | "legal" | "accessibility"} Page */

/** The club that the page is about: of the address, of the signup, or of the member. */
function currentClub() {
  const { place, registration, identity, me } = get();
  return place.club ?? registration?.clubId ?? ((place.me || place.statement) && identity ? me?.clubId ?? identity.club : undefined);
}

/**
 * @param {Page} page
 * @param {string | undefined} clubId
 */
function addressOf(page, clubId) {
  const { documents } = get();
  const own = documents?.clubId === clubId && documents?.items.find(({ document: name }) => name === page);
  if (own) return own.url;
  const configured = document.querySelector(`meta[name='frontdesk:${page}']`)?.getAttribute("content") ?? "";
  const isWeb = configured && URL.canParse(configured, document.baseURI) && /^https?:$/.test(new URL(configured, document.baseURI).protocol);
  return isWeb ? configured : "";
}

/**
 * Links to the club's legal pages, each in a new tab, so that the input here is kept.
 * @param {Page[]} pages
 */
export const legalLinks = (...pages) => pages.flatMap((page) => link(page, currentClub()) ?? []);

/**
 * The link to the privacy notice, where personal details are entered.
 * @param {string} [clubId]
 */
export const privacyNotice = (clubId = currentClub()) => link("privacy", clubId);

/**
 * @param {Page} page
 * @param {string | undefined} clubId
 */
function link(page, clubId) {
  const href = addressOf(page, clubId);
  return href ? h("a", { href, target: "_blank", rel: "noopener", "data-legal": page }, text.legal[page], h("span", { class: "sr-only" }, ` ${text.legal.tab}`)) : undefined;
}

/**
 * What the visitor accepts with the button below; nothing if the club has no terms, or if the order itself has documents to agree to.
 * @param {"pay" | "sign"} by
 * @param {import("../contract").Registration} registration
 */
export const accepting = (by, { order }) =>
  !order?.agreements?.length && legalLinks("terms").length > 0 && h("p", { class: "accepting", "data-accept": by }, text.legal.by[by], " ",
    legalLinks("terms", "privacy").flatMap((link, at) => (at ? [" · ", link] : [link])));

/**
 * What the SMS code will sign: who may debit the account, and the right to a refund.
 * @param {import("../contract").Registration} registration
 */
export const debitConsent = ({ clubId }) =>
  h("p", { class: "fine", "data-consent-to-debit": true }, text.mandate.consent(creditor(clubId) ?? text.mandate.creditor));
