import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  deleteSession, forkSession, getSessionMessages, getSubagentMessages, importSessionToStore, InMemorySessionStore, listSessions, listSubagents, renameSession,
  type SessionStore, type SessionStoreEntry,
} from "@anthropic-ai/claude-agent-sdk";
import { ClaudeSessionStore } from "../src/claude.js";
import type { Skein } from "../src/index.js";
import { losing, Server } from "./server.js";

let server: Server;
let skein: Skein;
let store: SessionStore;
let config: string;
before(async () => {
  server = await Server.start();
  skein = server.client();
  store = new ClaudeSessionStore({ client: skein });
  config = await mkdtemp(join(tmpdir(), "claude-config-"));
  process.env["CLAUDE_CONFIG_DIR"] = config;
});
after(async () => {
  await rm(config, { recursive: true, force: true });
  await server.remove();
});

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

function lines(sessionId: string, cwd: string, first = 1): SessionStoreEntry[] {
  const base = { sessionId, cwd, version: "2.1.0", isSidechain: false, userType: "external" };
  const id = (n: number) => uuid(first * 1000 + n);
  const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 2, cache_creation: { ephemeral_1h_input_tokens: 2 } };
  return [
    { ...base, type: "user", uuid: id(1), parentUuid: null, timestamp: "2026-11-20T10:00:00.000Z", message: { role: "user", content: "where is the zeppelin <now>?" } },
    { ...base, type: "assistant", uuid: id(2), parentUuid: id(1), timestamp: "2026-11-20T10:00:01.500Z", requestId: "req_1", message: { id: "msg_1", role: "assistant", model: "claude-x", usage, content: [{ type: "thinking", thinking: "hm", signature: "c2ln" }] } },
    { ...base, type: "assistant", uuid: id(3), parentUuid: id(2), timestamp: "2026-11-20T10:00:02.000Z", requestId: "req_1", message: { id: "msg_1", role: "assistant", model: "claude-x", usage, stop_reason: "tool_use", content: [{ type: "tool_use", id: "toolu_1", name: "Read", input: { file_path: "/a" } }] } },
    { ...base, type: "user", uuid: id(4), parentUuid: id(3), timestamp: "2026-11-20T10:00:03.000Z", message: { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "fog" }], is_error: true }] }, toolUseResult: { odd: [1.5, null, "\ud800"] } },
    { ...base, type: "assistant", uuid: id(5), parentUuid: id(4), timestamp: "2026-11-20T10:00:04.000Z", requestId: "req_2", message: { id: "msg_2", role: "assistant", model: "claude-x", usage, content: [{ type: "text", text: "In the fog." }] } },
    { type: "custom-title", customTitle: "Airships", sessionId },
  ];
}

test("lines come back as they were, and are read and found as messages", async () => {
  const key = { projectKey: "-home-me-project", sessionId: uuid(1) };
  assert.equal(await store.load(key), null);
  const all = lines(key.sessionId, "/home/me/project");
  await store.append(key, all.slice(0, 2));
  await store.append(key, all.slice(2));
  assert.deepEqual(await new ClaudeSessionStore({ client: server.client() }).load(key), all);
  const hit = (await skein.search("zeppelin")).items[0]!;
  const s = await skein.session(hit.session);
  assert.deepEqual([s.title, s.agent, s.project, s.model, s["turns"]], ["Airships", "claude-code", "/home/me/project", "claude-x", 1]);
  assert.deepEqual([s["usage"].requests, s["usage"].output, s["usage"].cache_hour], [2, 10, 4], "a request that two lines tell of is counted once");
  const { items } = await skein.messages(hit.session);
  assert.deepEqual(items.map((e) => e.message.parts.map((p) => p.kind)), [["text"], ["reasoning", "call"], ["result"], ["text"]]);
});

test("a line with a uuid that is there is not stored again, one without is", async () => {
  const key = { projectKey: "p", sessionId: uuid(2) };
  const all = lines(key.sessionId, "/p", 2);
  await store.append(key, all.slice(0, 3));
  await store.append(key, [...all.slice(1, 4), all[3]!, all[5]!]);
  await new ClaudeSessionStore({ client: server.client(losing(1)) }).append(key, [all[5]!]);
  await store.append(key, [{ ...all[0]!, message: "changed" }, all[4]!]);
  await store.append(key, [{ ...all[0]!, message: "changed" }]);
  assert.deepEqual(await store.load(key), [...all.slice(0, 4), all[5], all[5], all[4]]);
});

