import { execFile, spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Skein } from "../src/index.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** A running `skein serve` on a store of its own. */
export class Server {
  #process?: ChildProcess;
  url = "";
  token = "";

  private constructor(
    readonly dir: string,
    readonly program: string,
  ) {}

  /** Starts one. SKEIN_BIN names the program to test; else it is built. */
  static async start(): Promise<Server> {
    const dir = await mkdtemp(join(tmpdir(), "skein-client-"));
    const program = process.env["SKEIN_BIN"] || join(dir, process.platform === "win32" ? "skein.exe" : "skein");
    if (!process.env["SKEIN_BIN"]) await run("go", ["build", "-o", program, "./cmd/skein"], { cwd: root, env: { ...process.env, CGO_ENABLED: "0" } });
    const s = new Server(dir, program);
    await s.up();
    return s;
  }

  get #env(): NodeJS.ProcessEnv {
    return { ...process.env, SKEIN_HOME: join(this.dir, "home"), HOME: this.dir };
  }

  async up(listen = "127.0.0.1:0"): Promise<void> {
    const p = spawn(this.program, ["serve", "--listen", listen], { env: this.#env, stdio: ["ignore", "pipe", "inherit"] });
    this.#process = p;
    this.url = await new Promise<string>((resolve, reject) => {
      let said = "";
      p.stdout!.on("data", (b: Buffer) => {
        said += b.toString();
        const at = /^http:\/\/\S+$/m.exec(said);
        if (at) resolve(at[0]);
      });
      p.once("error", reject);
      p.once("exit", (code) => reject(new Error(`skein serve ended with ${code} and said: ${said}`)));
    });
    const { stdout } = await run(this.program, ["token", "path"], { env: this.#env });
    this.token = (await readFile(stdout.trim(), "utf8")).split("\n")[0]!;
  }

  /** Ends it, and waits until it has ended. */
  async down(): Promise<void> {
    const p = this.#process;
    if (!p || p.exitCode !== null || p.signalCode !== null) return;
    const ended = new Promise((resolve) => p.once("exit", resolve));
    p.kill("SIGINT");
    await ended;
  }

  /** Ends it as a crash does, and starts another at the same address. */
  async crash(): Promise<void> {
    const p = this.#process!;
    const ended = new Promise((resolve) => p.once("exit", resolve));
    p.kill("SIGKILL");
    await ended;
    await this.up(new URL(this.url).host);
  }

  async remove(): Promise<void> {
    await this.down();
    await rm(this.dir, { recursive: true, force: true });
  }

  client(fetch?: typeof globalThis.fetch): Skein {
    return new Skein({ url: this.url, token: this.token, ...(fetch ? { fetch } : {}) });
  }
}

/** A fetch that loses the answers of the first n requests that write. */
export function losing(n: number, also: () => Promise<void> = async () => undefined): typeof fetch {
  return async (url, init) => {
    const answer = await fetch(url, init);
    if (init?.method === "POST" && n-- > 0) {
      await answer.arrayBuffer();
      await also();
      throw new TypeError("the answer got lost");
    }
    return answer;
  };
}
