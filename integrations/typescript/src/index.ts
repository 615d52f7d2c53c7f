export { Skein } from "./client.js";
export { SkeinError, refusedWith, type Problem } from "./errors.js";
export type { Options } from "./wire.js";
export type * from "./types.js";
