/**
 * What the gateway sends and takes, as far as this site uses it. The whole contract is /openapi.yaml; the names are
 * the same. Amounts are integers in minor units (cents).
 */

export interface Money {
  amount: number;
  currency: string;
}

export interface Club {
  id: string;
  name: string;
  alias?: string;
  /** Names of the parents, outermost first. */
  path: string[];
}

export type ProductType =
  | "subscription" | "subscription_option" | "badge" | "counter" | "package" | "countermark" | "test_session" | "regular";

export interface Product {
  id: string;
  name: string;
  description?: string;
  type: ProductType;
  offers: Offer[];
}

export interface Offer {
  id: string;
  name: string;
  dueNow: Money;
  registrationFee?: Money & { name?: string };
  billing?: Billing;
  /** ISO 8601 duration. */
  commitment?: string;
  prorated: boolean;
  needs: ("startDate" | "debit" | "mandate")[];
}

export interface Billing {
  /** Time between two debits, ISO 8601 duration. */
  rhythm: string;
  endless: boolean;
  entries: { every: string; price: Money; times?: number }[];
}

export interface DebitDay {
  /** Of the month. */
  day: number;
  /** The next such day. */
  date: string;
}

/** `rules` names why something is not exact; the list is in /openapi.yaml, ScheduleRules. */
export interface Verdict {
  basis: "exact" | "estimated" | "unknown";
  rules?: string[];
}

export interface Debit extends Verdict {
  date: string;
  amount: Money;
}

export interface Schedule extends Verdict {
  offerId: string;
  startDate: string;
  debitDay?: number;
  dueNow: Debit & { parts: { kind: "price" | "registration_fee" | "first_instalment" | "prorata"; name?: string; amount: Money }[] };
  /** Every debit up to the last, or up to the recurrence. */
  debits: Debit[];
  /** Goes on until it is cancelled. */
  recurrence?: Verdict & { from: string; every: string; day?: number; amount: Money };
  /** Absent where it never ends or cannot be told. */
  total?: Money;
  /** From today to the second debit. */
  firstStatement: (Debit & { kind: "due_now" | "debit" })[];
}

export interface Person {
  givenName: string;
  familyName: string;
  birthDate: string;
  email: string;
  mobile: string;
  gender?: "female" | "male" | "other";
  address: { street: string; postalCode: string; city: string; country: string };
}

export interface NewItem {
  offerId: string;
  startDate?: string;
}

export interface NewMandate {
  holder: string;
  iban: string;
  bic?: string;
}

export interface Mandate {
  state: "no_code" | "awaiting_code" | "unconfirmed" | "signed" | "cancelled" | "expired" | "blocked";
  /** Masked. */
  iban: string;
  message?: string;
  /** Present while a code can be entered. */
  attemptsLeft?: number;
  /** RFC 3339; present while a new code can be asked for, from then on. */
  resendAfter?: string;
}

export interface StartRegistration {
  clubId: string;
  person?: Person;
  items?: NewItem[];
  /** From a link of the club, in the place of the person. */
  invitation?: string;
}

export interface Registration {
  id: string;
  clubId: string;
  state: "open" | "paying" | "completed" | "abandoned" | "expired" | "attention";
  message?: string;
  contact?: { number: string; status: string };
  cart: Cart;
  mandate?: Mandate;
  payment?: Payment;
  next: { action: ActionName; method: string; href: string; methods?: PaymentMethod[] }[];
  expiresAt: string;
}

export interface ResumeLink {
  url: string;
  expiresAt: string;
}

export type ActionName = "person" | "prospect" | "mandate" | "sign" | "resend" | "cancel_signature" | "add_item" | "clear_items" | "check" | "pay" | "follow_payment" | "abandon";

export interface Cart {
  items: { offerId?: string; name: string; price: Money; startDate?: string }[];
  dueNow: Money;
  valid: boolean;
  problems: CartProblem[];
  /** `was` is there for another price. */
  changes: { kind: "added" | "price"; name: string; price: Money; was?: Money }[];
  /** The club's system could not be asked for it again. */
  stale?: boolean;
}

export interface CartProblem {
  code: string;
  message: string;
}

export interface Check {
  valid: boolean;
  problems: CartProblem[];
}

export type PaymentMethod = "card" | "later" | "free" | "desk";

export type StartPayment = { method: "card"; returnUrl?: string } | { method: "later"; dueDate: string } | { method: "free" };

export interface Payment {
  id: string;
  method: PaymentMethod;
  state: "requires_action" | "processing" | "recorded" | "declined" | "cancelled" | "in_doubt" | "refunded";
  retry: "never" | "same_key" | "new";
  message?: string;
  amount: Money;
  /** Of the method later. */
  dueDate?: string;
  card?: {
    processor: string;
    redirectUrl?: string;
    clientSecret?: string;
    publishableKey?: string;
    declineCode?: string;
  };
}

/** An RFC 9457 problem document. */
export interface ProblemDocument {
  title: string;
  status: number;
  detail?: string;
  code: string;
  retry: "never" | "same_key" | "after";
  errors?: { pointer: string; message: string }[];
  traceId?: string;
}
