import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Skein, SkeinError, type Event } from "../src/index.js";
import { losing, Server } from "./server.js";

let server: Server;
let skein: Skein;
before(async () => {
  server = await Server.start();
  skein = server.client();
});
after(() => server.remove());

const said = (text: string) => ({ kind: "said", payload: { role: "user", parts: [{ kind: "text", text }] } });

async function list<T>(all: AsyncIterable<T>): Promise<T[]> {
  const out: T[] = [];
  for await (const v of all) out.push(v);
  return out;
}

test("a session is begun, talked in, listed and found", async () => {
  const { id } = await skein.createSession({ key: "api:hello", title: "Hello", agent: "greeter" });
  assert.deepEqual((await skein.sessions()).items, [], "it lists a session in which nothing was said");
  const { seq } = await skein.say(id, "user", "does the zeppelin fly?");
  assert.equal(seq, 2);
  await skein.say(id, "assistant", "it does");
  const first = await skein.messages(id, { limit: 1 });
  assert.equal(first.items[0]?.message.parts[0]?.text, "it does");
  const before = await skein.messages(id, { limit: 1, cursor: first.next_cursor! });
  assert.equal(before.items[0]?.message.parts[0]?.text, "does the zeppelin fly?");
  assert.equal((await skein.sessionByKey("api:hello")).id, id);
  assert.equal((await skein.resolve("Hello")).id, id);
  const found = await skein.search("zeppelin");
  assert.deepEqual(found.items.map((h) => [h.session, h.seq]), [[id, 2]]);
  assert.deepEqual(await skein.usage({ by: "agent" }).then((u) => u.items.map((l) => l.requests)), []);
  const changed = await skein.changeSession(id, { title: "Airships", tags: ["b", "a"] });
  assert.deepEqual([changed.title, changed.tags], ["Airships", ["a", "b"]]);
});

