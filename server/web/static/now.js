// Keeps the page of what runs up to date.
import { leaveWith, localTimes } from "./app.js";

const box = document.getElementById("now");
let asking = null;

async function refresh() {
	if (box.querySelector("form :focus")) return; // do not take away what is about to be pressed
	asking?.abort();
	asking = new AbortController();
	try {
		const answer = await fetch(box.dataset.piece, { signal: asking.signal });
		if (!answer.ok) return;
		const html = await answer.text();
		const at = document.activeElement?.closest("li[data-id]")?.dataset.id;
		box.innerHTML = html;
		localTimes(box);
		const again = at && [...box.querySelectorAll("li[data-id]")].find((li) => li.dataset.id === at);
		again?.focus({ preventScroll: true });
	} catch {
		// the stream tells again when the server is back
	}
	const waiting = box.querySelectorAll("li.waiting").length;
	document.title = document.title.replace(/^(\(\d+\) )?/, waiting ? `(${waiting}) ` : "");
}

const stream = new EventSource(box.dataset.live);
stream.addEventListener("open", () => (document.getElementById("live").hidden = false));
stream.addEventListener("error", () => (document.getElementById("live").hidden = true));
stream.addEventListener("changed", refresh);
leaveWith(stream);
// Some changes are no events: a file grows, a program dies, a minute passes.
setInterval(() => document.hidden || refresh(), 15000);
document.addEventListener("visibilitychange", () => document.hidden || refresh());
addEventListener("pagehide", () => stream.close());
addEventListener("pageshow", (e) => e.persisted && location.reload());
