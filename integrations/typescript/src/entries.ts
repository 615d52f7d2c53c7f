import type { Message, NewEvent, Part } from "./types.js";

/** A line of a transcript; what is in it is Claude Code's own business. */
export type Entry = { type: string; uuid?: string; timestamp?: string; [more: string]: unknown };

/** The name under which an event holds the line that it was, as it was. */
export const entryName = "claude_entry";

type Fields = Record<string, any>;

/** Returns the events as which a line is stored: itself, and the title that it gives. */
export function eventsOf(entry: Entry, time: string | undefined): NewEvent[] {
  const at = time === undefined ? {} : { time };
  const m = messageOf(entry);
  const it: NewEvent = m
    ? { kind: "said", ...at, payload: m }
    : { kind: "noted", ...at, payload: { name: `claude-code:${entry.type}`, level: "debug", data: { [entryName]: entry } } };
  const client = clientID(entry);
  if (client !== undefined) it.client_id = client;
  const titled = titleOf(entry);
  return titled ? [it, { kind: "titled", ...at, payload: titled }] : [it];
}

/** Returns what makes a line be stored once: its uuid, if it has one. */
export function clientID(e: Entry): string | undefined {
  if (typeof e.uuid !== "string" || e.uuid === "") return undefined;
  const id = `claude:${encodeURIComponent(e.uuid.toWellFormed())}`;
  return id.length > 128 ? undefined : id;
}

/** Returns the line that an event holds. */
export function entryOf(e: { kind: string; payload: any }): Entry | undefined {
  if (e.kind === "said") return e.payload.meta?.[entryName] as Entry | undefined;
  if (e.kind === "noted") return e.payload.data?.[entryName] as Entry | undefined;
  return undefined;
}

function titleOf(e: Entry): { title: string; by: string } | undefined {
  for (const [type, field, by] of [["custom-title", "customTitle", "person"], ["ai-title", "aiTitle", "model"], ["summary", "summary", "source"]] as const) {
    const title = e[field];
    if (e.type === type && typeof title === "string" && title !== "") return { title, by };
  }
  return undefined;
}

/** Returns what people read and search of a line in which something was said. */
function messageOf(e: Entry): Message | undefined {
  const m = e["message"] as Fields | undefined;
  if ((e.type !== "user" && e.type !== "assistant") || !m || typeof m !== "object") return undefined;
  const content: unknown[] = typeof m["content"] === "string" ? [{ type: "text", text: m["content"] }] : Array.isArray(m["content"]) ? m["content"] : [];
  const out: Message = { role: e.type, parts: content.map(partOf), meta: { [entryName]: e } };
  if (e["isMeta"] === true) out.synthetic = true;
  if (e.type === "assistant") {
    out.provider = "anthropic";
    if (typeof m["id"] === "string") out.id = m["id"];
    if (typeof m["model"] === "string") out.model = m["model"];
    if (typeof m["stop_reason"] === "string") out.stop = m["stop_reason"];
    const request = e["requestId"] ?? m["id"];
    if (typeof request === "string") out.request = request;
    if (m["usage"]) {
      const u = m["usage"] as Fields;
      out.usage = usageOf(u);
      const tier = [u["speed"], u["service_tier"]].find((t) => t === "fast" || t === "batch" || t === "flex" || t === "priority");
      if (typeof tier === "string") out.tier = tier;
    }
  }
  return out;
}

function usageOf(u: Fields): Record<string, number> {
  const out: Record<string, number> = {};
  for (const [name, from] of [["input", "input_tokens"], ["output", "output_tokens"], ["cache_read", "cache_read_input_tokens"], ["cache_write", "cache_creation_input_tokens"]] as const) {
    if (Number.isSafeInteger(u[from])) out[name] = u[from] as number;
  }
  const hour = (u["cache_creation"] as Fields | undefined)?.["ephemeral_1h_input_tokens"];
  if (Number.isSafeInteger(hour) && hour !== 0) out["cache_hour"] = hour as number;
  return out;
}

function partOf(block: unknown): Part {
  const b = (block ?? {}) as Fields;
  switch (b["type"]) {
    case "text":
      return { kind: "text", text: String(b["text"] ?? "") };
    case "thinking":
      return { kind: "reasoning", text: String(b["thinking"] ?? "") };
    case "tool_use":
      return { kind: "call", call: { id: String(b["id"] ?? ""), name: String(b["name"] ?? ""), input: b["input"] ?? {} } };
    case "tool_result":
      return { kind: "result", result: { call_id: String(b["tool_use_id"] ?? ""), text: textOf(b["content"]), failed: b["is_error"] === true } };
  }
  return { kind: "other", raw: { type: b["type"] ?? null } };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as Fields[]).map((c) => c?.["text"]).filter((t) => typeof t === "string").join("\n");
}
