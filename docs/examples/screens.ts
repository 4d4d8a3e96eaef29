// What to show, from the types alone. Each switch names every case: without one of them, this file does not compile.
import type { components } from "./frontdesk.d.ts";

type Schemas = components["schemas"];

/** The screen of a registration. */
export function screen(r: Schemas["Registration"]): string {
  switch (r.step) {
    case "person": return "the form for the buyer's details";
    case "items": return "the offers";
    case "fix_cart": return r.cart.problems.map(({ text }) => text).join(" ");
    case "mandate": return "the form for the bank account";
    case "code": return `the code for the number that ends in ${r.contact?.mobileEnding}, ${r.mandate?.attemptsLeft} attempts left`;
    case "ready": return `${r.cart.items.map(line).join(", ")}: ${r.cart.dueNow.amount} cents, ${buttons(r)}`;
    case "at_processor":
    case "declined": return `${r.message?.text} ${r.payment && entry(r.payment)}`;
    case "waiting":
    case "done":
    case "with_staff":
    case "abandoned":
    case "expired": return r.message?.text ?? r.step;
    default: return never(r.step);
  }
}

/** The buttons that pay. */
function buttons(r: Schemas["Registration"]): string {
  const pay = r.next.find(({ action }) => action === "pay");
  return (pay?.methods ?? []).map((method) => {
    switch (method) {
      case "card": return "pay by card";
      case "later": return `pay by ${pay?.latestDueDate}`;
      case "free": return "book";
      case "desk": return "paid at the desk";
      default: return never(method);
    }
  }).join(" or ");
}

/** How the buyer pays a payment that exists. */
function entry(payment: Schemas["Payment"]): string {
  switch (payment.method) {
    case "later": return `due on ${payment.dueDate}`;
    case "free":
    case "desk": return "";
    case "card": break;
    default: return never(payment);
  }
  switch (payment.card.presentation) {
    case "redirect": return `go to ${payment.card.redirectUrl}`;
    case "embedded": return `card fields with ${payment.card.publishableKey}`;
    case "none": return payment.card.refunding ? "on its way back" : "";
    default: return never(payment.card);
  }
}

/** A line of the cart, with a button where it can be removed. */
function line(item: Schemas["CartItem"]): string {
  switch (item.origin) {
    case "chosen": return `${item.name} [remove ${item.id}]`;
    case "required": return `${item.name} (needed)`;
    case "adjustment": return item.name;
    default: return never(item.origin);
  }
}

/** What the page does next when a request is refused. */
export function refused(problem: Schemas["Problem"]): string {
  if (problem.code === "possible_duplicate_purchase") return "ask"; // yes is the payment with again: true and a new key
  switch (problem.then) {
    case "fix_request": return "report a mistake of the page";
    case "correct_input": return problem.errors?.map(({ text }) => text).join(" ") ?? problem.title;
    case "send_again": return `send it again with the same key, ${problem.retryAfter ?? 0} s from now`;
    case "read_again": return "read the registration, and show its screen";
    case "start_again": return "forget the registration, and start again";
    case "log_in": return "the login";
    case "captcha": return "the captcha, then send it again with the same key";
    default: return never(problem.then);
  }
}

function never(value: never): never {
  throw new Error(`a value of a later contract: ${JSON.stringify(value)}`);
}
