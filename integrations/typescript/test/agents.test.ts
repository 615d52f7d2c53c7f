import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  Agent, MemorySession, Runner, setTracingDisabled, tool, Usage, type AgentInputItem, type Model, type ModelRequest, type ModelResponse, type Session,
  type SessionHistoryRewriteAwareSession, type SessionHistoryTransactionAwareSession,
} from "@openai/agents-core";
import { z } from "zod";
import { AgentsSession } from "../src/agents.js";
import type { Skein } from "../src/index.js";
import { losing, Server } from "./server.js";

let server: Server;
let skein: Skein;
before(async () => {
  server = await Server.start();
  skein = server.client();
});
after(() => server.remove());

type Whole = Session & SessionHistoryTransactionAwareSession & SessionHistoryRewriteAwareSession;
const open = (id: string, client = skein): Whole => new AgentsSession<AgentInputItem>({ client, id });

const user = (text: string): AgentInputItem => ({ type: "message", role: "user", content: text });
const answer = (text: string): AgentInputItem => ({ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] });
const call = (callId: string, args = "{}"): Extract<AgentInputItem, { type: "function_call" }> => ({ type: "function_call", callId, name: "look", status: "completed", arguments: args });
const result = (callId: string): AgentInputItem => ({ type: "function_call_result", callId, name: "look", status: "completed", output: { type: "text", text: "sunny" } });

async function kinds(id: string): Promise<string[]> {
  const out: string[] = [];
  for await (const e of skein.allEvents(id)) out.push(e.kind);
  return out;
}

test("items come back as they were, to another process too", async () => {
  const items: AgentInputItem[] = [
    user("weather?"),
    { type: "message", role: "user", content: [{ type: "input_text", text: "and this?" }, { type: "input_image", image: "data:image/png;base64,AA==" }], providerData: { z: 1, a: [null, 1.5] } },
    { type: "reasoning", id: "rs_1", content: [{ type: "input_text", text: "hm" }], providerData: { encrypted_content: "x" } },
    call("c1", '{"city": "Köln"}'),
    { ...result("c1"), output: [{ type: "input_image", image: "x" }] } as AgentInputItem,
    { type: "hosted_tool_call", name: "web_search", status: "completed" },
    { type: "function_call_result", callId: "c2", name: "draw", status: "completed", output: { type: "image", image: { data: new Uint8Array([0, 255, 7]), mediaType: "image/png" } } },
    answer("sunny"),
  ];
  await open("whole").addItems(items);
  assert.deepEqual(await open("whole").getItems(), items);
  assert.deepEqual(await open("whole").getItems(2), items.slice(-2));
  assert.deepEqual(await open("whole").getItems(0), []);
  assert.equal((await skein.search("sunny")).items[0]?.session, "whole");
  const { items: entries } = await skein.messages("whole");
  assert.deepEqual(entries[3]?.message.parts[0]?.call, { id: "c1", name: "look", input: { city: "Köln" } });
});

test("a session is found by its ID or key, and begun once", async () => {
  const sessions = Array.from({ length: 4 }, () => new AgentsSession({ client: skein, key: "support:1", title: "Support" }));
  const ids = await Promise.all(sessions.map((s) => s.getSessionId()));
  assert.equal(new Set(ids).size, 1);
  assert.equal(await open("mine").getSessionId(), "mine");
  assert.equal(await open("mine").getSessionId(), "mine");
  assert.notEqual(await new AgentsSession({ client: skein }).getSessionId(), await new AgentsSession({ client: skein }).getSessionId());
});

test("popItem and clearSession are rewinds, and delete nothing", async () => {
  const s = open("rewinds");
  assert.equal(await s.popItem(), undefined);
  await s.addItems([user("one"), answer("two")]);
  assert.deepEqual(await s.popItem(), answer("two"));
  await s.addItems([answer("three")]);
  assert.deepEqual(await s.getItems(), [user("one"), answer("three")]);
  assert.deepEqual(await s.popItem(), answer("three"));
  assert.deepEqual(await s.popItem(), user("one"));
  assert.deepEqual(await s.getItems(), []);
  await s.addItems([user("four")]);
  await s.clearSession();
  await s.clearSession();
  assert.deepEqual(await s.getItems(), []);
  assert.deepEqual(await kinds("rewinds"), ["created", "said", "said", "rewound", "said", "rewound", "rewound", "said", "rewound"]);
  assert.deepEqual((await skein.context("rewinds", { provider: "generic" })).messages, []);
  await skein.rewind("rewinds", { seq: 3 });
  assert.deepEqual(await s.getItems(), [user("one"), answer("two")], "a rewind to a later place takes it back");
});

