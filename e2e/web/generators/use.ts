// Starts a registration with each generated client: as the contract says, and with a field that it does not know.
import type { z } from "zod";
import * as hey from "./out/hey";
import type { zStartRegistration } from "./out/hey/zod.gen";
import * as oazapfts from "./out/oazapfts";
import type { components } from "./out/openapi-typescript";
import { getFrontdesk } from "./out/orval-axios";
import * as orval from "./out/orval-fetch";
import { useStartRegistration } from "./out/orval-react-query";
import type { StartRegistrationBody } from "./out/orval-zod";
import { Api } from "./out/swagger";
import { createApiClient } from "./out/zodios";
import type { ProblemCode } from "./problem-codes";

const key = "a-key-of-one-intention";
const headers = { "Idempotency-Key": key };

export const types: components["schemas"]["StartRegistration"][] = [
  { clubId: "11" },
  // @ts-expect-error
  { clubId: "11", clubID: "11" },
];

hey.startRegistration({ headers, body: { clubId: "11" } });
// @ts-expect-error
hey.startRegistration({ headers, body: { clubId: "11", clubID: "11" } });

oazapfts.startRegistration(key, { clubId: "11" });
// @ts-expect-error
oazapfts.startRegistration(key, { clubId: "11", clubID: "11" });

orval.startRegistration({ clubId: "11" }, { headers });
// @ts-expect-error
orval.startRegistration({ clubId: "11", clubID: "11" }, { headers });

getFrontdesk().startRegistration({ clubId: "11" }, { headers });
// @ts-expect-error
getFrontdesk().startRegistration({ clubId: "11", clubID: "11" }, { headers });

useStartRegistration().mutate({ data: { clubId: "11" } });
// @ts-expect-error
useStartRegistration().mutate({ data: { clubId: "11", clubID: "11" } });

new Api().v1.startRegistration({ clubId: "11" }, { headers });
// @ts-expect-error
new Api().v1.startRegistration({ clubId: "11", clubID: "11" }, { headers });

createApiClient("/").startRegistration({ clubId: "11" }, { headers });
// @ts-expect-error
createApiClient("/").startRegistration({ clubId: "11", clubID: "11" }, { headers });

export const parsed: (z.input<typeof zStartRegistration> | z.input<typeof StartRegistrationBody>)[] = [
  { clubId: "11" },
  // @ts-expect-error
  { clubId: "11", clubID: "11" },
];

export const codes: ProblemCode[] = [
  "cart_changed",
  // @ts-expect-error
  "cart_change",
];
