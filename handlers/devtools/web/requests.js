// @ts-check
/**
 * The latest requests to the gateway, each with its calls to the club system. The gateway's list and the simulator's
 * journal are separate; only the trace id, which every problem document has too, connects them.
 */
import * as api from "./api.js";
import { button, h, heading } from "./dom.js";
import { copy } from "./page.js";

/**
 * @typedef {object} Row a request with its calls, or calls without a request: the gateway's work in the background
 * @property {string} traceId
 * @property {number} at
 * @property {api.Answer | undefined} answer
 * @property {api.Call[]} calls
 */

/** The part of the journal that was read so far: it is read in pieces. */
const journal = { world: "", calls: /** @type {api.Call[]} */ ([]) };

/** As many as the simulator itself keeps. */
const KEPT = 2_000;

/** The traces that the developer has opened. */
const opened = new Set();

async function read() {
  const [{ items }] = await Promise.all([api.answers(), readJournal()]);
  return rows(items, journal.calls);
}

async function readJournal() {
  const world = api.world();
  const after = journal.world === world ? journal.calls.at(-1)?.number ?? 0 : 0;
  const more = await api.calls(after);
  const goesOn = after > 0 && (more[0]?.number ?? after + 1) > after;
  journal.calls = (goesOn ? [...journal.calls, ...more.filter((call) => call.number > (journal.calls.at(-1)?.number ?? 0))] : more).slice(-KEPT);
  journal.world = world;
}

/**
 * @param {api.Answer[]} answers
 * @param {api.Call[]} calls
 * @returns {Row[]} newest first
 */
function rows(answers, calls) {
  /** @type {Row[]} */
  const answered = answers.map((answer) => ({ traceId: answer.traceId, at: Date.parse(answer.at), answer, calls: [] }));
  /** @type {Row[]} */
  const later = [];
  const latest = new Map(answered.map((row) => [row.traceId, row]));
  const since = Math.min(...answered.map((row) => row.at));
  for (const call of calls.filter((one) => one.traceId)) {
    const at = Date.parse(call.at);
    let row = latest.get(call.traceId);
    if (!row) {
      if (at < since) continue; // its request was dropped from the list
      row = { traceId: call.traceId, at, answer: undefined, calls: [] };
      latest.set(call.traceId, row);
      later.push(row);
    }
    row.calls.push(call);
  }
  return merge(answered, later).reverse();
}

/**
 * Merges two lists by the world's time. Each keeps its own order, because the clock may have been moved back meanwhile.
 * @param {Row[]} some
 * @param {Row[]} others
 */
function merge(some, others) {
  const merged = [];
  let next = 0;
  for (const row of some) {
    while (next < others.length && others[next].at < row.at) merged.push(others[next++]);
    merged.push(row);
  }
  return [...merged, ...others.slice(next)];
}

/**
 * @param {Row[]} list
 * @param {import("./panel.js").Act} act
 */
function show(list, act) {
  return [
    heading("Requests", list.length > 0 && button("clear", { class: "quiet", onclick: () => act(async () => void (await api.forgetAnswers())) }, "Clear")),
    list.length > 0
      ? h("ul", { class: "requests" }, list.map((row) => h("li", {}, details(row, act))))
      : h("p", { class: "empty" }, "No request yet. The page's API requests appear here, each with the gateway's calls to the club system."),
  ];
}

/**
 * @param {Row} row
 * @param {import("./panel.js").Act} act
 */
function details(row, act) {
  const { answer, calls, traceId } = row;
  const element = h("details", { "data-trace": traceId, "data-calls": calls.length, open: opened.has(traceId) },
    h("summary", { "data-key": `row-${traceId}-${row.at}` },
      h("span", { class: `status ${tone(answer?.status)}` }, answer?.status ?? "···"),
      h("span", { class: "what" },
        h("span", { class: "method" }, answer?.method ?? "later"), " ", h("span", { class: "path", title: answer?.path }, answer ? brief(answer) : "in the background"),
        answer?.code && h("span", { class: "code" }, answer.code),
        answer?.replayed && h("span", { class: "pill" }, "replayed")),
      calls.some((call) => call.fault) && h("span", { class: "pill bad" }, "fault"),
      h("span", { class: "figures" }, calls.length > 0 && h("span", { title: "calls to the club system" }, `${calls.length}↑`), answer && time(answer.durationMs))),
    h("div", { class: "inside" },
      h("p", { class: "soft" }, new Date(row.at).toLocaleTimeString(), " · trace ", button(`trace-${traceId}`, { class: "copy mono", title: "Copy the trace id", onclick: () => act(() => copy(traceId)) }, traceId)),
      calls.length > 0 ? table(calls) : h("p", { class: "soft" }, "No calls to the club system.")));
  element.addEventListener("toggle", () => (element.open ? opened.add(traceId) : opened.delete(traceId)));
  return element;
}

/** @param {api.Call[]} calls */
const table = (calls) =>
  h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Operation"), h("th", { scope: "col" }, "Scope"), h("th", { scope: "col" }, "Status"), h("th", { scope: "col", class: "n" }, "ms"))),
    h("tbody", {}, calls.map((call) => h("tr", { "data-operation": call.operation },
      h("td", { title: `${call.method} ${call.path}` }, call.operation || `${call.method} ${call.path}`, call.fault && h("span", { class: "pill bad" }, call.fault)),
      h("td", { class: "soft", title: `club ${call.clubId || "none"}, network node ${call.networkNodeId || "none"}` }, scope(call)),
      h("td", { class: tone(call.status) }, call.status || "no response"),
      h("td", { class: "n" }, call.durationMs.toFixed(1))))));

/** @param {api.Call} call */
const scope = ({ clubId, networkNodeId }) =>
  [clubId && `club ${api.last(clubId)}`, networkNodeId && `node ${api.last(networkNodeId)}`].filter(Boolean).join(" · ") || "–";

/** @param {api.Answer} answer its path without the common prefix, and ids shortened to what distinguishes them */
const brief = ({ path }) =>
  path ? path.replace(/^\/v1/, "").replace(/[^/]{13,}/g, (id) => (/\d/.test(id) ? `${id.slice(0, 6)}…` : id)) : "no such path";

/** @param {number} ms */
const time = (ms) => h("span", { class: "ms" }, ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`);

/** @param {number | undefined} status */
const tone = (status) => (status === undefined ? "soft" : status === 0 || status >= 500 ? "bad" : status >= 400 ? "warn" : "good");

/** @type {import("./panel.js").Tab} */
export const requests = { name: "requests", title: "Requests", read, show };
