// The page of a session: loads messages as one scrolls, jumps, unfolds.
import { child, focusItem, keys, localTimes, say } from "./app.js";

const box = document.getElementById("transcript");

// load puts the messages that a sentinel stands for in its place. What the
// reader looks at stays where it is.
async function load(more) {
	if (more.dataset.busy) return;
	more.dataset.busy = "1";
	more.setAttribute("aria-busy", "true");
	watch.unobserve(more);
	try {
		const answer = await fetch(more.dataset.piece);
		if (!answer.ok) throw new Error(answer.status);
		const piece = document.createElement("template");
		piece.innerHTML = await answer.text();
		const earlier = more.dataset.more === "before";
		// The other end of the piece joins what is there already.
		const seam = child(piece.content, `[data-more=${earlier ? "after" : "before"}]`);
		// The seam knows both ways, for the side that is unloaded later.
		if (seam) {
			seam.dataset.before = earlier ? more.dataset.piece : seam.dataset.piece;
			seam.dataset.after = earlier ? seam.dataset.piece : more.dataset.piece;
			delete seam.dataset.more;
			delete seam.dataset.piece;
			seam.className = "seam";
			seam.hidden = true;
			seam.replaceChildren();
		}
		const stays = earlier ? child(more.parentNode, "article") : null;
		const was = stays?.getBoundingClientRect().top;
		joinDays(earlier ? piece.content : box, earlier ? box : piece.content);
		if (earlier) child(piece.content, "#end")?.remove();
		localTimes(piece.content);
		// What comes into view above the reader must have its own height at once.
		if (earlier) for (const e of [...piece.content.children].slice(-10)) e.classList.add("drawn");
		more.replaceWith(piece.content);
		if (stays) scrollBy({ top: stays.getBoundingClientRect().top - was, behavior: "instant" });
		if (more.parentNode === null && !box.querySelector("details[data-into] [data-more]")) unload(!earlier);
		observe();
	} catch {
		delete more.dataset.busy;
		more.removeAttribute("aria-busy");
		say("Some messages could not be loaded. Click the link to try again.");
	}
}

const most = 400; // messages that stay on the page, about

// unload takes away what is far from the reader, at the beginning or at the end. A link
// brings it back.
function unload(atBegin) {
	const seams = [...box.querySelectorAll(":scope > .seam")];
	while (articles().length > most && seams.length) {
		const seam = atBegin ? seams.shift() : seams.pop();
		const top = seam.nextElementSibling?.getBoundingClientRect().top ?? 0;
		if (atBegin ? top > -2 * innerHeight : top < 3 * innerHeight) return;
		const stays = seam.nextElementSibling;
		const was = stays.getBoundingClientRect().top;
		const all = [...box.children];
		for (const e of atBegin ? all.slice(0, all.indexOf(seam)) : all.slice(all.indexOf(seam) + 1)) e.remove();
		seam.className = "more";
		seam.hidden = false;
		seam.dataset.more = atBegin ? "before" : "after";
		seam.dataset.piece = atBegin ? seam.dataset.before : seam.dataset.after;
		const link = document.createElement("a");
		link.href = seam.dataset.piece.replace("/messages?", "?");
		link.textContent = atBegin ? "Earlier messages" : "Later messages";
		seam.replaceChildren(link);
		if (atBegin) scrollBy({ top: stays.getBoundingClientRect().top - was, behavior: "instant" });
	}
}

// joinDays removes the day that the later piece begins with if the earlier one ends in it.
function joinDays(earlier, later) {
	const days = [...earlier.children].filter((e) => e.dataset.day);
	const first = [...later.children].find((e) => e.matches("[data-day], article"));
	if (!first?.dataset.day || days.at(-1)?.dataset.day !== first.dataset.day) return;
	const gap = first.querySelector(".gap");
	if (!gap) return first.remove();
	first.replaceChildren(gap);
	first.classList.remove("day");
	delete first.dataset.day;
}

const watch = new IntersectionObserver(
	(seen) => {
		for (const s of seen) if (s.isIntersecting) load(s.target);
	},
	{ rootMargin: "600px" },
);

function observe() {
	for (const more of document.querySelectorAll("[data-more]:not([data-busy])")) {
		if (!more.closest("details:not([open])")) watch.observe(more);
	}
}

