// The typed client, for a program that keeps the token itself. On a web page, `credentials` take the place of `headers`.
import { createClient } from "@frontdesk/client";

const session = { token: "" };

export const api = createClient({
  baseUrl: "http://localhost:8080",
  headers: (): Record<string, string> => (session.token ? { Authorization: `Bearer ${session.token}` } : {}),
});
export const useToken = (token = "") => { session.token = token; };
