// @ts-check
/** The client, whole: see README.md. */
export { date, inDays, moment, money, moneyParts } from "./format.js";
export { follow } from "./follow.js";
export { endLeftSessions, endSession, endSessions, forget, intend, isLeft, pending, remember, remembered, settle } from "./kept.js";
export { createClient, Problem } from "./request.js";
