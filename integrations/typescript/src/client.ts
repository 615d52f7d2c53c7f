import { SkeinError, type Problem } from "./errors.js";
import { elements, members, readEvent, writeEvent } from "./json.js";
import { frames, type Frame } from "./sse.js";
import type {
  Appended, Batch, BlamedLines, Entry, Event, FileEdit, Found, Lease, LineReason, ModelContext, NewSession, Now, NowQuery, Page, Role, SearchQuery, Session,
  SessionChange, SessionQuery, StreamEvent, UsageLine, UsageQuery,
} from "./types.js";
import { passing, pause, Wire, type Options } from "./wire.js";

/**
 * A client of a skein server. Whatever it writes carries IDs of its own, so
 * that a request whose answer got lost is sent again and done once. Methods
 * throw {@link SkeinError} where the server refuses, and what `fetch` throws
 * where it cannot be reached.
 */
export class Skein {
  readonly #wire: Wire;

  constructor(options: Options) {
    this.#wire = new Wire(options);
  }

  /** Begins a session. Lists leave it out until something is said in it. */
  createSession(session: NewSession = {}, o: { idempotencyKey?: string } = {}): Promise<{ id: string }> {
    return this.#post("/v1/sessions", session, o.idempotencyKey);
  }

  session(id: string): Promise<Session> {
    return this.#wire.json(`/v1/sessions/${seg(id)}`);
  }

  sessionByKey(key: string): Promise<Session> {
    return this.#wire.json(`/v1/keys/${seg(key)}`);
  }

  /** Find a session by any of its names. */
  resolve(name: string): Promise<Session> {
    return this.#wire.json("/v1/resolve", { query: { name } });
  }

  /** A page of sessions, the latest first. */
  sessions(query: SessionQuery = {}): Promise<Page<Session>> {
    return this.#wire.json("/v1/sessions", { query });
  }

  /** All sessions that the query lets through, page by page. */
  async *allSessions(query: SessionQuery = {}): AsyncGenerator<Session> {
    for (let page = await this.sessions(query); ; page = await this.sessions({ ...query, cursor: page.next_cursor! })) {
      yield* page.items;
      if (!page.next_cursor) return;
    }
  }

  changeSession(id: string, change: SessionChange, o: { ifMatch?: string } = {}): Promise<Session> {
    const headers: Record<string, string> = o.ifMatch ? { "If-Match": o.ifMatch } : {};
    return this.#wire.json(`/v1/sessions/${seg(id)}`, { method: "PATCH", body: JSON.stringify(change), headers, once: o.ifMatch !== undefined });
  }

  /** Begins a session with the first part of another. */
  fork(id: string, at: { seq?: number; turn?: number; id?: string; title?: string }): Promise<{ id: string; parent: string; seq: number }> {
    return this.#post(`/v1/sessions/${seg(id)}/fork`, at);
  }

  /** Goes back to an earlier place: what lies between stays stored. */
  rewind(id: string, to: { seq?: number; turn?: number; after?: number; fence?: number }): Promise<{ seq: number; to: number }> {
    return this.#post(`/v1/sessions/${seg(id)}/rewind`, to);
  }

  /** Puts a session in the bin; nothing is lost. */
  async bin(id: string): Promise<void> {
    await this.#wire.text(`/v1/sessions/${seg(id)}`, { method: "DELETE" });
  }

  async restore(id: string): Promise<void> {
    await this.#wire.text(`/v1/sessions/${seg(id)}/restore`, { method: "POST" });
  }

  /** Says one message; `append` takes whole messages, in batches. */
  say(id: string, role: Role, text: string, o: { client_id?: string; fence?: number } = {}): Promise<{ seq: number }> {
    return this.#post(`/v1/sessions/${seg(id)}/messages`, { role, text, client_id: o.client_id ?? crypto.randomUUID(), fence: o.fence });
  }

  /** The newest messages of a session, oldest first; the cursor leads further back. */
  messages(id: string, query: { limit?: number; cursor?: string; raw?: boolean } = {}): Promise<Page<Entry>> {
    return this.#wire.json(`/v1/sessions/${seg(id)}/messages`, { query });
  }

