// @ts-check
/** The member's own page: number, status, debt, and links to what they can do. Without a login, a link to it. */
import { button, h, heading, icon } from "../dom.js";
import { money } from "../format.js";
import { linkTo } from "../route.js";
import { clubName, get } from "../store.js";
import { logOut, signIn } from "../member.js";
import { text } from "../text.js";
import { login } from "./login.js";
import { memberships as membershipPanels } from "./membership.js";

/** @typedef {import("../contract").Me} Me */

/** The status of a contact that cannot buy online. */
const BANNED = "banned";

/** @param {import("../store.js").State} state */
export const reads = ({ identity, ended, me, memberships, clubs, isStuck, transfer }) => [identity, ended, me, memberships, clubs, isStuck, transfer];

export function show() {
  const { identity, me, memberships = [], isStuck } = get();
  if (!identity) return loggedOut();
  return h("div", { class: "member" },
    h("div", { class: "step-head" }, heading(text.me.heading)),
    me ? about(me) : !isStuck && h("i", { class: "bone bone-box", "aria-hidden": true }),
    me && membershipPanels(memberships),
    me && waysOn(me),
    button({ class: "link", "data-log-out": true, onclick: logOut }, text.me.leave));
}

function loggedOut() {
  const { ended, transfer } = get();
  if (transfer?.state === "signed") return moved(transfer.clubId);
  const words = ended && ended !== "moved" ? text.me[ended] : text.me.login;
  return h("div", { class: "member", "data-logged-out": ended ?? "" },
    h("div", { class: "step-head" }, heading(words.heading), h("p", { class: "lead" }, words.lead)),
    ended === "unfinished" && button({ class: "button button-quiet", id: "end-again", "data-end-again": true, onclick: logOut }, text.retry),
    login("identityToken", signIn, text.me.byHand));
}

/**
 * What is shown after a move. Tokens issued before it name the old club and are no longer used.
 * @param {string} clubId
 */
const moved = (clubId) =>
  h("div", { class: "member", "data-moved": clubId },
    h("span", { class: "seal is-good" }, icon("tick")),
    h("div", { class: "step-head" }, heading(text.transfer.done.heading(clubName(clubId))), h("p", { class: "lead" }, text.transfer.done.lead)),
    login("identityToken", signIn, text.me.byHand));

/** @param {Me} me */
function about({ number, status, debt, clubId }) {
  const statuses = /** @type {Record<string, string>} */ (text.me.status);
  return h("section", { class: "panel", "data-me": number },
    h("dl", { class: "facts" },
      fact(text.me.number, h("strong", { class: "member-digits" }, number)),
      fact(text.me.club, clubName(clubId)),
      statuses[status] && fact(text.me.is, h("span", { "data-status-of-me": status }, statuses[status])),
      fact(text.me.debt, h("strong", { class: "amount", "data-debt": debt.amount }, debt.amount > 0 ? text.me.owed(money(debt)) : money(debt)))),
    debt.amount > 0 && h("p", { class: "notice" }, icon("info"), text.me.debtWhy));
}

/**
 * @param {string} name
 * @param {...(Node | string)} what
 */
const fact = (name, ...what) => h("div", {}, h("dt", {}, name), h("dd", {}, ...what));

/** @param {Me} me */
const waysOn = (me) =>
  h("ul", { class: "club-list ways" },
    me.status !== BANNED && way({ me: true, club: me.clubId }, "card", text.me.buy(clubName(me.clubId)), "buy"),
    way({ me: true, step: "consents" }, "shield", text.me.consents, "consents"),
    me.status !== BANNED && way({ me: true, step: "transfer" }, "pin", text.me.transfer, "transfer"));

/**
 * @param {import("../route.js").Place} place
 * @param {string} picture
 * @param {string} words
 * @param {string} name
 */
const way = (place, picture, words, name) =>
  h("li", {}, h("a", { class: "club-card", href: linkTo(place), id: `way-${name}`, "data-way": name },
    h("span", { class: "club-pin" }, icon(picture)), h("strong", {}, words), icon("arrow")));
