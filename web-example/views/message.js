// @ts-check
/** What the gateway says where the contract has grown by a value that this site does not know. */
import { h, icon } from "../dom.js";

/** @param {import("../contract").Registration} registration */
export const said = ({ message }) => h("p", { class: "notice", "data-message": true }, icon("info"), message.text);