test("two who pop take one item each", async () => {
  await open("pops").addItems(Array.from({ length: 6 }, (_, i) => user(`m${i}`)));
  const popped = await Promise.all(Array.from({ length: 6 }, () => open("pops").popItem()));
  assert.deepEqual(popped.map((i) => (i as { content: string }).content).sort(), ["m0", "m1", "m2", "m3", "m4", "m5"]);
  assert.deepEqual(await open("pops").getItems(), []);
});

test("a transaction is applied once, whatever is sent again", async () => {
  const s = open("tx");
  await s.addItems([user("q"), answer("draft")]);
  const replace = { operationId: "op-1", transaction: { type: "replace_suffix" as const, expectedSuffix: [answer("draft")], replacement: [call("c"), result("c"), answer("final")] } };
  await s.applyHistoryTransaction(replace);
  await s.applyHistoryTransaction(replace);
  await open("tx").applyHistoryTransaction(replace);
  const want = [user("q"), call("c"), result("c"), answer("final")];
  assert.deepEqual(await s.getItems(), want);
  const append = { operationId: "op-2", transaction: { type: "append_items" as const, items: [user("more")] } };
  await Promise.all(Array.from({ length: 5 }, () => open("tx").applyHistoryTransaction(append)));
  assert.deepEqual(await s.getItems(), [...want, user("more")]);
  const before = await kinds("tx");
  for (const items of [[], [user("else")], [user("more"), user("more")]]) {
    await assert.rejects(async () => s.applyHistoryTransaction({ operationId: "op-2", transaction: { type: "append_items", items } }), /different transaction/);
  }
  await assert.rejects(async () => s.applyHistoryTransaction({ ...replace, operationId: "op-3" }), /does not end with the suffix/);
  await assert.rejects(async () => s.applyHistoryTransaction({ ...append, operationId: " " }), TypeError);
  await assert.rejects(async () => s.applyHistoryTransaction({ operationId: "op-4", transaction: { type: "append_items", items: [{ ...user("x"), providerData: { d: new Date() } }] } }), TypeError);
  await s.applyHistoryTransaction({ operationId: "op-5", transaction: { type: "append_items", items: [] } });
  assert.deepEqual(await kinds("tx"), [...before, "noted"], "what failed left something behind");
});

test("a transaction whose answer got lost is applied once, over a crash too", { timeout: 60_000 }, async () => {
  await open("lost").addItems([user("q"), answer("draft")]);
  const shaky = server.client(losing(2, () => server.crash()));
  const args = { operationId: "op", transaction: { type: "replace_suffix" as const, expectedSuffix: [answer("draft")], replacement: [answer("final")] } };
  await open("lost", shaky).applyHistoryTransaction(args);
  await open("lost").applyHistoryTransaction(args);
  assert.deepEqual(await open("lost").getItems(), [user("q"), answer("final")]);
  assert.deepEqual(await kinds("lost"), ["created", "said", "said", "noted", "rewound", "said"]);
});

test("of two transactions that replace the same suffix one is refused", async () => {
  await open("race").addItems([user("q"), answer("draft")]);
  const done = await Promise.allSettled(
    ["a", "b"].map(async (x) => open("race").applyHistoryTransaction({ operationId: x, transaction: { type: "replace_suffix", expectedSuffix: [answer("draft")], replacement: [answer(x)] } })),
  );
  assert.deepEqual(done.map((d) => d.status).sort(), ["fulfilled", "rejected"]);
  assert.deepEqual(await open("race").getItems(), [user("q"), answer(done[0]!.status === "fulfilled" ? "a" : "b")]);
});

