// Follows a session as it grows. Who has scrolled up keeps their place, and is
// told that there is more.
import { child, leaveWith, localTimes } from "./app.js";

const box = document.getElementById("transcript");
const pill = document.createElement("button");
pill.className = "main newest";
pill.textContent = "New messages ↓";
pill.hidden = true;
pill.addEventListener("click", () => toEnd());
document.body.append(pill);

export const atEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 120;

export function toEnd() {
	pill.hidden = true;
	if (box && !box.querySelector(":scope > #end")) return location.assign(`${box.dataset.path}?before=0${box.dataset.with}#end`);
	scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
}

addEventListener("scroll", () => atEnd() && (pill.hidden = true), { passive: true });

// keep does something to the page, and then shows its end to who has looked at
// it.
export function keep(change) {
	const follow = atEnd();
	const grown = change();
	if (follow) toEnd();
	else if (grown) pill.hidden = false;
}

// folds remembers which details of a message are open.
const folds = (e) => [...e.querySelectorAll("details")].map((d) => d.open);

function unfold(e, open) {
	e.querySelectorAll("details").forEach((d, i) => i < open.length && (d.open = open[i]));
}

// shape is a message as the server sent it, whatever the reader did to it.
function shape(e) {
	const copy = e.cloneNode(true);
	for (const d of [copy, ...copy.querySelectorAll("details")]) d.removeAttribute("open");
	for (const t of copy.querySelectorAll("time")) t.replaceWith("");
	for (const d of copy.querySelectorAll("[data-into]")) d.replaceChildren();
	return copy.outerHTML.replace(/ data-load="[^"]*"/g, "");
}

// tell tells who listens, when they have time; others see it.
function tell(text) {
	document.getElementById("told").textContent = text;
}

// news says what came, the last of it in its beginning.
function news(articles) {
	const last = articles.at(-1);
	const who = last.getAttribute("aria-label").split(",")[0];
	const words = child(last, ".text")?.textContent.replace(/\s+/g, " ").trim() ?? "";
	return `${articles.length} new message${articles.length > 1 ? "s" : ""}: ${who}. ${words.slice(0, 300)}`;
}

let busy = false;
let again = false;

// refresh puts the newest messages in the place of those that are shown.
async function refresh() {
	if (busy) return (again = true);
	busy = true;
	try {
		const answer = await fetch(`${box.dataset.path}/messages?before=0${box.dataset.with}`);
		if (answer.ok) merge(await answer.text());
	} catch {
		// the stream tells again when the server is back
	}
	busy = false;
	if (again) {
		again = false;
		refresh();
	}
}

function merge(html) {
	const piece = document.createElement("template");
	piece.innerHTML = html;
	localTimes(piece.content);
	const fresh = [...piece.content.children];
	const first = fresh.findIndex((e) => e.id && box.querySelector(`:scope > [id="${e.id}"]`));
	const end = box.querySelector(":scope > #end");
	if (!end) {
		tell("There are new messages at the end.");
		return keep(() => true); // the reader is elsewhere in the session
	}
	if (first < 0 && box.querySelector(":scope > article")) return location.reload(); // too far behind
	const ids = new Set(fresh.map((e) => e.id));
	const gone = (e) => e && e.id && !ids.has(e.id); // it was taken back
	keep(() => {
		let at = first < 0 ? null : box.querySelector(`:scope > [id="${fresh[first].id}"]`);
		if (first < 0) box.replaceChildren();
		const grown = [];
		for (const e of fresh.slice(Math.max(first, 0))) {
			while (gone(at)) at = drop(at);
			if (at && at.tagName === e.tagName && at.id === e.id) {
				const next = at.nextElementSibling;
				if (shape(at) !== shape(e)) {
					unfold(e, folds(at));
					at.replaceWith(e);
				}
				at = next;
				continue;
			}
			if (e.tagName === "ARTICLE") grown.push(e);
			if (at) at.before(e);
			else box.append(e);
			if (at && !e.id) continue;
			while (at && at.id !== "end" && !at.id) at = drop(at);
		}
		while (at) at = drop(at);
		if (grown.length) tell(news(grown));
		return grown.length > 0;
	});
	document.dispatchEvent(new CustomEvent("grown"));
}

function drop(e) {
	const next = e.nextElementSibling;
	e.remove();
	return next;
}

export let stream = null;

if (box) {
	stream = new EventSource(`${box.dataset.path}/live?after=${box.dataset.last}`);
	stream.addEventListener("changed", refresh);
	// At the end that shows with what is new; elsewhere only the page has it.
	stream.addEventListener("rewound", () => box.querySelector(":scope > #end") || location.reload());
	stream.addEventListener("gone", () => stream.close());
	leaveWith(stream);
	document.documentElement.classList.add("live");
	if (box.hasAttribute("data-live")) toEnd();
}
