import type { Skein } from "./client.js";
import { clientID, entryOf, eventsOf, type Entry } from "./entries.js";
import { refusedWith } from "./errors.js";
import type { NewEvent, Session } from "./types.js";

/** Names a transcript; with a subpath, one of a sub-agent. */
export interface SessionKey {
  projectKey: string;
  sessionId: string;
  subpath?: string;
}

const surface = "claude-agent-sdk";

/** How long a name in a key may be before a hash stands for it. */
const maxName = 39;

/** How often an append is tried that others' writes get in the way of. */
const maxTries = 20;

/**
 * A `SessionStore` for the Claude Agent SDK that a skein server keeps. Each
 * transcript is a session: its lines are messages that people can read and
 * search, each with the line itself; sub-agents' hang on their parent's.
 * A line whose uuid the session has is not stored again. Deleted ones are in
 * the bin. A rewind hides the lines that came after.
 */
export class ClaudeSessionStore {
  readonly #client: Skein;
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(o: { client: Skein }) {
    this.#client = o.client;
  }

  /** Appends lines, all or none, in the order of the calls. */
  async append(key: SessionKey, entries: Entry[]): Promise<void> {
    const lines = structuredClone(entries);
    const name = await nameOf(key);
    const turn = (this.#turns.get(name) ?? Promise.resolve()).catch(() => undefined).then(() => this.#append(key, name, lines));
    this.#turns.set(name, turn);
    try {
      await turn;
    } finally {
      if (this.#turns.get(name) === turn) this.#turns.delete(name);
    }
  }

  /** All lines; null if none was ever written. */
  async load(key: SessionKey): Promise<Entry[] | null> {
    const s = await this.#find(await nameOf(key));
    if (!s) return null;
    type Node = { entry: Entry; before: Node | undefined };
    let end: Node | undefined;
    const states: { seq: number; end: Node | undefined }[] = [];
    for await (const e of this.#client.allEvents(s.id, 0, { raw: true })) {
      const entry = entryOf(e);
      if (entry) end = { entry, before: end };
      else if (e.kind === "rewound") end = states.findLast((x) => x.seq <= Number(e.payload.to))?.end;
      else continue;
      states.push({ seq: e.seq, end });
    }
    const out: Entry[] = [];
    for (let n = end; n; n = n.before) out.push(n.entry);
    return states.length > 0 ? out.reverse() : null;
  }

  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    const prefix = `claude:${await short(projectKey)}/`;
    const out: { sessionId: string; mtime: number }[] = [];
    for await (const s of this.#client.allSessions({ surface, no_children: true, limit: 1000 })) {
      const sessionId = s.key?.startsWith(prefix) && (await this.#long(s, s.key.slice(prefix.length), "sessionId"));
      if (sessionId) out.push({ sessionId, mtime: Date.parse(String(s["updated_at"])) || 0 });
    }
    return out;
  }

  /** The subpaths of a session. */
  async listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]> {
    const name = await nameOf({ projectKey: key.projectKey, sessionId: key.sessionId });
    const main = await this.#find(name);
    if (!main) return [];
    const out: string[] = [];
    for await (const s of this.#client.allSessions({ surface, parent: main.id, limit: 1000 })) {
      if (s.key?.startsWith(`${name}/`)) out.push(await this.#long(s, s.key.slice(name.length + 1), "subpath"));
    }
    return out.sort();
  }

  /** Puts a transcript in the bin; a main one with those of its sub-agents. */
  async delete(key: SessionKey): Promise<void> {
    const s = await this.#find(await nameOf(key));
    if (!s) return;
    if (key.subpath === undefined) {
      for (const subpath of await this.listSubkeys(key)) await this.delete({ ...key, subpath });
    }
    await this.#client.bin(s.id);
  }

  async #find(name: string): Promise<Session | undefined> {
    try {
      return await this.#client.sessionByKey(name);
    } catch (err) {
      if (refusedWith(err, 404)) return undefined;
      throw err;
    }
  }

  async #append(key: SessionKey, name: string, entries: Entry[]): Promise<void> {
    if (entries.length === 0) return;
    for (let tries = 1; ; tries++) {
      const id = (await this.#find(name))?.id ?? (await this.#begin(key, name, entries));
      if (id === undefined && tries < maxTries) continue; // another just began it
      try {
        const events = await this.#news(id!, entries, tries > 1);
        if (events.length > 0) await this.#client.append(id!, { events });
        return;
      } catch (err) {
        // a line with one of these uuids is there and has other content: that one stays
        if (!refusedWith(err, 422) || tries >= maxTries) throw err;
      }
    }
  }

  /** Begins the session; undefined if another just did. */
  async #begin(key: SessionKey, name: string, entries: Entry[]): Promise<string | undefined> {
    const id = crypto.randomUUID();
    const cwd = entries.map((e) => e["cwd"]).find((d): d is string => typeof d === "string" && d !== "");
    const created: Record<string, unknown> = { key: name, surface, agent: "claude-code", program: surface, config: { claude: key }, ...(cwd ? { cwd, project: cwd } : {}) };
    if (key.subpath !== undefined) {
      const { subpath: _, ...main } = key;
      const of = await nameOf(main);
      const parent = (await this.#find(of))?.id ?? (await this.#begin(main, of, entries)) ?? (await this.#find(of))?.id;
      created["parent"] = { session: parent, why: "child" };
    }
    const time = entries.map(timeOf).find((t) => t !== undefined);
    try {
      await this.#client.append(id, { after: -1, events: [{ kind: "created", ...(time ? { time } : {}), payload: created }] });
      return id;
    } catch (err) {
      if (refusedWith(err, 409)) return undefined;
      throw err;
    }
  }

  /** Returns the events of lines; if need be without those whose uuid is there. */
  async #news(id: string, entries: Entry[], look: boolean): Promise<NewEvent[]> {
    const there = new Set<string>();
    if (look) for await (const e of this.#client.allEvents(id)) if (e.client_id) there.add(e.client_id);
    let time = entries.map(timeOf).find((t) => t !== undefined);
    const events: NewEvent[] = [];
    for (const e of entries) {
      time = timeOf(e) ?? time;
      const client = clientID(e);
      if (client !== undefined && there.has(client)) continue;
      if (client !== undefined) there.add(client);
      events.push(...eventsOf(e, time));
    }
    return events;
  }

  /** Returns a name that a key has, or a hash of it. */
  async #long(s: Session, name: string, field: "sessionId" | "subpath"): Promise<string> {
    if (!name.startsWith("=")) return decodeURIComponent(name);
    const { items } = await this.#client.events(s.id, { limit: 1, raw: true });
    return String(items[0]?.payload.config?.claude?.[field] ?? "");
  }
}

function timeOf(e: Entry): string | undefined {
  const ms = typeof e.timestamp === "string" ? Date.parse(e.timestamp) : NaN;
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

/** Returns the key of the session that holds a transcript. */
async function nameOf(key: SessionKey): Promise<string> {
  const names = [key.projectKey, key.sessionId, ...(key.subpath === undefined ? [] : [key.subpath])];
  return `claude:${(await Promise.all(names.map(short))).join("/")}`;
}

async function short(name: string): Promise<string> {
  const escaped = encodeURIComponent(name.toWellFormed());
  if (escaped.length <= maxName) return escaped;
  const sum = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(name));
  return `=${Array.from(new Uint8Array(sum), (b) => b.toString(16).padStart(2, "0")).join("").slice(0, maxName - 1)}`;
}
