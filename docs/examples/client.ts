// The typed client. The guide "Build a website" has the commands that make frontdesk.d.ts.
import createClient from "openapi-fetch";
import type { paths } from "./frontdesk.d.ts";

export const api = createClient<paths>({ baseUrl: "http://localhost:8080" });

/** The key of one intention: make it once for what the visitor wants, and send it again with the same request. */
export const intention = () => ({ "Idempotency-Key": crypto.randomUUID() });
