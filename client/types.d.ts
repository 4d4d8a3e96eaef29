/** The types of the client's functions, derived from the contract's operations. */
import type { Intention } from "./kept.js";
import type { ChallengeWidget, KnownProblemCode, Registration, paths } from "./openapi.js";
import type { Problem } from "./request.js";

/** Every problem code of this version of the contract, and the client's own: no response came. */
export type ProblemCode = KnownProblemCode | "offline";

export interface Options {
  /** The gateway's origin, such as "https://signup.club.example"; without it, the page's. */
  baseUrl?: string;
  /** "include" if the page has another origin than the gateway. */
  credentials?: RequestCredentials;
  /** The language of the texts, such as "fr"; without it, the browser's. */
  language?: () => string;
  /** More headers of each request. With an `Authorization`, changes are polled: event streams cannot send it. */
  headers?: () => Record<string, string>;
  /** Is called when a request will be sent again, and with null when one has succeeded. */
  onTrouble?: (problem: Problem | null) => void;
  /** Shows a captcha. The request is sent again with the response; without one, it fails. */
  onChallenge?: (challenge: ChallengeWidget) => Promise<string | undefined>;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The paths of the contract that have a method. */
export type PathOf<M extends Method> = { [P in keyof paths]: paths[P] extends { [V in Lowercase<M>]: object } ? P : never }[keyof paths];

export type OperationOf<M extends Method, P extends PathOf<M>> = paths[P] extends { [V in Lowercase<M>]: infer O } ? O : never;

/** The body of an operation's request. */
export type BodyOf<O> = O extends { requestBody: { content: { "application/json": infer B } } } ? B : undefined;

/** The body of an operation's response, where it succeeds. */
export type ResponseOf<O> = O extends { responses: infer R }
  ? { [S in keyof R]: S extends 200 | 201 | 202 ? Content<R[S]> : S extends 204 ? undefined : never }[keyof R]
  : never;

type Content<R> = R extends { content: { "application/json": infer B } } ? B : undefined;

type Needed<Name extends string, T> = [T] extends [never] ? object : object extends T ? { [N in Name]?: T } : { [N in Name]: T };
type PathParameters<O> = O extends { parameters: { path: infer T } } ? Needed<"path", T> : object;
type QueryParameters<O> = O extends { parameters: { query?: infer T } } ? Needed<"query", NonNullable<T>> : object;
type Payload<B> = [B] extends [undefined] ? { intention?: Intention<undefined> } : { body: B } | { intention: Intention<B> };

export type RequestOptions<O> = PathParameters<O> & QueryParameters<O> & Payload<BodyOf<O>> & {
  headers?: Record<string, string>;
  /** Do not retry: for a caller that polls regularly anyway. */
  once?: boolean;
};

type ArgumentsOf<T> = object extends T ? [options?: T] : [options: T];

export interface Client {
  /**
   * Sends a request of the contract. A POST without an intention has a new key.
   * @throws {Problem}
   */
  request<M extends Method, P extends PathOf<M>>(
    method: M, path: P, ...options: ArgumentsOf<RequestOptions<OperationOf<M, P>>>
  ): Promise<ResponseOf<OperationOf<M, P>>>;

  /**
   * Opens the stream of a registration. The browser reconnects after a lost connection. After an invalid response it does not, and
   * `closed` is called. Returns what closes it; undefined where there can be no stream.
   */
  stream(id: string, listener: { changed: (registration: Registration) => void; closed: () => void }): (() => void) | undefined;

  /** How long the gateway asks to wait before the next poll, in ms; 0 unless it is busy. */
  rest(): number;
}

export type * from "./openapi.js";
export type { Problem as ProblemDocument } from "./openapi.js";
export type { Listener } from "./follow.js";
export type { Intention } from "./kept.js";
export * from "./index.js";
export { Problem } from "./request.js";
