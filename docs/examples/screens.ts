// What to show, from the types alone. Each switch names every value that this version of the contract has: without one of them,
// this file does not compile. Each default is for the values of a later version.
import type * as api from "./frontdesk.d.ts";

/** The screen of a registration. */
export function screen(registration: api.Registration): string {
  const { cart, contact, mandate, message, payment } = registration;
  const step = registration.step as api.KnownStep;
  switch (step) {
    case "person": return "the form for the buyer's details";
    case "items": return "the offers";
    case "fix_cart": return cart.problems.map(({ text }) => text).join(" ");
    case "mandate": return "the form for the bank account";
    case "code": return `the code for the number that ends in ${contact?.mobileEnding}, ${mandate?.attemptsLeft} attempts left`;
    case "ready": return `${cart.items.map(line).join(", ")}: ${cart.dueNow.amount} cents, ${buttons(registration)}`;
    case "at_processor":
    case "declined": return `${message.text} ${entry(payment?.card)}`;
    case "waiting":
    case "done":
    case "with_staff":
    case "abandoned":
    case "expired": return message.text;
    default: step satisfies never; return `${message.text} ${buttons(registration)}`;
  }
}

/** The buttons for what can be done next, as far as this page knows it. */
function buttons({ next }: api.Registration): string {
  return next.flatMap(({ action, methods = [], latestDueDate }) => {
    const known = action as api.KnownActionName;
    switch (known) {
      case "pay": return methods.flatMap((method) => way(method as api.KnownPaymentMethod, latestDueDate));
      case "person": case "prospect": case "add_item": case "clear_items": case "check": case "mandate": case "sign": case "resend":
      case "cancel_signature": case "cancel_payment": case "consents": case "abandon": return known;
      default: known satisfies never; return [];
    }
  }).join(" or ");
}

/** A way to pay. */
function way(method: api.KnownPaymentMethod, latestDueDate?: string): string[] {
  switch (method) {
    case "card": return ["pay by card"];
    case "later": return [`pay by ${latestDueDate}`];
    case "free": return ["book"];
    case "desk": return ["paid at the desk"];
    default: method satisfies never; return [];
  }
}

/** How the buyer enters a card. */
function entry(card?: api.CardDetails): string {
  const presentation = card?.presentation as api.KnownCardPresentation;
  switch (presentation) {
    case "embedded": return `card fields with ${card?.publishableKey}`;
    case "none": return card?.refunding ? "on its way back" : "";
    default: presentation satisfies never; return card?.redirectUrl ? `go to ${card.redirectUrl}` : "";
  }
}

/** A line of the cart, with a button where it can be removed. */
function line({ id, name, origin }: api.CartItem): string {
  const known = origin as api.KnownCartItemOrigin;
  switch (known) {
    case "chosen": return `${name} [remove ${id}]`;
    case "required": return `${name} (needed)`;
    case "adjustment": return name;
    default: known satisfies never; return name;
  }
}

/** What the page does next when a request is refused. */
export function refused(problem: api.Problem): string {
  if (problem.code === "possible_duplicate_purchase") return "ask"; // yes is the payment with again: true and a new key
  const then = problem.then as api.KnownProblemThen;
  switch (then) {
    case "fix_request": return "report a mistake of the page";
    case "correct_input": return problem.errors?.map(({ text }) => text).join(" ") ?? problem.title;
    case "send_again": return `send it again with the same key, ${problem.retryAfter ?? 0} s from now`;
    case "start_again": return "forget the registration, and start again";
    case "log_in": return "the login";
    case "captcha": return "the captcha, then send it again with the same key";
    case "read_again": return "read the registration, and show its screen";
    default: then satisfies never; return "read the registration, and show its screen";
  }
}
