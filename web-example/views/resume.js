// @ts-check
/** The question before a new registration is started while this browser has one in progress. */
import { h, icon } from "../dom.js";
import { linkTo } from "../route.js";
import { get } from "../store.js";
import { text } from "../text.js";

export function resume() {
  const { inProgress, place } = get();
  if (!inProgress || inProgress.id === place.registration) return null;
  return h("section", { class: "resume", "data-resume": true },
    icon("clock"),
    h("p", {}, inProgress.state === "open" ? text.resume.open : text.resume.paying),
    h("a", { class: "button", href: linkTo({ registration: inProgress.id }) }, text.resume.go));
}
