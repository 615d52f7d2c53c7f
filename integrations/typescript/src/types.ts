/** Any value that JSON can hold. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** A piece of a message; `kind` says which of the others are there. */
export interface Part {
  kind: "text" | "reasoning" | "call" | "result" | "file" | "summary" | "agent" | "other" | (string & {});
  text?: string;
  call?: { id: string; name: string; input?: unknown };
  result?: { call_id: string; name?: string; text?: string; failed?: boolean; raw?: unknown; files?: FileRef[] };
  file?: FileRef;
  raw?: unknown;
  synthetic?: boolean;
  meta?: unknown;
}

/** An attachment: its bytes are a blob of the session, or elsewhere. */
export interface FileRef {
  name?: string;
  media?: string;
  blob?: string;
  size?: number;
  url?: string;
}

export type Role = "user" | "assistant" | "tool" | "system" | "steer";

/** What one speaker said: the payload of an event of kind `said`. */
export interface Message {
  id?: string;
  role: Role;
  parts: Part[];
  provider?: string;
  model?: string;
  agent?: string;
  request?: string;
  /** Service tier: batch, flex, priority or fast; not there for the usual one. */
  tier?: string;
  usage?: Record<string, number>;
  stop?: string;
  synthetic?: boolean;
  interrupted?: boolean;
  meta?: unknown;
}

/** A message and where it stands. */
export interface Entry {
  seq: number;
  turn: number;
  time: string;
  message: Message;
  /** It only stands in for a message that cannot be read as it was written, and says why. */
  damaged?: boolean;
  /** How far its tool calls came, in order. */
  calls?: CallState[];
  [more: string]: unknown;
}

/** How far a tool call came. */
export interface CallState {
  id: string;
  /** pending, running, completed, error, uncertain, or open: nothing tells. Left out where nobody looked far enough. */
  state?: string;
  /** The seq of the message with its result. */
  result?: number;
}

/** An event that is to be stored. */
export interface NewEvent {
  kind: string;
  /** RFC 3339; the server's clock if it is left out. */
  time?: string;
  /** The same one twice is one event; one is made if it is left out. */
  client_id?: string;
  /** An object. */
  payload?: unknown;
  /** The payload as the exact JSON text that is to be kept, instead of `payload`. */
  raw?: string;
}

/** An event of a session. */
export interface Event {
  seq: number;
  /** UTC; "" if it is not known. */
  time: string;
  kind: string;
  client_id?: string;
  /** It only stands in for an event that cannot be read as it was written, and says why. */
  damaged?: boolean;
  payload: any;
  /** The payload's text as it is stored, to the byte. */
  raw: string;
  /** The payload's bytes in base64, where they are no UTF-8 text. */
  payload64?: string;
}

/** An event among those of all sessions. */
export interface StreamEvent {
  /** Goes into `from` to take up behind this event. */
  cursor: string;
  session: string;
  user: string;
  event: Event;
}

export interface Batch {
  events: NewEvent[];
  /** The last seq that the writer saw: 409 if the session has moved on. -1: it must not have begun. */
  after?: number;
  /** Of the writer's lease. */
  fence?: number;
  blobs?: { hash: string; data: Uint8Array }[];
}

export interface Appended {
  /** Places of the events, new or stored before. */
  seqs: number[];
  /** Where the session ends now. */
  last: number;
  /** How many of the events are new. */
  new: number;
}

/** The repository that a session is about, and what is checked out. */
export interface Checkout {
  /** The same in every clone: github.com/owner/name, or "root:" and the hash of the first commit. */
  repository?: string;
  branch?: string;
  commit?: string;
  worktree?: string;
  /** Path of the working directory below the working tree. */
  subfolder?: string;
  /** Name of the machine. */
  host?: string;
  /** Names of the fields that no record of an imported session said, with spaces between them. */
  looked_up?: string;
}

export interface NewSession {
  id?: string;
  key?: string;
  title?: string;
  surface?: string;
  project?: string;
  cwd?: string;
  checkout?: Checkout;
  agent?: string;
  profile?: string;
  provider?: string;
  model?: string;
  parent?: { session: string; seq?: number; why: "child" | "continuation"; call?: string };
}

/** A session, without its messages. */
export interface Session {
  id: string;
  name: string;
  key?: string;
  title?: string;
  description?: string;
  agent?: string;
  model?: string;
  project?: string;
  checkout?: Checkout;
  tags?: string[];
  pinned?: boolean;
  [more: string]: any;
}

/** What PATCH changes; what is left out stays. */
export interface SessionChange {
  title?: string;
  description?: string;
  key?: string;
  pinned?: boolean;
  tags?: string[];
  agent?: string;
  provider?: string;
  model?: string;
  profile?: string;
  project?: string;
  cwd?: string;
  status?: string;
}

export interface Page<T> {
  items: T[];
  /** Goes into `cursor` for the next page; left out on the last one. */
  next_cursor?: string;
}