test("it tells what sessions did to files", async () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "skein-files-")));
  const git = (...args: string[]) => execFileSync("git", ["-C", dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args]);
  try {
    git("init", "-q");
    const { id } = await skein.createSession({ agent: "coder", project: dir, cwd: dir });
    await skein.say(id, "user", "write it");
    const call = { id: "c1", name: "write", input: { path: "a.txt", content: "a first line\nand a second one\n" } };
    await skein.append(id, {
      events: [
        { kind: "said", payload: { role: "assistant", parts: [{ kind: "call", call }] } },
        { kind: "said", payload: { role: "tool", parts: [{ kind: "result", result: { call_id: "c1", text: "ok" } }] } },
      ],
    });
    writeFileSync(join(dir, "a.txt"), "a first line\nand a second one\n");
    git("add", "-A");
    git("commit", "-q", "-m", "Add a");
    const changes = await skein.changes(id);
    assert.deepEqual(changes.items.map((e) => [e.path, e.seq, e.whole, e.added]), [["a.txt", 3, true, ["a first line", "and a second one"]]]);
    const history = await skein.fileHistory("a.txt", { project: dir });
    assert.deepEqual([history.path, history.items], ["a.txt", changes.items]);
    const blame = await skein.blame(dir, "a.txt");
    assert.deepEqual(blame.items.map((l) => [l.first, l.last, l.session, l.certainty, l.prompt]), [[1, 2, id, "exact", "write it"]]);
    assert.equal((await skein.why(dir, "a.txt", 2)).asked, "write it");
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("it tells what a session is doing, and when that changes", async () => {
  const { id } = await skein.createSession({ agent: "waiter" });
  await skein.say(id, "user", "what is going on?");
  const { items } = await skein.now({ agent: "waiter" });
  assert.deepEqual(items.map((n) => [n.id, n.state]), [[id, "working"]]);
  const states: string[] = [];
  for await (const n of skein.watchNow({ agent: "waiter" })) {
    states.push(n.state);
    if (states.length === 2) break;
    await skein.append(id, { events: [{ kind: "said", payload: { role: "assistant", parts: [], error: { message: "busy" } } }] });
  }
  assert.deepEqual(states, ["working", "failed"]);
});

test("payloads come back to the byte", async () => {
  const { id } = await skein.createSession();
  const raws = ['{ "a" : 1.0, "b":"\\u003c<\\/", "a":2 }', '{"n":12345678901234567890,"lone":"\\ud800","q":"\\\\\\""}', '{"line":\n[1,{"]":"}"}]}', "{}"];
  const { seqs } = await skein.append(id, { events: raws.map((raw) => ({ kind: "x-test", raw })) });
  const { items } = await skein.events(id, { after: seqs[0]! - 1 });
  assert.deepEqual(items.map((e) => e.raw), raws);
  assert.deepEqual(items.map((e) => e.payload), raws.map((r) => JSON.parse(r)));
  await assert.rejects(skein.append(id, { events: [{ kind: "x-test", raw: '{}},{"kind":"y","payload":{}' }] }), SyntaxError);
});

test("a batch is stored all or none, once, and where the writer thinks", async () => {
  const { id } = await skein.createSession();
  const batch = { after: 1, events: [{ ...said("one"), client_id: "c1" }, { ...said("two"), client_id: "c2" }] };
  assert.deepEqual(await skein.append(id, batch), { seqs: [2, 3], last: 3, new: 2 });
  assert.deepEqual(await skein.append(id, batch), { seqs: [2, 3], last: 3, new: 0 });
  await assert.rejects(skein.append(id, { after: 1, events: [said("late")] }), (e) => e instanceof SkeinError && e.status === 409 && e.problem.last === 3);
  await assert.rejects(skein.append(id, { events: [said("new"), { ...said("other"), client_id: "c1" }] }), (e) => e instanceof SkeinError && e.status === 422);
  assert.equal((await skein.events(id)).items.length, 3);
});

test("what got lost on the way back is sent again and done once", async () => {
  const shaky = server.client(losing(3));
  const { id } = await shaky.createSession({ title: "Shaky" });
  await server.client(losing(2)).say(id, "user", "one");
  await server.client(losing(2)).append(id, { events: [said("two")] });
  assert.deepEqual((await list(skein.allEvents(id))).map((e) => e.kind), ["created", "said", "said"]);
});

test("pages go forward and back without a gap", async () => {
  const { id } = await skein.createSession();
  await skein.append(id, { events: Array.from({ length: 25 }, (_, i) => said(`m${i}`)) });
  const seqs: number[] = [];
  for (let page = await skein.events(id, { limit: 10 }); ; page = await skein.events(id, { limit: 10, cursor: page.next_cursor! })) {
    seqs.push(...page.items.map((e) => e.seq));
    if (!page.next_cursor) break;
  }
  assert.deepEqual(seqs, Array.from({ length: 26 }, (_, i) => i + 1));
  assert.deepEqual((await skein.events(id, { before: 5, limit: 2 })).items.map((e) => e.seq), [3, 4]);
  const ids = [];
  for await (const s of skein.allSessions({ limit: 2, include_empty: true })) ids.push(s.id);
  assert.ok(ids.includes(id) && new Set(ids).size === ids.length);
});

test("who follows a session gets each event once, over a crash of the server too", { timeout: 60_000 }, async () => {
  const { id } = await skein.createSession();
  const stop = new AbortController();
  const got: Event[] = [];
  const reading = (async () => {
    for await (const e of skein.follow(id, { signal: stop.signal })) {
      got.push(e);
      if (e.seq === 41) return;
    }
  })();
  for (let i = 0; i < 40; i++) {
    if (i === 20) await server.crash();
    await skein.say(id, "user", `m${i}`);
  }
  await reading;
  stop.abort();
  assert.deepEqual(got.map((e) => e.seq), Array.from({ length: 41 }, (_, i) => i + 1));
});

test("the stream of all sessions goes on from a cursor", { timeout: 60_000 }, async () => {
  const a = await skein.createSession();
  const stop = new AbortController();
  let ready: (c: string) => void;
  const begun = new Promise<string>((r) => (ready = r));
  const all = skein.stream({ from: "now", signal: stop.signal, onCursor: (c) => ready(c) });
  const first = all.next();
  const from = await begun;
  await skein.say(a.id, "user", "live");
  const { value } = await first;
  assert.equal(value?.session, a.id);
  assert.equal(value?.event.payload.parts[0].text, "live");
  stop.abort();
  await all.return(undefined);
  for await (const e of skein.stream({ from })) {
    assert.equal(e.event.raw, value?.event.raw);
    break;
  }
});

test("a fork shows what was, a rewind hides it, a blob is its bytes", async () => {
  const { id } = await skein.createSession();
  const data = new Uint8Array([0, 255, 1, 2]);
  const hash = createHash("sha256").update(data).digest("hex");
  await skein.append(id, {
    events: [said("one"), { kind: "said", payload: { role: "user", parts: [{ kind: "file", file: { name: "x.bin", media: "application/octet-stream", blob: hash, size: 4 } }] } }],
    blobs: [{ hash, data }],
  });
  assert.deepEqual(await skein.blob(id, hash), data);
  const fork = await skein.fork(id, { seq: 2 });
  assert.deepEqual((await list(skein.allEvents(fork.id))).map((e) => e.seq), [1, 2, 3]);
  await skein.rewind(id, { seq: 2 });
  assert.deepEqual((await skein.context(id, { provider: "generic" })).messages.map((m) => m.parts[0]?.text), ["one"]);
  await skein.bin(id);
  assert.ok(!(await list(skein.allSessions())).some((s) => s.id === id));
  await skein.restore(id);
  assert.ok((await list(skein.allSessions())).some((s) => s.id === id));
});

test("who holds the lease writes, others do not", async () => {
  const { id } = await skein.createSession();
  const lease = await skein.acquireLease(id, { program: "test", ttl: "1m" });
  await assert.rejects(skein.say(id, "user", "no"), (e) => e instanceof SkeinError && e.status === 409 && e.code === "locked");
  await skein.say(id, "user", "yes", { fence: lease.fence });
  assert.equal((await skein.renewLease(id, lease.fence, "2m")).fence, lease.fence);
  await skein.releaseLease(id, lease.fence);
  await skein.say(id, "user", "free");
});

test("a refusal says what and why", async () => {
  await assert.rejects(skein.session("nobody"), (e) => e instanceof SkeinError && e.status === 404 && e.code === "not_found" && e.message.includes("nobody"));
  await assert.rejects(new Skein({ url: server.url, token: "wrong" }).sessions(), (e) => e instanceof SkeinError && e.status === 401);
  await assert.rejects(new Skein({ url: "http://127.0.0.1:1", token: "", retries: 0 }).sessions(), TypeError);
  await assert.rejects(async () => skein.session(".."), TypeError);
});
