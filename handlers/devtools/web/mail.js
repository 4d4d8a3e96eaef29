// @ts-check
/** The mailbox: mails that the gateway sent to the world's people, with their links to follow. */
import * as api from "./api.js";
import { button, h, heading } from "./dom.js";
import { go } from "./page.js";

/** The number of mails shown. */
const SHOWN = 30;

/** Addresses in the text of a mail, without the punctuation that follows them. */
const ADDRESS = /https?:\/\/[^\s<>"]*[^\s<>".,;:!?)]/g;

const read = async () => (await api.mails()).slice(0, SHOWN);

/**
 * @param {api.Mail[]} mails newest first
 * @param {import("./panel.js").Act} act
 */
const show = (mails, act) => [
  heading("The mailbox"),
  mails.length > 0
    ? h("ul", { class: "messages" }, mails.map((mail) => h("li", { class: "message", "data-mail": mail.messageId },
      h("p", { class: "soft" }, mail.to, h("span", { class: "fill" }), new Date(mail.sentAt).toLocaleTimeString()),
      h("p", {}, elsewhere(`mail/${mail.number}`, mail.subject)),
      mail.attachments.map((document, place) => h("p", { class: "soft" }, "Attached: ", elsewhere(`mail/${mail.number}/${place}`, document.name))),
      linksOf(mail).map((link) => h("p", {}, follow(link, act))))))
    : h("p", { class: "empty" }, "No mail yet. Confirmations and acknowledgements appear here as the gateway sends them."),
];

/** @param {api.Mail} mail */
const linksOf = (mail) => [...new Set(mail.text.match(ADDRESS) ?? [])];

/**
 * @param {string} path below _control/
 * @param {string} words
 */
const elsewhere = (path, words) =>
  h("a", { href: api.controlPath(path), target: "_blank", rel: "noopener", "data-key": path }, words);

/**
 * A link to this site is followed here, as the person would on this device; another one in a page of its own.
 * @param {string} link
 * @param {import("./panel.js").Act} act
 */
const follow = (link, act) => new URL(link).origin === location.origin
  ? button(`follow-${link}`, { class: "quiet", "data-follow": link, title: "Open it in this page", onclick: () => act(() => go(link)) }, link)
  : h("a", { href: link, target: "_blank", rel: "noopener noreferrer", "data-key": link }, link);

/** @type {import("./panel.js").Tab} */
export const mail = { name: "mail", title: "Mail", read, show };
