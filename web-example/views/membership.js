// @ts-check
/** What the member has at the club: when they can leave at the earliest, and what is still debited until then. */
import { h, icon } from "../dom.js";
import { date, money } from "../format.js";
import { linkTo } from "../route.js";
import { text } from "../text.js";

/** @typedef {import("../contract").Membership} Membership */

/** @param {Membership[]} all */
export const memberships = (all) => all.map(membership);

/** The values of `cancellation` with which no other one is offered. */
const LEAVING = ["pending", "cancelled"];

/** @param {Membership} membership */
function membership({ id, name, since, earliestEnd, endDate, remaining, cancellation }) {
  const heading = `membership-${id}`;
  return h("section", { class: "panel", "aria-labelledby": heading, "data-membership": id, "data-earliest-end": earliestEnd ?? "", "data-cancellation": cancellation },
    h("h2", { id: heading }, name),
    h("dl", { class: "facts" },
      since && fact(text.memberships.since, date(since)),
      endDate ? fact(text.memberships.ends, h("strong", {}, date(endDate))) : earliestEnd && fact(text.memberships.earliest, h("strong", {}, date(earliestEnd))),
      remaining && fact(text.memberships.left, h("strong", { class: "amount", "data-remaining": remaining.total.amount }, money(remaining.total)))),
    remaining && remaining.debits.length > 0 && debits(remaining),
    cancellation === "pending" && h("p", { class: "notice" }, icon("info"), text.memberships.pending),
    !LEAVING.includes(cancellation) && h("a", { class: "link", href: linkTo({ statement: "cancellation", membership: id }), "data-cancel-membership": id }, text.memberships.cancel));
}

/**
 * @param {string} name
 * @param {Node | string} what
 */
const fact = (name, what) => h("div", {}, h("dt", {}, name), h("dd", {}, what));

/** Few debits are listed at once. */
const FEW = 3;

/** @param {import("../contract").RemainingDebits} remaining */
function debits({ debits: all }) {
  const lines = h("ol", { class: "lines" }, all.map((debit) =>
    h("li", { "data-debit": debit.date },
      h("span", {}, date(debit.date), debit.basis === "estimated" && h("span", { class: "tag tag-estimated", "data-estimated": true }, text.plan.estimated)),
      h("span", { class: "amount" }, money(debit.amount)))));
  if (all.length <= FEW) return lines;
  return h("details", { class: "plan-all", "data-remaining-debits": all.length }, h("summary", {}, text.plan.all(all.length), icon("down")), lines);
}
