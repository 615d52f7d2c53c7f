// acpclient.mjs SKEIN FOLDER: works with skein's own agent through the protocol's client
// for TypeScript, and writes on stdout what it has seen, a line of JSON each. The client
// refuses messages that the protocol does not allow.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const require = createRequire(process.env.SKEIN_ACP + "/");
const acp = await import(pathToFileURL(require.resolve("@agentclientprotocol/sdk/unstable")));
const [skein, cwd] = process.argv.slice(2);
const tell = (what, more) => console.log(JSON.stringify({ what, ...more }));

// open starts skein and calls work with it.
async function open(work) {
  const child = spawn(skein, ["acp", "--model", "anthropic:claude-x"], { cwd, stdio: ["pipe", "pipe", "inherit"] });
  const seen = [];
  const first = { came() {} };
  const files = new Map();
  const editor = acp
    .client({ name: "test client" })
    .onNotification("session/update", ({ params }) => {
      seen.push(params.update);
      if (params.update.sessionUpdate === "agent_message_chunk") first.came();
    })
    .onRequest("session/request_permission", ({ params }) => {
      tell("asked", { title: params.toolCall.title, kinds: params.options.map((o) => o.kind) });
      return { outcome: { outcome: "selected", optionId: params.options.find((o) => o.kind === "allow_once").optionId } };
    })
    .onRequest("fs/read_text_file", ({ params }) => ({ content: files.get(params.path) ?? "in the editor" }))
    .onRequest("fs/write_text_file", ({ params }) => {
      files.set(params.path, params.content);
      tell("wrote", { content: params.content });
      return {};
    });
  const ended = new Promise((done) => child.on("exit", done));
  try {
    await editor.connectWith(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (agent) => {
      const hello = await agent.request("initialize", {
        protocolVersion: acp.PROTOCOL_VERSION,
        clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
      });
      await work({ agent, hello, seen, first, child, ended });
    });
  } catch (error) {
    tell("ended", { error: String(error.message ?? error) });
  }
  child.stdin.end();
  await ended;
}

const say = (agent, sessionId, text) => agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
const kinds = (seen) => [...new Set(seen.map((u) => u.sessionUpdate))].sort();
const mcpServers = [];
let sessionId;

await open(async ({ agent, hello, seen }) => {
  tell("hello", { version: hello.protocolVersion, load: hello.agentCapabilities.loadSession });
  const made = await agent.request("session/new", { cwd, mcpServers });
  sessionId = made.sessionId;
  tell("new", { modes: made.modes.availableModes.map((m) => m.id), options: made.configOptions.map((o) => o.id) });
  const turn = await say(agent, sessionId, "work");
  tell("turn", { stop: turn.stopReason, kinds: kinds(seen) });
  await agent.request("session/set_mode", { sessionId, modeId: "auto" });
  const set = await agent.request("session/set_config_option", { sessionId, configId: "effort", value: "low" });
  tell("set", { effort: set.configOptions.find((o) => o.id === "effort").currentValue });
});

await open(async ({ agent, seen, first }) => {
  await agent.request("session/load", { sessionId, cwd, mcpServers });
  tell("load", { kinds: kinds(seen) });
  seen.length = 0;
  const chunk = new Promise((done) => (first.came = done));
  const turn = say(agent, sessionId, "talk");
  await chunk;
  await agent.notify("session/cancel", { sessionId });
  tell("canceled", { stop: (await turn).stopReason });
  const fork = await agent.request("session/fork", { sessionId, cwd, mcpServers });
  const list = await agent.request("session/list", { cwd });
  tell("list", { n: list.sessions.length, forked: list.sessions.some((s) => s.sessionId === fork.sessionId) });
  await agent.request("session/close", { sessionId: fork.sessionId });
  await agent.request("session/delete", { sessionId: fork.sessionId });
  tell("deleted", { n: (await agent.request("session/list", { cwd })).sessions.length });
});

// killed in the middle of an answer
await open(async ({ agent, first, child, ended }) => {
  await agent.request("session/resume", { sessionId, cwd, mcpServers });
  const chunk = new Promise((done) => (first.came = done));
  const turn = say(agent, sessionId, "before it is killed").catch(() => tell("lost", {}));
  await chunk;
  child.kill("SIGKILL");
  await ended;
  await turn;
});

await open(async ({ agent, seen }) => {
  await agent.request("session/load", { sessionId, cwd, mcpServers });
  tell("again", { has: seen.some((u) => u.content?.text === "before it is killed") });
  tell("last", { stop: (await say(agent, sessionId, "and on")).stopReason });
});