/** Filters of a list of sessions; see /v1/docs of a server for each. */
export interface SessionQuery {
  user?: string;
  key?: string;
  project?: string;
  /** With project: sessions of either. */
  repository?: string;
  agent?: string;
  profile?: string;
  model?: string;
  origin?: string;
  born?: boolean;
  surface?: string;
  tag?: string;
  pinned?: boolean;
  parent?: string;
  no_children?: boolean;
  bin?: boolean;
  since?: string;
  until?: string;
  id_prefix?: string;
  id_suffix?: string;
  title?: string;
  larger_than?: number;
  include_empty?: boolean;
  open_calls?: boolean;
  limit?: number;
  cursor?: string;
}

export interface SearchQuery {
  mode?: "words" | "substring" | "regex";
  session?: string;
  role?: Role;
  agent?: string;
  project?: string;
  origin?: string;
  tool?: string;
  file?: string;
  failed?: boolean;
  rewound?: boolean;
  since?: string;
  until?: string;
  each?: boolean;
  limit?: number;
  deadline_ms?: number;
  raw?: boolean;
}

export interface Hit {
  session: string;
  seq: number;
  turn: number;
  role?: Role;
  time: string;
  score: number;
  count: number;
  rewound?: boolean;
  name: string;
  agent?: string;
  project?: string;
  /** Its texts, one after the other, are the snippet. */
  snippet: { text: string; match?: boolean }[];
}

export interface Found {
  items: Hit[];
  /** The deadline came first: there may be better ones. */
  cut_off: boolean;
  /** If nothing was found: a query that finds something and differs by a letter in some words. */
  did_you_mean?: string;
  facets: Record<string, { value: string; count: number }[]>;
}

/** What a call of a session did to a file. */
export interface FileEdit {
  /** From the root of the repository on; absolute, if the file is not known to be in it. */
  path: string;
  /** The path before, if the call moved the file. */
  from?: string;
  session: string;
  /** Of the session. */
  name: string;
  agent?: string;
  model?: string;
  seq: number;
  turn: number;
  time: string;
  call: string;
  /** The call wrote all of the file: what it removed is not known. */
  whole?: boolean;
  deleted?: boolean;
  /** Lines, without their ends. */
  added: string[];
  removed: string[];
}

/** Lines of a file that follow each other, and who wrote them. */
export interface BlamedLines {
  first: number;
  last: number;
  /** Left out if they are not committed. */
  commit?: string;
  author?: string;
  /** How it is known; earlier and file are only hints. */
  certainty?: "exact" | "partial" | "note" | "moved" | "commit" | "earlier" | "file";
  session?: string;
  name?: string;
  agent?: string;
  model?: string;
  seq?: number;
  turn?: number;
  call?: string;
  written_at?: string;
  /** The first words of the turn. */
  prompt?: string;
}

/** Why a line is there. */
export interface LineReason extends BlamedLines {
  /** All of the prompt. */
  asked?: string;
  /** What the model said before the edit. */
  said?: string;
  removed?: string[];
  added?: string[];
}

export interface UsageQuery {
  by?: "day" | "model" | "agent" | "project" | "repository" | "session";
  user?: string;
  session?: string;
  project?: string;
  /** With project: what belongs to either. */
  repository?: string;
  agent?: string;
  since?: string;
  until?: string;
  zone?: string;
  limit?: number;
}

export interface UsageLine {
  of: string;
  name?: string;
  requests: number;
  input: number;
  output: number;
  reasoning: number;
  cache_read: number;
  cache_write: number;
  /** Part of cache_write: for an hour. */
  cache_hour: number;
  /** null if some of it has no known price. */
  cost_usd: number | null;
  priced_usd: number;
  /** What the programs themselves recorded as its cost, of as much of it as they did. */
  recorded_usd?: number;
  /** What the requests whose cost was recorded cost by our prices. */
  recorded_priced_usd?: number;
  unpriced_models?: string[];
}

export interface Lease {
  session: string;
  /** Goes with every write of its holder. */
  fence: number;
  holder: { program?: string; since?: string };
  /** On the server's clock. */
  expires_at?: string;
}

/** What a model is shown next. */
export interface ModelContext {
  messages: Message[];
  seqs: number[];
  opaque?: unknown;
  compacted?: number;
  repairs?: { seq: number; kind: string; detail?: string }[];
}

/** Which sessions to tell about. */
export interface NowQuery {
  /** Only sessions active since then: 3h, 2d, 2026-11-21; by default 12h. */
  since?: string;
  user?: string;
  agent?: string;
  /** Exact path. */
  project?: string;
  /** Several are separated by commas. */
  state?: string;
  children?: boolean;
}

/** What a session is doing. */
export interface Now {
  id: string;
  name: string;
  state: "working" | "waiting" | "idle" | "failed" | "ended";
  /** When that began; for a tool, when it was called. */
  since?: string;
  /** The tool that was called and has no result yet. */
  tool?: string;
  /** What a waiting session asks a person. */
  asks?: "permission" | "question";
  /** The question or the error. */
  text?: string;
  /** Why, if the events do not say it. */
  reason?: "died" | "silent" | "growth";
  user?: string;
  agent?: string;
  model?: string;
  project?: string;
  branch?: string;
  host?: string;
  origin?: string;
  parent?: string;
  updated_at?: string;
}
