// The typed client. The guide "Build a website" has the commands that generate frontdesk.d.ts.
import createClient from "openapi-fetch";
import type { paths } from "./frontdesk.d.ts";

export const api = createClient<paths>({ baseUrl: "http://localhost:8080" });

/** Returns the key of one intention. Make it once for each action of the visitor, and send it again with the same request. */
export const intention = () => ({ "Idempotency-Key": crypto.randomUUID() });