  /**
   * Appends events, all or none; when it returns they are on disk. The first
   * event of a session is `created`.
   */
  async append(id: string, batch: Batch): Promise<Appended> {
    const events = batch.events.map((e) => writeEvent({ ...e, client_id: e.client_id ?? crypto.randomUUID() }));
    const blobs = batch.blobs?.map((b) => ({ hash: b.hash, data: base64(b.data) }));
    const head = JSON.stringify({ after: batch.after, fence: batch.fence, blobs }).slice(0, -1);
    const body = `${head}${head === "{" ? "" : ","}"events":[${events.join(",")}]}`;
    return this.#wire.json(`/v1/sessions/${seg(id)}/events`, { method: "POST", body });
  }

  /**
   * A page of events: after a place, or the last ones before one. With `raw` also
   * what looks like a secret in them: that wants a token with the scope read:raw.
   */
  async events(id: string, query: { after?: number; before?: number; limit?: number; cursor?: string; raw?: boolean } = {}): Promise<Page<Event>> {
    const page: Page<Event> = { items: [] };
    for (const [name, value] of members(await this.#wire.text(`/v1/sessions/${seg(id)}/events`, { query }))) {
      if (name === "items") page.items = elements(value).map(readEvent);
      if (name === "next_cursor") page.next_cursor = JSON.parse(value) as string;
    }
    return page;
  }

  /** All events after a place; with `raw` also what looks like a secret in them. */
  async *allEvents(id: string, after = 0, o: { raw?: boolean } = {}): AsyncGenerator<Event> {
    for (let page = await this.events(id, { after, ...o }); ; page = await this.events(id, { cursor: page.next_cursor!, ...o })) {
      yield* page.items;
      if (!page.next_cursor) return;
    }
  }

  /** What a model is shown next, by the rules of a provider. */
  context(id: string, query: { provider?: string; model?: string; newest?: number; raw?: boolean } = {}): Promise<ModelContext> {
    return this.#wire.json(`/v1/sessions/${seg(id)}/events`, { query: { ...query, view: "context" } });
  }

  /**
   * Yields the events of a session after a place, and then those that come,
   * until the signal is aborted or the caller stops. A connection that breaks
   * is taken up again: no event is missing, none comes twice.
   */
  async *follow(id: string, o: { after?: number; raw?: boolean; signal?: AbortSignal } = {}): AsyncGenerator<Event> {
    const query = { follow: 1, after: o.after, raw: o.raw };
    for await (const f of this.#frames(`/v1/sessions/${seg(id)}/events`, query, o.signal)) yield readEvent(f.data);
  }

  /**
   * Yields what happens in all sessions: from a cursor, from `now`, or from
   * the first event there is. `onCursor` is told every cursor, the one of the
   * moment in which a stream from now began too.
   */
  async *stream(o: { from?: string; raw?: boolean; signal?: AbortSignal; onCursor?: (cursor: string) => void } = {}): AsyncGenerator<StreamEvent> {
    for await (const f of this.#frames("/v1/stream", { from: o.from, raw: o.raw }, o.signal)) {
      if (f.event === "ready") {
        o.onCursor?.(f.id);
        continue;
      }
      const e: StreamEvent = { cursor: f.id, session: "", user: "", event: { seq: 0, time: "", kind: "", payload: {}, raw: "{}" } };
      for (const [name, value] of members(f.data)) {
        if (name === "event") e.event = readEvent(value);
        else if (name === "session" || name === "user") e[name] = JSON.parse(value) as string;
      }
      yield e;
      o.onCursor?.(f.id);
    }
  }

  /** What each session is doing: those that wait for a person first. */
  now(query: NowQuery = {}): Promise<{ items: Now[] }> {
    return this.#wire.json("/v1/now", { query });
  }

  /** Yields what each session is doing, and again when that changes. */
  async *watchNow(query: NowQuery = {}, signal?: AbortSignal): AsyncGenerator<Now> {
    for await (const f of this.#frames("/v1/now/stream", query, signal)) yield JSON.parse(f.data) as Now;
  }

  /** Search messages, best match first. */
  search(q: string, query: SearchQuery = {}): Promise<Found> {
    return this.#wire.json("/v1/search", { query: { ...query, q } });
  }

  /** What a session did to files, in order. */
  changes(id: string, query: { limit?: number; cursor?: string; raw?: boolean } = {}): Promise<Page<FileEdit>> {
    return this.#wire.json(`/v1/sessions/${seg(id)}/changes`, { query });
  }

  /** What the sessions of a repository did to a file, the newest first. */
  fileHistory(path: string, query: { project?: string; repository?: string; limit?: number; cursor?: string; raw?: boolean }): Promise<Page<FileEdit> & { path: string }> {
    return this.#wire.json("/v1/files/history", { query: { ...query, path } });
  }

  /** Which session wrote each line of a file; the project is a folder on the server's machine. */
  blame(project: string, file: string, query: { first?: number; last?: number; revision?: string } = {}): Promise<{ file: string; items: BlamedLines[] }> {
    return this.#wire.json("/v1/files/blame", { query: { ...query, project, file } });
  }

  /** Why a line of a file is there. */
  why(project: string, file: string, line: number, query: { revision?: string } = {}): Promise<LineReason> {
    return this.#wire.json("/v1/files/why", { query: { ...query, project, file, line } });
  }

  usage(query: UsageQuery = {}): Promise<{ items: UsageLine[]; prices_of?: string }> {
    return this.#wire.json("/v1/usage", { query });
  }

  /** Takes the right to write to a session; 409 `locked` if another has it. ttl: 30s, 5m. */
  acquireLease(id: string, o: { program?: string; ttl?: string; take_over?: boolean } = {}): Promise<Lease> {
    return this.#wire.json(`/v1/sessions/${seg(id)}/lease`, { method: "POST", body: JSON.stringify(o), once: true });
  }

  renewLease(id: string, fence: number, ttl?: string): Promise<Lease> {
    return this.#wire.json(`/v1/sessions/${seg(id)}/lease/renew`, { method: "POST", body: JSON.stringify({ fence, ttl }) });
  }

  async releaseLease(id: string, fence: number): Promise<void> {
    await this.#wire.text(`/v1/sessions/${seg(id)}/lease`, { method: "DELETE", query: { fence } });
  }

  blob(id: string, hash: string): Promise<Uint8Array> {
    return this.#wire.bytes(`/v1/sessions/${seg(id)}/blobs/${seg(hash)}`);
  }

  #post<T>(path: string, body: unknown, key: string = crypto.randomUUID()): Promise<T> {
    return this.#wire.json(path, { method: "POST", body: JSON.stringify(body), headers: { "Idempotency-Key": key } });
  }

  /** Yields the frames of a stream, over as many connections as it takes. */
  async *#frames(path: string, query: object, signal?: AbortSignal): AsyncGenerator<Frame> {
    let last = "";
    const all = new AbortController(); // ends the connection when the caller stops
    const both = signal ? AbortSignal.any([signal, all.signal]) : all.signal;
    try {
      for (let tries = 0; !both.aborted; tries++) {
        try {
          const headers: Record<string, string> = last ? { "Last-Event-ID": last } : {};
          for await (const f of frames(await this.#wire.stream(path, { query, headers, signal: both }))) {
            if (f.event === "problem") throw new SkeinError(JSON.parse(f.data) as Problem, `GET ${path}`);
            tries = 0;
            if (f.id) last = f.id;
            yield f;
          }
          await pause(tries, undefined, both);
        } catch (err) {
          if (both.aborted) return;
          if (!passing(err) || tries >= this.#wire.retries) throw err;
          await pause(tries, err, both).catch(() => undefined);
        }
      }
    } finally {
      all.abort();
    }
  }
}

/** Makes of an ID a piece of a path. */
function seg(id: string): string {
  if (id === "" || id === "." || id === "..") throw new TypeError(`${JSON.stringify(id)} is no ID`);
  return encodeURIComponent(id);
}

function base64(data: Uint8Array): string {
  let s = "";
  for (let i = 0; i < data.length; i += 0x8000) s += String.fromCharCode(...data.subarray(i, i + 0x8000));
  return btoa(s);
}
