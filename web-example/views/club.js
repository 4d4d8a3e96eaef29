// @ts-check
/** The first step: choose a club. */
import { h, heading, icon, ticks } from "../dom.js";
import { canLogIn } from "../identity.js";
import { linkTo } from "../route.js";
import { get } from "../store.js";
import { text } from "../text.js";
import { addressLine } from "./contact.js";
import { resume } from "./resume.js";

/** A longer list gets a search field. */
const AT_A_GLANCE = 6;

/** @param {import("../store.js").State} state */
export const reads = ({ clubs, inProgress }) => [clubs, inProgress];

export function show() {
  const { clubs } = get();
  return h("div", { class: "club" },
    h("section", { class: "hero" },
      icon("lanes"),
      h("div", { class: "hero-words" }, heading(text.club.heading), h("p", { class: "lead" }, text.club.lead), ticks(text.club.points),
        canLogIn() && h("p", {}, h("a", { href: linkTo({ me: true }), "data-log-in": true }, text.me.open)))),
    resume(),
    h("section", { class: "clubs", "aria-labelledby": "clubs-heading" },
      h("h2", { id: "clubs-heading" }, text.club.list),
      clubs ? choice(clubs) : skeleton()));
}

/** @param {import("../contract").Club[]} clubs */
function choice(clubs) {
  const list = h("div", { class: "club-groups" }, groups(clubs));
  if (clubs.length <= AT_A_GLANCE) return list;
  const count = h("p", { class: "fine", role: "status" });
  const search = h("input", {
    type: "search",
    id: "club-search",
    "data-field": "search",
    "aria-label": text.club.search,
    placeholder: text.club.search,
    autocomplete: "off",
    oninput() {
      const found = clubs.filter((club) => matches(club, search.value));
      list.replaceChildren(...groups(found));
      count.textContent = found.length ? text.club.count(found.length) : text.club.none;
    },
  });
  return h("div", {}, h("div", { class: "search" }, icon("search"), search), count, list);
}

/**
 * The clubs under the names of their parents, in the gateway's order.
 * @param {import("../contract").Club[]} clubs
 */
function groups(clubs) {
  const byParents = Map.groupBy(clubs, (club) => club.path.join(" · "));
  return [...byParents].map(([parents, members]) =>
    h("section", { class: "club-group" }, parents && h("h3", {}, parents), h("ul", { class: "club-list" }, members.map(card))));
}

/** @param {import("../contract").Club} club */
const card = (club) =>
  h("li", {},
    h("a", { class: "club-card", href: linkTo({ club: club.id }), id: `club-${club.id}`, "data-club": club.id },
      h("span", { class: "club-pin" }, icon("pin")),
      h("span", { class: "club-name" }, h("strong", {}, club.name), club.address && h("small", {}, addressLine(club.address))),
      icon("arrow")));

/**
 * @param {import("../contract").Club} club
 * @param {string} words
 */
function matches(club, words) {
  const plain = (/** @type {string} */ name) => name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const names = plain([club.name, club.alias, ...club.path, club.address && addressLine(club.address)].join(" "));
  return plain(words).split(/\s+/).every((word) => names.includes(word));
}

const skeleton = () =>
  h("ul", { class: "clubs-loading", "aria-hidden": true }, Array.from({ length: 6 }, () => h("li", { class: "bone bone-club" })));
