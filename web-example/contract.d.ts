/**
 * Names for what this site uses of the contract. The types themselves are in the client's openapi.d.ts, which is generated from
 * /openapi.yaml (make generate), so that they always match what the gateway sends and accepts.
 */
import type { components } from "../client/openapi";

type Schemas = components["schemas"];

export type Config = Schemas["Config"];
export type Money = Schemas["Money"];
export type Club = Schemas["Club"];
export type ClubDetails = Schemas["ClubDetails"];
export type ProductType = Schemas["ProductType"];
export type Product = Schemas["Product"];
export type Offer = Schemas["Offer"];
export type Billing = Schemas["Billing"];
export type DebitDay = Schemas["DebitDay"];
export type Schedule = Schemas["Schedule"];
export type Debit = Schemas["ScheduleDebit"];

export type Person = Schemas["Person"];
export type PersonCorrection = Schemas["PersonCorrection"];
export type Guardian = Schemas["Guardian"];
export type NewItem = Schemas["NewItem"];
export type StartRegistration = Schemas["StartRegistration"];
export type Registration = Schemas["Registration"];
export type ResumeLink = Schemas["ResumeLink"];
export type ActionName = Schemas["ActionName"];
export type Cart = Schemas["Cart"];
export type Essentials = Schemas["OrderEssentials"];
export type NeededAgreement = Schemas["NeededAgreement"];
export type Document = Schemas["Document"];
export type NewMandate = Schemas["NewMandate"];
export type Mandate = Schemas["Mandate"];
export type StartPayment = Schemas["StartCardPayment"] | Schemas["StartLaterPayment"] | Schemas["StartFreePayment"];
export type ChallengeWidget = Schemas["ChallengeWidget"];
export type Payment = Schemas["Payment"];

export type Me = Schemas["Me"];
export type Membership = Schemas["Membership"];
export type RemainingDebits = Schemas["RemainingDebits"];
export type Consent = Schemas["Consent"];
export type ConsentList = Schemas["ConsentList"];
export type ChangeConsents = Schemas["ChangeConsents"];
export type ConsentChanges = Schemas["ConsentChanges"];
export type ConsentChange = Schemas["ConsentChange"];
export type ConsentReceipt = Schemas["ConsentReceipt"];
export type Transfer = Schemas["Transfer"];

export type NewCancellation = Schemas["NewCancellation"];
export type Declaration = Schemas["Declaration"];
export type Statement = Schemas["Statement"];
export type Acknowledgement = Schemas["Acknowledgement"];

/** An RFC 9457 problem document. */
export type ProblemDocument = Schemas["Problem"];
