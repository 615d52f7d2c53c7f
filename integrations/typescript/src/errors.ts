/** Why a server did not do a request (RFC 9457). */
export interface Problem {
  status: number;
  title?: string;
  detail?: string;
  /** Which of the errors it is: not_found, conflict, mismatch, locked, fenced … */
  code?: string;
  request_id?: string;
  /** conflict: where the session ends. */
  last?: number;
  [more: string]: unknown;
}

/** A request that the server refused; `problem` says why. */
export class SkeinError extends Error {
  override readonly name = "SkeinError";
  readonly problem: Problem;

  constructor(problem: Problem, what: string) {
    super(`${what}: ${problem.status} ${problem.detail ?? problem.title ?? problem.code ?? ""}`.trimEnd());
    this.problem = problem;
  }

  get status(): number {
    return this.problem.status;
  }

  get code(): string {
    return this.problem.code ?? "";
  }
}

/** Reports whether e is a refusal with this status. */
export function refusedWith(e: unknown, status: number): e is SkeinError {
  return e instanceof SkeinError && e.status === status;
}

/** Reads the problem that a response holds; of anything else, its status. */
export async function problemOf(r: Response): Promise<Problem> {
  const text = await r.text().catch(() => "");
  try {
    const p = JSON.parse(text) as Problem;
    if (p && typeof p === "object" && !Array.isArray(p)) return { ...p, status: r.status };
  } catch {
    // a proxy's page
  }
  return { status: r.status, title: r.statusText, detail: text.slice(0, 200) };
}
