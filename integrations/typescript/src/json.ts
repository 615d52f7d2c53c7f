import type { Event, NewEvent } from "./types.js";

/** Returns where the JSON value that begins at i ends. The text is valid JSON. */
export function valueEnd(s: string, i: number): number {
  const c = s[i];
  if (c === '"') return stringEnd(s, i);
  if (c !== "{" && c !== "[") {
    while (i < s.length && !",]} \t\r\n".includes(s[i]!)) i++;
    return i;
  }
  for (let depth = 0; i < s.length; i++) {
    const d = s[i];
    if (d === '"') i = stringEnd(s, i) - 1;
    else if (d === "{" || d === "[") depth++;
    else if ((d === "}" || d === "]") && --depth === 0) return i + 1;
  }
  return i;
}

function stringEnd(s: string, i: number): number {
  for (i++; ; i++) {
    i = s.indexOf('"', i);
    if (i < 0) return s.length;
    let back = i;
    while (s[back - 1] === "\\") back--;
    if ((i - back) % 2 === 0) return i + 1;
  }
}

function skip(s: string, i: number): number {
  while (i < s.length && " \t\r\n".includes(s[i]!)) i++;
  return i;
}

/** Yields the members of the object that s is, each as its text. */
export function* members(s: string): Generator<[string, string]> {
  for (let i = skip(s, 0) + 1; ; ) {
    i = skip(s, i);
    if (s[i] === ",") i = skip(s, i + 1);
    if (s[i] !== '"') return;
    const end = stringEnd(s, i);
    const name = JSON.parse(s.slice(i, end)) as string;
    i = skip(s, skip(s, end) + 1); // behind the colon
    const to = valueEnd(s, i);
    yield [name, s.slice(i, to)];
    i = to;
  }
}

/** Returns the elements of the list that s is, each as its text. */
export function elements(s: string): string[] {
  const all: string[] = [];
  for (let i = skip(s, 0) + 1; ; ) {
    i = skip(s, i);
    if (s[i] === ",") i = skip(s, i + 1);
    if (i >= s.length || s[i] === "]") return all;
    const to = valueEnd(s, i);
    all.push(s.slice(i, to));
    i = to;
  }
}

/** Reads an event, and the text of its payload as it is. */
export function readEvent(text: string): Event {
  const e: Event = { seq: 0, time: "", kind: "", payload: {}, raw: "{}" };
  for (const [name, value] of members(text)) {
    switch (name) {
      case "payload":
        e.raw = value;
        break;
      case "payload64":
        readBytes(e, JSON.parse(value) as string);
        break;
      default:
        (e as unknown as Record<string, unknown>)[name] = JSON.parse(value);
    }
  }
  try {
    e.payload = JSON.parse(e.raw);
  } catch (err) {
    if (e.payload64 === undefined) throw err;
  }
  return e;
}

/** A payload that cannot stand in JSON comes as bytes. */
function readBytes(e: Event, base64: string): void {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  e.raw = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    e.payload64 = base64;
  }
}

/** Returns an event as JSON, a raw payload as it is. */
export function writeEvent(e: NewEvent): string {
  if (e.raw !== undefined) JSON.parse(e.raw); // or what follows would be read as something else
  const payload = e.raw ?? JSON.stringify(e.payload ?? {});
  const { kind, time, client_id } = e;
  return `${JSON.stringify({ kind, time, client_id }).slice(0, -1)},"payload":${payload}}`;
}