test("what other programs say in the session is part of the history", async () => {
  await skein.createSession({ id: "mixed" });
  await skein.say("mixed", "user", "from the terminal");
  await skein.append("mixed", { events: [{ kind: "said", payload: { role: "assistant", parts: [{ kind: "text", text: "looking" }, { kind: "call", call: { id: "x", name: "look", input: { a: 1 } } }] } }] });
  const s = open("mixed");
  assert.deepEqual(await s.getItems(), [user("from the terminal"), answer("looking"), call("x", '{"a":1}')]);
  assert.deepEqual(await s.popItem(), call("x", '{"a":1}'));
  assert.deepEqual(await s.getItems(), [user("from the terminal"), answer("looking")]);
});

test("it does what MemorySession does, whatever is asked of it", async () => {
  let seed = 7;
  const random = (n: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  const ours = open("differential");
  const theirs = new MemorySession({ sessionId: "differential" });
  const item = (n: number) => [user(`u${n}`), answer(`a${n}`), call(`c${n % 3}`), result(`c${n % 3}`)][random(4)]!;
  for (let n = 0; n < 150; n++) {
    const batch = Array.from({ length: random(4) }, () => item(n));
    const now = await theirs.getItems();
    const suffix = now.slice(now.length - Math.min(random(3), now.length));
    const replace = { operationId: `op${n}`, transaction: { type: "replace_suffix" as const, expectedSuffix: random(4) ? suffix : [user("not there")], replacement: batch } };
    const append = { operationId: `op${n}`, transaction: { type: "append_items" as const, items: batch } };
    const mutate = { mutations: [{ type: "replace_function_call" as const, callId: `c${n % 3}`, replacement: call(`c${n % 3}`, `{"n":${n}}`) }] };
    const acts: ((s: Whole) => unknown)[] = [
      (s) => s.addItems(batch), (s) => s.popItem(), (s) => s.applyHistoryTransaction(append), (s) => s.applyHistoryTransaction(replace), (s) => s.applyHistoryMutations(mutate),
      (s) => (n % 10 === 0 ? s.clearSession() : s.getItems(random(1) + 2)),
    ];
    const act = acts[random(acts.length)]!;
    const [is, want] = await Promise.all([ours, theirs].map(async (s) => Promise.resolve().then(() => act(s)).catch((e: unknown) => String((e as Error) && "threw"))));
    assert.deepEqual(is, want, `act ${n} answers otherwise`);
    assert.deepEqual(await ours.getItems(), await theirs.getItems(), `after act ${n}`);
  }
  assert.deepEqual(await open("differential").getItems(), await theirs.getItems());
});

/** Answers with what it is given, and notes what it was shown. */
class Script implements Model {
  readonly shown: ModelRequest[] = [];
  constructor(readonly answers: ModelResponse["output"][]) {}

  async getResponse(r: ModelRequest): Promise<ModelResponse> {
    this.shown.push(r);
    return { usage: new Usage(), output: this.answers.shift()! };
  }

  // eslint-disable-next-line require-yield
  async *getStreamedResponse(): AsyncGenerator<never> {
    throw new Error("not asked for");
  }
}

test("the Agents SDK's own runner holds a conversation in it", async () => {
  setTracingDisabled(true);
  const model = new Script([
    [{ type: "function_call", id: "fc_1", callId: "c1", name: "look", status: "completed", arguments: '{"city":"Köln"}' }],
    [{ type: "message", id: "m_1", role: "assistant", status: "completed", content: [{ type: "output_text", text: "It is sunny." }] }],
    [{ type: "message", id: "m_2", role: "assistant", status: "completed", content: [{ type: "output_text", text: "You asked about Köln." }] }],
  ]);
  const look = tool({ name: "look", description: "looks", parameters: z.object({ city: z.string() }), execute: async ({ city }) => `sunny in ${city}` });
  const agent = new Agent({ name: "Weather", instructions: "Answer.", model, tools: [look] });
  const runner = new Runner({ tracingDisabled: true });
  assert.equal((await runner.run(agent, "Weather in Köln?", { session: open("run") })).finalOutput, "It is sunny.");
  assert.equal((await runner.run(agent, "What did I ask?", { session: open("run") })).finalOutput, "You asked about Köln.");
  assert.deepEqual((model.shown[2]!.input as AgentInputItem[]).map((i) => i.type), ["message", "function_call", "function_call_result", "message", "message"]);
  assert.equal((await open("run").getItems()).length, 6);
  assert.deepEqual((await skein.search("sunny")).items.some((h) => h.session === "run"), true);
});
