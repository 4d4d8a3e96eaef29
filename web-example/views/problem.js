// @ts-check
/** What went wrong and what the visitor can do, shown above the step. */
import { button, h, icon } from "../dom.js";
import { can, linkTo } from "../route.js";
import { get } from "../store.js";
import { text } from "../text.js";
import { nameOf } from "./agreements.js";

/** @type {Record<string, string>} */
const BY_CODE = text.problems;

/** @type {Record<string, { error?: string, wrong?: string }>} `wrong` where the gateway may know better what is */
const FIELDS = { ...text.person.fields, ...text.mandate.fields };

/** Problems of the gateway itself: a reference helps the club's staff. */
const OURS = ["internal", "club_system_failed", "malformed_request"];

/**
 * @param {import("../api.js").Problem} problem
 * @param {() => void} [again] what "try again" does, if there is such a thing
 */
export function problemContent(problem, again) {
  return h("div", { class: "problem-content" }, icon("alert"),
    h("div", {},
      h("p", {}, wordsFor(problem)),
      h("ul", {}, problem.errors.filter((error) => !linkOf(problem) && !onPage(error.pointer)).map((error) => h("li", {}, fieldText(error)))),
      OURS.includes(problem.code) && problem.traceId && h("p", { class: "fine" }, text.reference(problem.traceId)),
      problem.code === "club_not_found" && again ? h("a", { href: linkTo({}), "data-to-clubs": true }, text.toClubs) : again && button({ class: "button-quiet", "data-retry": true, onclick: again }, text.retry)));
}

/** What a visitor can do nothing about but try again: what the gateway says of a code without a text here is for developers. */
const OF_PROGRAMS = ["fix_request", "send_again"];

/** The pause between two codes, in seconds. One that is longer has another reason. */
const BETWEEN_CODES = 60;

/** @param {import("../api.js").Problem} problem */
function wordsFor(problem) {
  const { club, registration } = get().place;
  if (begun(problem)) return text.invitationUsed;
  if (problem.code === "club_not_found") return text.noClub;
  if (problem.code === "mobile_unreachable" && isGuardians(get().registration)) return text.guardian.unreachable;
  if (problem.code === "sms_limited" && (problem.retryAfter ?? 0) <= BETWEEN_CODES) return text.codeSoon;
  if (problem.code === "invalid_request" && problem.errors.length === 1 && !linkOf(problem)) return text.oneEntry;
  return BY_CODE[linkOf(problem) ?? problem.code] ?? (OF_PROGRAMS.includes(problem.then) ? text.problems.other : problem.text);
}

/**
 * Whether the codes go to the guardian of a contact whose number the club has.
 * @param {import("../contract").Registration} [registration]
 */
const isGuardians = (registration) => !!registration?.guardian && !can(registration, "person");

/** Fields that come from a link and are not typed, with the text if one is malformed. */
const IN_LINKS = /** @type {Record<string, string>} */ ({ invitation: "invitation_invalid", resume: "resumption_invalid" });

/** @param {import("../api.js").Problem} problem */
const linkOf = ({ code, errors }) =>
  code === "invalid_request" && get().place.invitation && get().place.step !== "guardian" ? "invitation_invalid" : errors.map(({ pointer }) => IN_LINKS[fieldOf(pointer)]).find((known) => known && ["invalid_request", known].includes(code));

/**
 * Whether an invitation was refused in a browser with a sign-up in progress, which the invitation may have started.
 * @param {import("../api.js").Problem} problem
 */
const begun = (problem) => problem.code === "invitation_invalid" && get().inProgress.length > 0;

/**
 * The name of the field that a JSON pointer names: its last part, such as email in /person/email. Those of a guardian begin with
 * guardian; a missing one is at its first field.
 * @param {string | undefined} pointer undefined for what is outside the body
 */
export function fieldOf(pointer) {
  const name = pointer?.split("/").at(-1) ?? "";
  if (name === "guardian") return "guardianGivenName";
  return pointer?.includes("guardian/") ? `guardian${name.charAt(0).toUpperCase()}${name.slice(1)}` : name;
}

/**
 * A field's error, in the site's words or the gateway's; of a document, its name.
 * @param {{ pointer?: string, text: string, code?: string, params?: Record<string, string> }} error
 */
export function fieldText({ pointer, text: said, code, params }) {
  if (params?.document) return nameOf(params.document);
  if (code === "guardian_is_buyer") return said.replaceAll("'", "’");
  const words = FIELDS[fieldOf(pointer)];
  return words?.error ?? (said.replaceAll("'", "’") || undefined) ?? words?.wrong ?? text.entry;
}

/** @param {string | undefined} pointer */
const onPage = (pointer) => !!document.querySelector(`main [data-field="${CSS.escape(fieldOf(pointer))}"]`);
