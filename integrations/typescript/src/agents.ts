import type { Skein } from "./client.js";
import { refusedWith } from "./errors.js";
import { History, operationNote, type Node } from "./history.js";
import { canonical, messageOf, snapshot } from "./items.js";
import type { Json, NewEvent, NewSession } from "./types.js";

export interface AgentsSessionOptions extends Omit<NewSession, "id" | "key"> {
  client: Skein;
  /** Of the session; it is begun if there is none. */
  id?: string;
  /** The session of this name, such as support:4711; it is begun if there is none. */
  key?: string;
  /** The fencing number of the writer's lease, if it holds one. */
  fence?: () => number | undefined;
}

export type HistoryTransaction<I> = { type: "append_items"; items: I[] } | { type: "replace_suffix"; expectedSuffix: I[]; replacement: I[] };

type FunctionCall<I> = Extract<I, { type: "function_call" }>;

/** How often a change is tried that others' writes get in the way of. */
const maxTries = 50;

/**
 * A `Session` for OpenAI Agents JS that a skein server keeps. Items are stored
 * as messages that people can read and search, each with the item itself.
 * Nothing is ever deleted: popItem and clearSession are rewinds. Every change
 * is one batch, stored whole or not at all, against the state that it was
 * worked out from.
 */
export class AgentsSession<I extends object = any> {
  readonly #o: AgentsSessionOptions;
  #id: Promise<string> | undefined;
  #history = new History();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: AgentsSessionOptions) {
    this.#o = options;
  }

  /** The session's ID on the server, which begins it if need be. */
  getSessionId(): Promise<string> {
    this.#id ??= this.#begin().catch((err: unknown) => {
      this.#id = undefined;
      throw err;
    });
    return this.#id;
  }

  /** The items, or the newest `limit` of them, oldest first. */
  getItems(limit?: number): Promise<I[]> {
    return this.#inTurn(async () => {
      if (limit !== undefined && limit <= 0) return [];
      await this.#refresh();
      return structuredClone(this.#history.newest(limit).items) as I[];
    });
  }

  /** Appends items, all or none. */
  addItems(items: I[]): Promise<void> {
    const events = items.map(eventOf); // before anything can change them
    return this.#inTurn(async () => {
      if (events.length > 0) await this.#append(events);
    });
  }

  /** Takes the newest item back by a rewind, and returns it. */
  popItem(): Promise<I | undefined> {
    return this.#inTurn(async () => {
      let popped: object | undefined;
      await this.#change((h) => {
        popped = h.end?.item;
        return h.end && back(h, h.end.before);
      });
      return structuredClone(popped) as I | undefined;
    });
  }

  /** Goes back to the empty history by a rewind. What was said stays stored. */
  clearSession(): Promise<void> {
    return this.#inTurn(() => this.#change((h) => h.end && back(h, undefined)));
  }

  /** Puts a compaction marker and what it kept in the place of all items. */
  replaceHistoryWithCompaction(items: I[]): Promise<void> {
    const events = items.map(eventOf);
    return this.#inTurn(() => this.#change((h) => [...back(h, undefined), ...events]));
  }

  /** Replaces function calls; what comes behind them is stored again. */
  applyHistoryMutations(args: { mutations: { type: "replace_function_call"; callId: string; replacement: FunctionCall<I> }[] }): Promise<void> {
    const mutations = args.mutations.map((m) => ({ ...m, replacement: snapshot(m.replacement) }));
    return this.#inTurn(() =>
      this.#change((h) => {
        const was = h.newest().items.map((item) => snapshot(item));
        const is = mutations.reduce((items, m) => replaced(items, m.callId, m.replacement), was);
        const same = was.findIndex((item, n) => n >= is.length || canonical(item) !== canonical(is[n]!));
        if (same < 0) return undefined;
        return [...back(h, h.newest(was.length - same).before), ...is.slice(same).map(stored)];
      }),
    );
  }

  /**
   * Changes the history, once for each operation ID: the same transaction
   * again does nothing, another one throws, and so does a suffix that is not
   * there. What throws has changed nothing.
   */
  async applyHistoryTransaction(args: { operationId: string; transaction: HistoryTransaction<I> }): Promise<void> {
    const { operationId } = args;
    const transaction = checked(operationId, args.transaction);
    const sha256 = await hashOf(canonical(transaction));
    const clientID = `openai_agents:${await hashOf(operationId)}`;
    const note: NewEvent = { kind: "noted", client_id: clientID, payload: { name: operationNote, level: "debug", data: { operation: operationId, sha256 } } };
    await this.#inTurn(() =>
      this.#change((h) => {
        const done = h.operations.get(operationId);
        if (done === sha256) return undefined;
        if (done !== undefined) throw new Error(`operation ${JSON.stringify(operationId)} was already applied with a different transaction`);
        const t = transaction as HistoryTransaction<Json & object>;
        const events = t.type === "append_items" ? t.items.map(stored) : [...withoutSuffix(h, t.expectedSuffix), ...t.replacement.map(stored)];
        return [note, ...events];
      }),
    );
  }

  async #begin(): Promise<string> {
    const { client, fence: _, id, key, ...rest } = this.#o;
    const begin = { surface: "api", ...rest, ...(id ? { id } : {}), ...(key ? { key } : {}) };
    const find = async () => (id ? client.session(id) : client.sessionByKey(key!));
    if (id || key) {
      try {
        return (await find()).id;
      } catch (err) {
        if (!refusedWith(err, 404)) throw err;
      }
    }
    try {
      return (await client.createSession(begin)).id;
    } catch (err) {
      if (!(id || key) || !refusedWith(err, 409)) throw err;
      return (await find()).id; // another began it just now
    }
  }

  /** Does one thing after the other, in the order in which they were asked for. */
  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(act);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #refresh(): Promise<void> {
    const id = await this.getSessionId();
    for await (const e of this.#o.client.allEvents(id, this.#history.last, { raw: true })) {
      if (this.#history.take(e)) continue;
      const again = new History();
      for await (const e of this.#o.client.allEvents(id, 0, { raw: true })) again.take(e);
      this.#history = again;
      return;
    }
  }

  async #append(events: NewEvent[], after?: number): Promise<void> {
    const fence = this.#o.fence?.();
    const batch = { events, ...(after === undefined ? {} : { after }), ...(fence === undefined ? {} : { fence }) };
    await this.#o.client.append(await this.getSessionId(), batch);
  }

  /** Appends what `work` makes of the history, if nobody writes in between; else it is asked again. */
  async #change(work: (h: History) => NewEvent[] | undefined): Promise<void> {
    for (let tries = 1; ; tries++) {
      await this.#refresh();
      const events = work(this.#history);
      if (!events?.length) return;
      try {
        return await this.#append(events, this.#history.last);
      } catch (err) {
        const raced = (refusedWith(err, 409) && err.code === "conflict") || refusedWith(err, 422);
        if (!raced || tries >= maxTries) throw err;
      }
    }
  }
}