// Sub-agents are loaded when they are unfolded.
document.addEventListener(
	"toggle",
	async (e) => {
		const fold = e.target;
		if (!fold.matches?.("details[data-load]") || !fold.open) return;
		const from = fold.dataset.load;
		delete fold.dataset.load;
		const into = fold.querySelector("[data-into]");
		into.textContent = "Loading…";
		try {
			const answer = await fetch(from);
			if (!answer.ok) throw new Error(answer.status);
			into.innerHTML = await answer.text();
			localTimes(into);
			observe();
		} catch {
			into.textContent = "The session could not be loaded.";
			fold.dataset.load = from;
		}
	},
	true,
);

// target unfolds what a link to #m57 leads into, or asks for the page that has
// it.
function target() {
	const id = location.hash.slice(1);
	if (!/^m\d+$/.test(id)) return;
	const at = document.getElementById(id);
	if (!at) {
		const n = id.slice(1);
		if (new URL(location).searchParams.get("at") === n) return; // it is no message
		location.replace(`${box.dataset.path}?at=${n}${box.dataset.with ?? ""}#${id}`);
		return;
	}
	at.closest("details")?.setAttribute("open", "");
	const item = at.closest("[data-item]") ?? at;
	focusItem(item);
	item.scrollIntoView({ block: "start" });
}

const articles = () => [...box.querySelectorAll("article[data-seq]")];

// here returns the message that the reader is at.
function here() {
	const focused = document.activeElement?.closest("article[data-seq]");
	if (focused) {
		const r = focused.getBoundingClientRect();
		if (r.bottom > 0 && r.top < innerHeight) return focused;
	}
	return articles().find((a) => a.getBoundingClientRect().bottom > 120);
}

const kinds = {
	user: (a) => a.classList.contains("user"),
	tool: (a) => a.querySelector("[data-tool]"),
	error: (a) => a.querySelector("[data-error]"),
};

function jump(what, back) {
	const all = articles();
	const at = all.indexOf(here());
	const rest = back ? all.slice(0, Math.max(at, 0)).reverse() : all.slice(at + 1);
	const found = rest.find(kinds[what]);
	if (found) {
		if (what === "error") found.querySelector("details[data-error]")?.setAttribute("open", "");
		history.replaceState(null, "", "#" + found.id);
		focusItem(found);
		found.scrollIntoView({ block: "start" });
		return;
	}
	const end = back ? all[0] : all.at(-1);
	if (!document.querySelector(`#transcript > [data-more=${back ? "before" : "after"}]`)) {
		say(`There is no ${back ? "earlier" : "later"} ${what === "user" ? "user message" : what} here.`);
		return;
	}
	location.href = `${box.dataset.path}/next?what=${what}&from=${end?.dataset.seq ?? 0}${back ? "&back=1" : ""}${box.dataset.with}`;
}

document.addEventListener("click", (e) => {
	const link = e.target.closest("a[data-jump]");
	if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
	e.preventDefault();
	jump(link.dataset.jump, "back" in link.dataset);
});

for (const [key, what] of [["u", "user"], ["t", "tool"], ["e", "error"]]) {
	keys.set(key, () => jump(what, false));
	keys.set(key.toUpperCase(), () => jump(what, true));
}
keys.set("n", () => document.querySelector("[data-hit=next]")?.click());
keys.set("N", () => document.querySelector("[data-hit=prev]")?.click());
keys.set("c", () => {
	const at = document.activeElement?.closest("pre, article[data-seq]");
	if (at) copy(at);
});

// copy copies a block, or what a message says.
async function copy(of) {
	const text = of.matches("pre") ? of.innerText : [...of.querySelectorAll(":scope > .text")].map((e) => e.innerText).join("\n\n") || of.innerText;
	await navigator.clipboard.writeText(text).then(() => say("Copied."), () => say("The browser does not let this page copy."));
}

// One button copies the block that the pointer or the keyboard is at.
const copier = document.createElement("button");
copier.className = "copier small";
copier.textContent = "Copy";
copier.hidden = true;
let copied = null;
function offer(e) {
	const block = e.target.closest?.("#transcript pre") ?? document.activeElement?.closest("#transcript pre");
	if (e.target === copier) return;
	copied = block;
	copier.hidden = !block;
	if (!block) return;
	const r = block.getBoundingClientRect();
	copier.style.top = `${Math.max(r.top, 0) + scrollY + 4}px`;
	copier.style.left = `${r.right + scrollX - copier.offsetWidth - 6}px`;
}
if (box) {
	document.body.append(copier);
	document.addEventListener("pointerover", offer);
	document.addEventListener("focusin", offer);
	copier.addEventListener("click", () => copied && copy(copied));
}

