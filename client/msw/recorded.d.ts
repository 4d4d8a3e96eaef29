import type { KnownProblemCode, KnownStep, Problem, Registration } from "../openapi.js";

/** What the simulator has answered, by paths, steps and codes. */
declare const recorded: {
  /** When it was recorded. */
  at: string;
  reads: Record<string, object>;
  statuses: Record<string, number>;
  steps: { [S in KnownStep]?: Registration };
  problems: { [C in KnownProblemCode]?: Problem };
};
export default recorded;
