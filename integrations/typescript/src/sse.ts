/** One event of a text/event-stream. */
export interface Frame {
  id: string;
  event: string;
  data: string;
}

/** Yields the events of a stream as they come. Comments are left out. */
export async function* frames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let pending: string[] = []; // pieces of a line that has not ended
  let frame: Frame = { id: "", event: "", data: "" };
  let some = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = decoder.decode(value, { stream: true }).split("\n");
      for (const [i, piece] of lines.entries()) {
        pending.push(piece);
        if (i === lines.length - 1) break;
        const line = pending.join("").replace(/\r$/, "");
        pending = [];
        if (line !== "") {
          some = field(frame, line) || some;
          continue;
        }
        if (some) yield frame;
        frame = { id: "", event: "", data: "" };
        some = false;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Puts a line into the frame; reports whether it is none of a comment. */
function field(f: Frame, line: string): boolean {
  const colon = line.indexOf(":");
  if (colon === 0) return false;
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (name === "data") f.data = f.data === "" ? value : `${f.data}\n${value}`;
  else if (name === "id") f.id = value;
  else if (name === "event") f.event = value;
  return true;
}
