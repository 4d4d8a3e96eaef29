// What to show, from the types alone. Each switch names every value that this version of the contract has: without one of them,
// this file does not compile. Each default is for the values of a later version.
import type * as api from "@frontdesk/client";

/** The screen of a registration. */
export function screen(registration: api.Registration): string {
  const { cart, contact, mandate, message, payment, step } = registration;
  switch (step) {
    case "person": return "the form for the buyer's details";
    case "items": return "the offers";
    case "fix_cart": return cart.problems.map(({ text }) => text).join(" ");
    case "guardian": return `${message.text} The form for the guardian`;
    case "mandate": return "the form for the bank account";
    case "code":
      if (!mandate?.attemptsLeft) return `${message.text} ${buttons(registration)}`; // such as for another code
      return `the code for the number that ends in ${contact?.mobileEnding}, ${mandate.attemptsLeft} attempts left`;
    case "ready": return `${cart.items.map(line).join(", ")}: ${cart.dueNow.amount} cents, ${buttons(registration)}`;
    case "at_processor":
    case "declined": return `${message.text} ${payment?.card ? entry(payment.card) : ""}`;
    case "waiting":
    case "done":
    case "with_staff":
    case "abandoned":
    case "expired": return message.text;
    default: step satisfies api.Later; return `${message.text} ${buttons(registration)}`;
  }
}

/** The buttons for what can be done next, as far as this page knows it. */
function buttons({ next, order }: api.Registration): string {
  return next.flatMap(({ action, methods = [], latestDueDate }) => {
    switch (action) {
      case "pay": return methods.flatMap((method) => way(method, order, latestDueDate));
      case "person": case "guardian": case "prospect": case "add_item": case "clear_items": case "check": case "mandate": case "sign": case "resend":
      case "cancel_signature": case "cancel_payment": case "consents": case "abandon": return action;
      default: action satisfies api.Later; return [];
    }
  }).join(" or ");
}

/** A way to pay. */
function way(method: api.Payment["method"], order?: api.Order, latestDueDate?: string): string[] {
  switch (method) {
    case "card": return [`${orderWords(order?.button)} (pay by card)`];
    case "later": return [`Order with obligation to pay (by ${latestDueDate})`];
    case "free": return [orderWords(order?.button)];
    case "desk": return ["paid at the desk"];
    default: method satisfies api.Later; return [];
  }
}

/** The words of the button that orders. The terms in `order.essentials` stand directly above it. */
function orderWords(button?: api.Order["button"]): string {
  switch (button) {
    case "pay_now": return "Pay now";
    case "free": return "Sign up for free";
    case "order_with_obligation_to_pay":
    case undefined: return "Order with obligation to pay";
    default: button satisfies api.Later; return "Order with obligation to pay";
  }
}

/** How the buyer enters a card. */
function entry({ presentation, publishableKey, redirectUrl, refunding }: api.CardDetails): string {
  switch (presentation) {
    case "embedded": return `card fields with ${publishableKey}`;
    case "none": return refunding ? "on its way back" : "";
    default: presentation satisfies api.Later; return redirectUrl ? `go to ${redirectUrl}` : "";
  }
}

/** A line of the cart, with a button where it can be removed. */
function line({ id, name, origin }: api.CartItem): string {
  switch (origin) {
    case "chosen": return `${name} [remove ${id}]`;
    case "required": return `${name} (needed)`;
    case "adjustment": return name;
    default: origin satisfies api.Later; return name;
  }
}
