// @ts-check
/** The links back from a step to the one before it. */
import { h, icon } from "../dom.js";
import { linkTo } from "../route.js";
import { text } from "../text.js";

/**
 * @param {import("../route.js").Place} place
 * @param {string} [words]
 */
export const backTo = (place, words = text.back) => h("a", { class: "back", href: linkTo(place) }, icon("back"), words);

/** @param {import("../contract").Registration} registration */
export const backToCart = (registration) => backTo({ registration: registration.id, step: "cart" }, text.cart.headingOrder);

/** The link back from a step of the member's page. */
export const backToMe = () => backTo({ me: true });
