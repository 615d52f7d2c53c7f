import { itemsOf, type Item } from "./items.js";
import type { Event, Message } from "./types.js";

/** The name of the note that says that an operation was done. */
export const operationNote = "openai_agents.operation";

/** An item of a history and what came before it. Nodes never change, so every state that ever was is one node. */
export interface Node {
  readonly item: Item;
  /** Of the event that the item came with. */
  readonly seq: number;
  readonly before: Node | undefined;
}

/** What the events of a session come to, one after the other. */
export class History {
  /** The last item, undefined if there is none. */
  end: Node | undefined;
  /** Of the last event that was taken. */
  last = 0;
  /** For each operation that was done, the hash of its transaction. */
  readonly operations = new Map<string, string>();
  readonly #states: { seq: number; end: Node | undefined }[] = [];

  /** Takes the next event. It returns false where all must be read again: something was blotted out. */
  take(e: Event): boolean {
    this.last = e.seq;
    if (e.kind === "said") {
      for (const item of itemsOf(e.payload as Message)) this.#set({ item, seq: e.seq, before: this.end });
    }
    if (e.kind === "rewound") this.#set(this.at(Number(e.payload.to)));
    if (e.kind === "noted" && e.payload.name === operationNote) this.operations.set(e.payload.data.operation, e.payload.data.sha256);
    return !(e.kind === "noted" && e.payload.name === "scrubbed");
  }

  /** The state right after an event. */
  at(seq: number): Node | undefined {
    let low = 0;
    for (let high = this.#states.length; low < high; ) {
      const mid = (low + high) >> 1;
      if (this.#states[mid]!.seq <= seq) low = mid + 1;
      else high = mid;
    }
    return this.#states[low - 1]?.end;
  }

  /** The newest items, oldest first, and what is before them. */
  newest(n = Infinity): { items: Item[]; before: Node | undefined } {
    const items: Item[] = [];
    let node = this.end;
    for (; node && items.length < n; node = node.before) items.push(node.item);
    return { items: items.reverse(), before: node };
  }

  #set(end: Node | undefined): void {
    this.end = end;
    this.#states.push({ seq: this.last, end });
  }
}
