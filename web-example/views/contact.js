// @ts-check
/** How to reach a club, and the trader behind it. */
import { h } from "../dom.js";
import { phone, weekDays } from "../format.js";
import { get } from "../store.js";
import { text } from "../text.js";

/** @typedef {import("../contract").ClubDetails} ClubDetails */

/** @param {string | undefined} clubId the details of a club, once they are read */
const detailsOf = (clubId) => {
  const { details } = get();
  return details?.id === clubId ? details : undefined;
};

/**
 * A club's phone number and e-mail address, for texts that tell the visitor to contact it; nothing if it has neither.
 * @param {string | undefined} clubId
 */
export function contact(clubId) {
  const club = detailsOf(clubId);
  if (!club || !(club.phone || club.email || club.url)) return null;
  return h("address", { class: "contact", "data-contact": club.id }, h("strong", {}, club.name), ways(club));
}

/** @param {NonNullable<import("../contract").Club["address"]>} address */
export const addressLine = ({ street, postalCode, city }) => [street, [postalCode, city].filter(Boolean).join("\u00a0")].filter(Boolean).join(", ");

/**
 * Where goods are handed over: the club's name and address; nothing if neither is known.
 * @param {string} clubId
 */
export function placeOf(clubId) {
  const { name, address } = detailsOf(clubId) ?? {};
  return [name, address && addressLine(address)].filter(Boolean).join(", ");
}

/**
 * Who sells, for the page on which one orders; nothing if the club names nobody.
 * @param {string} clubId
 */
export function seller(clubId) {
  const { name, trader } = detailsOf(clubId) ?? {};
  return trader && h("p", { class: "fine", "data-seller": true },
    name && name !== trader.name ? text.contact.sellerFor(trader.name, name) : text.contact.seller(trader.name));
}

/** Who collects a club's direct debits, once that is read. @param {string} clubId */
export const creditor = (clubId) => detailsOf(clubId)?.creditor?.name;

/** @param {ClubDetails} club */
const ways = ({ address, phone: number, email, url }) =>
  h("ul", {},
    address && h("li", {}, addressLine(address)),
    number && h("li", {}, h("a", { href: `tel:${number}` }, phone(number))),
    email && h("li", {}, h("a", { href: `mailto:${email}` }, email)),
    url && h("li", {}, h("a", { href: url, target: "_blank", rel: "noopener" }, new URL(url).host, h("span", { class: "sr-only" }, ` ${text.legal.tab}`))));

/**
 * The club's address, opening hours and trader, below its offers.
 * @param {string | undefined} clubId
 */
export function about(clubId) {
  const club = detailsOf(clubId);
  if (!club) return null;
  const { openingHours, trader, images } = club;
  return h("section", { class: "about-club", "data-about": club.id },
    images.length > 0 && h("div", { class: "club-images" }, images.map(({ url, alt }) => h("img", { src: url, alt, loading: "lazy", width: 16, height: 9, "data-image": true }))),
    h("h2", {}, club.name),
    h("address", {}, ways(club)),
    openingHours.length > 0 && h("dl", {}, openingHours.map(({ days, opens, closes }) =>
      h("div", {}, h("dt", {}, weekDays(days)), h("dd", {}, `${opens} – ${closes}`)))),
    trader && h("p", { class: "fine", "data-trader": true },
      text.contact.seller([trader.name, trader.legalForm, trader.registrationNumber, trader.vatId].filter(Boolean).join(" · "))));
}