const stored = (item: Json): NewEvent => ({ kind: "said", payload: messageOf(item) });

const eventOf = (item: object): NewEvent => stored(snapshot(item));

/** Returns the events after which the history ends with `to`. */
function back(h: History, to: Node | undefined): NewEvent[] {
  const again: NewEvent[] = [];
  while (to && h.at(to.seq) !== to) { // in the middle of a message
    again.unshift(eventOf(to.item));
    to = to.before;
  }
  return [{ kind: "rewound", payload: { to: to?.seq ?? 0 } }, ...again];
}

function withoutSuffix(h: History, expected: Json[]): NewEvent[] {
  const { items, before } = h.newest(expected.length);
  if (items.length !== expected.length || items.some((item, n) => canonical(snapshot(item)) !== canonical(expected[n]!))) {
    throw new Error("the history does not end with the suffix that the transaction expects");
  }
  return expected.length > 0 ? back(h, before) : [];
}

function replaced(items: Json[], callId: string, replacement: Json): Json[] {
  let put = false;
  return items.flatMap((item) => {
    const i = item as { type?: string; callId?: string };
    if (i.type !== "function_call" || i.callId !== callId) return [item];
    if (put) return [];
    put = true;
    return [replacement];
  });
}

/** Returns a copy of a transaction that is one. */
function checked(operationId: unknown, transaction: unknown): Json {
  if (typeof operationId !== "string" || operationId.trim() === "") throw new TypeError(`operationId ${JSON.stringify(operationId)}: want text`);
  const t = snapshot(transaction) as { [name: string]: Json };
  const lists: Record<string, string[]> = { append_items: ["items"], replace_suffix: ["expectedSuffix", "replacement"] };
  const names = lists[String(t?.["type"])];
  if (!names) throw new TypeError(`a transaction of type ${JSON.stringify(t?.["type"])}`);
  for (const name of names) {
    const list = t[name];
    if (!Array.isArray(list) || list.some((x) => x === null || typeof x !== "object" || Array.isArray(x))) throw new TypeError(`${name} of a transaction: want a list of items`);
  }
  if (Object.keys(t).length !== names.length + 1) throw new TypeError(`a transaction with the fields ${Object.keys(t).join(", ")}`);
  return t;
}

async function hashOf(text: string): Promise<string> {
  const sum = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(sum), (b) => b.toString(16).padStart(2, "0")).join("");
}
