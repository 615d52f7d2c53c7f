// Plays a session: shows its messages one after the other, with the time between
// them that there was, as skein replay does: where that is not known 1.5 seconds
// and half a second for every hundred characters; at least half a second, at
// most ten.
import { child, keys, localTimes, say } from "./app.js";

const box = document.getElementById("transcript");
const byID = (id) => document.getElementById(id);
const [play, line, speed, where, marks] = ["play", "line", "speed", "where", "marks"].map(byID);

let steps = []; // the messages that are loaded
let at = 0; // which one was shown last
let timer = 0; // of the next one; 0: it stands still

const chars = (e) => e.querySelector(".text")?.textContent.length ?? 0;
const moment = (e) => Date.parse(e.querySelector("header time")?.dateTime ?? "");

export function pause(before, now, characters, times) {
	let seconds = (now - before) / 1000;
	if (Number.isNaN(seconds)) seconds = 1.5 + characters / 200;
	return Math.min(Math.max(seconds / times, 0.5), 10);
}

// load gets the next messages; false if there are no more.
async function load() {
	const more = box.querySelector(":scope > [data-more=after]");
	if (!more) return false;
	try {
		const answer = await fetch(more.dataset.piece);
		if (!answer.ok) throw new Error(answer.status);
		const piece = document.createElement("template");
		piece.innerHTML = await answer.text();
		child(piece.content, "[data-more=before]")?.remove();
		localTimes(piece.content);
		more.replaceWith(piece.content);
	} catch {
		say("Some messages could not be loaded. Press Play to try again.");
		stop();
		return false;
	}
	gather();
	return true;
}

// gather takes in what is loaded, and marks it on the time line.
function gather() {
	steps = [...box.querySelectorAll(":scope > article")];
	line.max = steps.length - 1;
	marks.replaceChildren();
	steps.forEach((e, i) => {
		const kind = e.querySelector("[data-error]") ? "error" : e.querySelector("[data-tool]") ? "tool" : e.classList.contains("user") ? "user" : "";
		if (!kind) return;
		const tick = document.createElement("i");
		tick.className = `tick ${kind}`;
		tick.style.left = `${(100 * i) / Math.max(steps.length - 1, 1)}%`;
		marks.append(tick);
	});
	show(at);
}

// show shows everything up to the message n.
function show(n) {
	at = Math.min(Math.max(n, 0), steps.length - 1);
	let i = -1;
	for (const e of box.children) {
		if (e.tagName === "ARTICLE") i++;
		e.hidden = i > at || e.hasAttribute("data-more") || (i === at && e.tagName !== "ARTICLE" && !e.classList.contains("turnend"));
	}
	line.value = at;
	const more = box.querySelector(":scope > [data-more=after]") ? "+" : "";
	where.textContent = `${at + 1} of ${steps.length}${more}`;
	line.setAttribute("aria-valuetext", `message ${where.textContent}`);
	if (at > 0 || timer) steps[at]?.scrollIntoView({ block: "nearest" });
}

async function next() {
	if (at + 1 >= steps.length - 5 && !(await load()) && at + 1 >= steps.length) return stop();
	show(at + 1);
	if (timer) wait();
}

function wait() {
	const [now, then] = [steps[at], steps[at + 1]];
	const d = then ? pause(moment(now), moment(then), chars(then), Number(speed.value)) : 0.5;
	timer = setTimeout(next, 1000 * d);
}

function stop() {
	clearTimeout(timer);
	timer = 0;
	play.textContent = "Play";
	play.setAttribute("aria-pressed", "false");
}

function toggle() {
	if (timer) return stop();
	const over = at >= steps.length - 1 && !box.querySelector(":scope > [data-more=after]");
	if (over) show(0);
	play.textContent = "Pause";
	play.setAttribute("aria-pressed", "true");
	wait();
}

function jump(n) {
	show(n);
	if (timer) {
		clearTimeout(timer);
		wait();
	}
}

function faster(by) {
	speed.selectedIndex = Math.min(Math.max(speed.selectedIndex + by, 0), speed.options.length - 1);
	jump(at);
}

play.addEventListener("click", toggle);
byID("before").addEventListener("click", () => jump(at - 1));
byID("after").addEventListener("click", () => next());
line.addEventListener("input", () => jump(Number(line.value)));
speed.addEventListener("change", () => jump(at));
keys.set(" ", (e) => e.target.closest("button, summary, a, select") || toggle());
keys.set("ArrowRight", () => next());
keys.set("ArrowLeft", () => jump(at - 1));
keys.set("+", () => faster(1));
keys.set("-", () => faster(-1));
for (const key of ["j", "k"]) keys.delete(key);

byID("player").hidden = false;
box.querySelector(":scope > #end")?.setAttribute("data-more", "none");
gather();
const ahead = 40; // pages that the time line has before it is played
for (let i = 0; i < ahead && (await load()); i++);
