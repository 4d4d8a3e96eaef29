/**
 * A front end that stands on another origin than the gateway, as small as one can be.
 *
 * @param {string} gateway its address
 * @param {string} world of the simulator
 * @param {string | undefined} token of a registration; without one the session is a cookie
 */
const frontEnd = (gateway, world, token) => {
  const session = token === undefined ? { "X-Frontdesk-Session": "cookie" } : token && { Authorization: `Bearer ${token}` };
  return async (method, path, body) => {
    const answer = await fetch(gateway + path, {
      method,
      credentials: token === undefined ? "include" : "omit",
      headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID(), "X-Frontdesk-World": world, ...session },
      body: body && JSON.stringify(body),
    });
    return { status: answer.status, ...(await answer.json()) };
  };
};
