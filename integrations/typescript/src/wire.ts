import { problemOf, SkeinError, type Problem } from "./errors.js";

export interface Options {
  /** Where the server is; http://127.0.0.1:7433 if it is left out. */
  url?: string;
  /** `skein token path` names the file whose first line is one. */
  token: string;
  /** How often a request is sent again that got no answer, or 429 or 503; 4 if it is left out. */
  retries?: number;
  /** Milliseconds for one answer; 60,000 if it is left out. Streams have no end. */
  timeout?: number;
  fetch?: typeof fetch;
}

export interface Request {
  method?: "GET" | "POST" | "PATCH" | "DELETE";
  query?: object;
  /** JSON text. */
  body?: string;
  headers?: Record<string, string>;
  /** That it may not be sent again. */
  once?: boolean;
  signal?: AbortSignal | undefined;
}

/** Speaks HTTP with a server, and sends again what got lost. */
export class Wire {
  readonly url: string;
  readonly retries: number;
  readonly #token: string;
  readonly #timeout: number;
  readonly #fetch: typeof fetch;

  constructor(o: Options) {
    this.url = (o.url ?? "http://127.0.0.1:7433").replace(/\/+$/, "");
    this.retries = o.retries ?? 4;
    this.#token = o.token;
    this.#timeout = o.timeout ?? 60_000;
    this.#fetch = o.fetch ?? globalThis.fetch.bind(globalThis);
  }

  /** Answers with the text of the body. Throws SkeinError, or the network's error. */
  async text(path: string, r: Request = {}): Promise<string> {
    for (let tries = 0; ; tries++) {
      try {
        const answer = await this.#send(path, r, [AbortSignal.timeout(this.#timeout)]);
        if (answer.ok) return await answer.text();
        throw await refusal(answer, path, r);
      } catch (err) {
        r.signal?.throwIfAborted();
        if (r.once || tries >= this.retries || !passing(err)) throw err;
        await pause(tries, err, r.signal);
      }
    }
  }

  async json<T>(path: string, r: Request = {}): Promise<T> {
    const text = await this.text(path, r);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  async bytes(path: string, signal?: AbortSignal): Promise<Uint8Array> {
    const answer = await this.#send(path, { signal }, [AbortSignal.timeout(this.#timeout)]);
    if (!answer.ok) throw await refusal(answer, path, {});
    return new Uint8Array(await answer.arrayBuffer());
  }

  /** Answers with a stream once the server accepts; until then it may throw. */
  async stream(path: string, r: Request): Promise<ReadableStream<Uint8Array>> {
    const answer = await this.#send(path, r, []);
    if (!answer.ok || !answer.body) throw await refusal(answer, path, r);
    return answer.body;
  }

  #send(path: string, r: Request, also: AbortSignal[]): Promise<Response> {
    const signals = r.signal ? [r.signal, ...also] : also;
    const headers: Record<string, string> = { Authorization: `Bearer ${this.#token}`, ...r.headers };
    if (r.body !== undefined) headers["Content-Type"] = "application/json";
    return this.#fetch(this.url + path + queryOf(r.query), {
      method: r.method ?? "GET",
      headers,
      ...(r.body === undefined ? {} : { body: r.body }),
      ...(signals.length ? { signal: AbortSignal.any(signals) } : {}),
    });
  }
}

function queryOf(query: object = {}): string {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") q.set(name, String(value));
  }
  const s = q.toString();
  return s && `?${s}`;
}

async function refusal(answer: Response, path: string, r: Request): Promise<SkeinError> {
  const p: Problem = await problemOf(answer);
  const wait = Number(answer.headers.get("Retry-After"));
  if (wait > 0) p["retry_after"] = wait;
  return new SkeinError(p, `${r.method ?? "GET"} ${path}`);
}

/** Reports whether the same request may fare better later. */
export function passing(err: unknown): boolean {
  if (err instanceof SkeinError) return err.status === 429 || err.status === 502 || err.status === 503 || err.status === 504;
  return err instanceof TypeError || (err instanceof Error && ["TimeoutError", "AbortError"].includes(err.name)) || broken(err);
}

/** Reports whether a connection broke in the middle of an answer. */
function broken(err: unknown): boolean {
  return err instanceof Error && "code" in err && typeof err.code === "string";
}

/** Waits before the next try: longer each time, up to 5 s, or as the server says. */
export async function pause(tries: number, err: unknown, signal?: AbortSignal): Promise<void> {
  const asked = err instanceof SkeinError ? Number(err.problem["retry_after"] ?? 0) * 1000 : 0;
  const wait = Math.min(Math.max(asked, 50 * 2 ** tries * (0.5 + Math.random())), 5000);
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, wait);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
