import type { Json, Message, Part } from "./types.js";

/** The name under which a message holds the item that it was, as it was. */
export const itemName = "openai_agents";

/** An item as the Agents SDK has it; each type has fields of its own. */
export type Item = Record<string, any>;

const bytesName = "$bytes";

/**
 * Returns a copy of v that is JSON: bytes become {"$bytes": base64}, fields
 * that are undefined are left out. Throws where v has anything that JSON
 * cannot hold, so that two copies can always be compared.
 */
export function snapshot(v: unknown, above: object[] = []): Json {
  if (v === null || typeof v === "string" || typeof v === "boolean") return v;
  if (typeof v === "number" && Number.isFinite(v)) return v;
  if (typeof v !== "object") throw new TypeError(`an item holds a ${typeof v} ${String(v)}, which JSON cannot hold`);
  if (v instanceof Uint8Array) return { [bytesName]: toBase64(v) };
  if (above.includes(v)) throw new TypeError("an item holds itself");
  const inside = [...above, v];
  if (Array.isArray(v)) return v.map((x) => snapshot(x, inside));
  const kind = Object.getPrototypeOf(v) as object | null;
  if (kind !== Object.prototype && kind !== null) throw new TypeError(`an item holds a ${kind.constructor.name}, which JSON cannot hold`);
  const out: { [name: string]: Json } = {};
  for (const [name, value] of Object.entries(v)) {
    if (value !== undefined) Object.defineProperty(out, name, { value: snapshot(value, inside), enumerable: true, writable: true, configurable: true });
  }
  return out;
}

/** Returns the value that v is a snapshot of. */
export function restore(v: any): any {
  if (Array.isArray(v)) return v.map(restore);
  if (v === null || typeof v !== "object") return v;
  const names = Object.keys(v);
  if (names.length === 1 && typeof v[bytesName] === "string") return Uint8Array.from(atob(v[bytesName]), (c) => c.charCodeAt(0));
  const out = {};
  for (const name of names) Object.defineProperty(out, name, { value: restore(v[name]), enumerable: true, writable: true, configurable: true });
  return out;
}

/** Returns the text that equal snapshots share, whatever order their fields have. */
export function canonical(v: Json): string {
  if (Array.isArray(v)) return `[${v.map(canonical).join(",")}]`;
  if (v === null || typeof v !== "object") return JSON.stringify(v);
  const fields = Object.keys(v).sort().map((name) => `${JSON.stringify(name)}:${canonical(v[name]!)}`);
  return `{${fields.join(",")}}`;
}

/** Returns the message as which an item is stored: to be read and searched, and with the item itself. */
export function messageOf(item: Json): Message {
  const i = item as Item;
  const meta = { [itemName]: item };
  switch (i["type"] ?? "message") {
    case "message":
      return { role: roleOf(i["role"]), parts: contentParts(i["content"]), meta };
    case "reasoning":
      return { role: "assistant", parts: some(textsOf(i["content"]).map((text): Part => ({ kind: "reasoning", text }))), meta };
    case "function_call":
      return { role: "assistant", parts: [{ kind: "call", call: { id: String(i["callId"]), name: String(i["name"]), input: inputOf(i["arguments"]) } }], meta };
    case "function_call_result":
      return { role: "tool", parts: [{ kind: "result", result: { call_id: String(i["callId"]), name: String(i["name"] ?? ""), text: outputOf(i["output"]) } }], meta };
  }
  return { role: String(i["type"]).endsWith("_result") ? "tool" : "assistant", parts: [{ kind: "other", raw: { type: i["type"] } }], meta };
}

/** Returns the items that a message is: what an item was stored as, or what another program wrote. */
export function itemsOf(m: Message): Item[] {
  const stored = (m.meta as Record<string, unknown> | undefined)?.[itemName];
  if (stored !== undefined) return [restore(stored) as Item];
  const out: Item[] = [];
  const words: string[] = [];
  for (const p of m.parts ?? []) {
    if ((p.kind === "text" || p.kind === "summary") && p.text) words.push(p.text);
    if (p.kind === "call" && p.call) {
      const input = p.call.input ?? {};
      out.push({ type: "function_call", callId: p.call.id, name: p.call.name, status: "completed", arguments: typeof input === "string" ? input : JSON.stringify(input) });
    }
    if (p.kind === "result" && p.result) {
      out.push({ type: "function_call_result", callId: p.result.call_id, name: p.result.name ?? "", status: "completed", output: p.result.text ?? "" });
    }
  }
  if (words.length > 0) out.unshift(said(m, words.join("\n\n")));
  return out;
}

function said(m: Message, text: string): Item {
  if (m.role === "assistant") return { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] };
  return { type: "message", role: m.role === "system" ? "system" : "user", content: text };
}

function roleOf(role: unknown): Message["role"] {
  return role === "assistant" || role === "system" ? role : "user";
}

function contentParts(content: unknown): Part[] {
  if (typeof content === "string") return [{ kind: "text", text: content }];
  const list = Array.isArray(content) ? (content as Item[]) : [];
  return some(
    list.map((c): Part => {
      const text = c?.["text"] ?? c?.["refusal"] ?? c?.["transcript"];
      return typeof text === "string" ? { kind: "text", text } : { kind: "other", raw: { type: c?.["type"] ?? null } };
    }),
  );
}

function some(parts: Part[]): Part[] {
  return parts.length > 0 ? parts : [{ kind: "other", raw: {} }];
}

function textsOf(content: unknown): string[] {
  if (!Array.isArray(content)) return [];
  return (content as Item[]).map((c) => c?.["text"]).filter((t): t is string => typeof t === "string");
}

function inputOf(text: unknown): unknown {
  if (typeof text !== "string") return {};
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function outputOf(output: unknown): string {
  if (typeof output === "string") return output;
  if (Array.isArray(output)) return textsOf(output).join("\n");
  const text = (output as Item | null)?.["text"];
  return typeof text === "string" ? text : "";
}

function toBase64(data: Uint8Array): string {
  let s = "";
  for (let i = 0; i < data.length; i += 0x8000) s += String.fromCharCode(...data.subarray(i, i + 0x8000));
  return btoa(s);
}