// What was searched for is marked in the messages too.
function markFound() {
	const words = new Set([...document.querySelectorAll(".found mark")].map((m) => m.textContent.toLowerCase()).filter((w) => w.length > 1));
	if (!words.size || !CSS.highlights) return;
	const ranges = [];
	const walk = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
	while (walk.nextNode() && ranges.length < 3000) {
		const text = walk.currentNode.data.toLowerCase();
		for (const w of words) {
			for (let i = text.indexOf(w); i >= 0; i = text.indexOf(w, i + w.length)) {
				const r = new Range();
				r.setStart(walk.currentNode, i);
				r.setEnd(walk.currentNode, Math.min(i + w.length, walk.currentNode.length));
				ranges.push(r);
			}
		}
	}
	CSS.highlights.set("found", new Highlight(...ranges));
}

keys.set("f", () => document.getElementById("find")?.select());
// A conversation's page has neither of the links: it is not left by a key, for
// something may be typed there.
const begin = document.querySelector("[data-begin]");
const finish = document.querySelector("[data-finish]");
keys.set("Home", () => (begin && document.querySelector("#transcript > [data-more=before]") ? begin.click() : scrollTo(0, 0)));
keys.set("End", () => (finish && document.querySelector("#transcript > [data-more=after]") ? finish.click() : scrollTo(0, document.body.scrollHeight)));
keys.set("o", () => {
	const folds = [...document.querySelectorAll("details.call")];
	const open = folds.some((f) => !f.open);
	for (const f of folds) f.open = open;
});

// Folding works at once, and is remembered for other pages.
const folding = document.getElementById("folding");
const groupOf = (d) => ({ reasoning: "reasoning", edit: "changes", shell: "commands" })[d.dataset.kind] ?? "tools";
folding?.addEventListener("change", (e) => {
	for (const d of box.querySelectorAll("details[data-kind]")) {
		if (groupOf(d) === e.target.value && !["tasks", "question"].includes(d.dataset.kind)) d.open = e.target.checked;
	}
	fetch(folding.action, { method: "POST", body: new URLSearchParams(new FormData(folding)), redirect: "manual" }).catch(() => {});
});
folding?.querySelector("button")?.remove();

// The outline is beside the transcript where there is room for it; elsewhere it has a page.
const outline = document.getElementById("outline");
const roomy = matchMedia("(min-width: 75rem)");
async function showOutline() {
	if (!outline || !roomy.matches || outline.dataset.asked) return;
	outline.dataset.asked = "1";
	const answer = await fetch(outline.dataset.from).catch(() => null);
	if (!answer?.ok) return delete outline.dataset.asked;
	outline.innerHTML = await answer.text();
	outline.hidden = false;
	follow();
}

// follow marks the turn that the reader is at.
function follow() {
	if (!outline || outline.hidden) return;
	const at = Number(articles().find((a) => a.getBoundingClientRect().bottom > 150)?.dataset.seq);
	const turns = [...outline.querySelectorAll("[data-at]")];
	const now = turns.findLast((t) => Number(t.dataset.at) <= at) ?? turns[0];
	const was = outline.querySelector("[aria-current]");
	if (!now || was === now) return;
	was?.removeAttribute("aria-current");
	now.setAttribute("aria-current", "true");
	const box = outline.getBoundingClientRect(), spot = now.getBoundingClientRect();
	if (spot.top < box.top || spot.bottom > box.bottom) outline.scrollTop += spot.top - box.top - box.height / 3;
}
let following = 0;
addEventListener("scroll", () => (following ||= setTimeout(() => ((following = 0), follow()), 120)), { passive: true });
roomy.addEventListener("change", showOutline);
outline?.addEventListener("click", (e) => {
	const link = e.target.closest("a[href*='#m']");
	const here = link && document.getElementById(link.hash.slice(1));
	if (!here || e.ctrlKey || e.metaKey || e.shiftKey) return;
	e.preventDefault(); // it is on the page
	history.replaceState(null, "", link.hash);
	target();
});

addEventListener("hashchange", target);
if (location.hash === "#end") scrollTo(0, document.body.scrollHeight);
target();
observe();
markFound();
showOutline();