test("the SDK does with it what it does with its own store", async () => {
  const id = uuid(3);
  const cwd = await mkdtemp(join(config, "project-"));
  const dir = join(config, "projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"));
  await mkdir(join(dir, id, "subagents"), { recursive: true });
  const text = (all: SessionStoreEntry[]) => all.map((e) => JSON.stringify(e) + "\n").join("");
  await writeFile(join(dir, `${id}.jsonl`), text(lines(id, cwd, 3)));
  await writeFile(join(dir, id, "subagents", "agent-abc.jsonl"), text(lines(id, cwd, 4).slice(0, 5).map((e) => ({ ...e, isSidechain: true, agentId: "abc" }))));

  const theirs = new InMemorySessionStore();
  const both = async <T>(act: (s: SessionStore) => Promise<T>, what: string, same = (v: T): unknown => v): Promise<T> => {
    const [ours, want] = [await act(store), await act(theirs)];
    assert.deepEqual(same(ours), same(want), what);
    return ours;
  };
  await both((sessionStore) => importSessionToStore(id, sessionStore, { dir: cwd }), "import");
  await both((sessionStore) => importSessionToStore(id, sessionStore, { dir: cwd }).catch(() => undefined).then(() => undefined), "import again");
  const messages = await store.load({ projectKey: cwd.replace(/[^a-zA-Z0-9]/g, "-"), sessionId: id });
  assert.deepEqual(messages?.slice(0, 6), lines(id, cwd, 3), "what was imported");
  const got = await both((sessionStore) => getSessionMessages(id, { dir: cwd, sessionStore }), "messages");
  assert.equal(got.length, 5);
  await both((sessionStore) => listSubagents(id, { dir: cwd, sessionStore }), "sub-agents");
  assert.equal((await both((sessionStore) => getSubagentMessages(id, "abc", { dir: cwd, sessionStore }), "messages of a sub-agent")).length, 5);
  await both((sessionStore) => renameSession(id, "Blimps", { dir: cwd, sessionStore }), "rename");
  const list = await both((sessionStore) => listSessions({ dir: cwd, sessionStore }), "list", (all) => JSON.parse(JSON.stringify(all.map((s) => ({ ...s, lastModified: 0, fileSize: 0 })))));
  assert.deepEqual(list.map((s) => s.summary), ["Blimps"]);
  const forks = await Promise.all([store, theirs].map((sessionStore) => forkSession(id, { dir: cwd, sessionStore })));
  const [ours, want] = await Promise.all([store, theirs].map((sessionStore, n) => getSessionMessages(forks[n]!.sessionId, { dir: cwd, sessionStore })));
  assert.deepEqual(ours!.map((m) => m.message), want!.map((m) => m.message), "messages of a fork");
  await both((sessionStore) => deleteSession(id, { dir: cwd, sessionStore }), "delete");
  assert.deepEqual(await both((sessionStore) => getSessionMessages(id, { dir: cwd, sessionStore }), "messages of a deleted one"), []);
  assert.equal((await skein.sessions({ bin: true })).items.length, 2, "the session and its sub-agent's are in the bin");
});

test("long and odd names keep apart, and are listed as they are", async () => {
  const project = `-${"very-".repeat(50)}long`;
  const subpaths = ["subagents/agent-a", `subagents/agent-${"b".repeat(60)}`, "x y/ü"];
  const main = { projectKey: project, sessionId: `odd id/${"s".repeat(60)}` };
  const line = (n: number): SessionStoreEntry => ({ type: "mode", mode: `m${n}` });
  for (const [n, subpath] of subpaths.entries()) await store.append({ ...main, subpath }, [line(n)]);
  assert.equal(await store.load(main), null, "only sub-agents have written");
  assert.deepEqual(await store.listSessions!(project), []);
  await store.append(main, [line(9)]);
  await store.append({ projectKey: `${project}r`, sessionId: "a" }, [line(8)]);
  assert.deepEqual((await store.listSessions!(project)).map((s) => s.sessionId), [main.sessionId]);
  assert.deepEqual(await store.listSubkeys!(main), [...subpaths].sort());
  for (const [n, subpath] of subpaths.entries()) assert.deepEqual(await store.load({ ...main, subpath }), [line(n)]);
  await store.delete!({ ...main, subpath: subpaths[0]! });
  assert.deepEqual(await store.listSubkeys!(main), subpaths.slice(1).sort());
  await store.append(main, [line(10)]);
  assert.deepEqual(await store.load(main), [line(9), line(10)]);
});

test("many who append at once begin one session, and each keeps its order", async () => {
  const key = { projectKey: "many", sessionId: uuid(5) };
  const stores = Array.from({ length: 4 }, () => new ClaudeSessionStore({ client: skein }));
  await Promise.all(stores.flatMap((s, w) => Array.from({ length: 5 }, (_, n) => s.append(key, [{ type: "mode", w, n }]))));
  const all = (await store.load(key)) as unknown as { w: number; n: number }[];
  assert.equal(all.length, 20);
  for (let w = 0; w < 4; w++) assert.deepEqual(all.filter((e) => e.w === w).map((e) => e.n), [0, 1, 2, 3, 4]);
});

test("a rewind hides the lines that came after", async () => {
  const key = { projectKey: "back", sessionId: uuid(6) };
  const all = lines(key.sessionId, "/p", 6);
  await store.append(key, all);
  const s = await skein.sessionByKey(`claude:back/${key.sessionId}`);
  await skein.rewind(s.id, { seq: 3 });
  assert.deepEqual(await store.load(key), all.slice(0, 2));
});
