// The page of imports: shows how far one is, and sends the files that are dropped.
import { localTimes, say } from "./app.js";

const box = document.getElementById("imports");
const form = document.getElementById("send");
const refused = document.getElementById("refused");
const busy = () => box.firstElementChild?.hasAttribute("data-busy");
const tick = 500; // milliseconds

async function refresh() {
	const running = box.querySelector("[data-running]");
	try {
		const answer = await fetch(box.dataset.piece);
		if (answer.status === 401) return location.reload();
		if (!answer.ok) throw new Error(answer.status);
		const html = await answer.text();
		const focused = box.contains(document.activeElement) && document.activeElement.closest("form")?.getAttribute("action");
		box.innerHTML = html;
		localTimes(box);
		box.querySelector(`form[action="${focused}"] button`)?.focus({ preventScroll: true });
	} catch {
		// the server is away; ask again
	}
	if (running && !box.querySelector("[data-running]")) document.getElementById("heard").textContent = box.querySelector("h2")?.textContent ?? "";
	if (busy()) setTimeout(refresh, tick);
}
if (busy()) setTimeout(refresh, tick);

const size = (n) => (n >= 1e6 ? `${Math.round(n / 1e6)} MB` : `${Math.ceil(n / 1e3)} KB`);

// refuse names the files that are not sent.
function refuse(all) {
	refused.replaceChildren();
	if (!all.length) return;
	const title = document.createElement("h3"), list = document.createElement("ul");
	title.textContent = all.length === 1 ? "1 file was not sent" : `${all.length} files were not sent`;
	list.className = "small";
	for (const [name, why] of all) {
		const li = document.createElement("li"), file = document.createElement("span");
		file.className = "mono";
		file.textContent = name;
		li.append(file, ` ${why}`);
		list.append(li);
	}
	refused.className = "problems";
	refused.append(title, list);
}

// send sends files as the form would, as far as they fit.
async function send(files) {
	const data = new FormData(), left = [], most = Number(form.dataset.most);
	let sum = 0, count = 0;
	for (const { file, name } of files) {
		if (sum + file.size > most) {
			left.push([name, `is ${size(file.size)}; a browser can send ${size(most)} at once. In a terminal: skein import PATH`]);
			continue;
		}
		sum += file.size;
		count++;
		data.append("file", file, name);
	}
	refuse(left);
	if (!count) {
		if (!left.length) say("There were no files in that.");
		return;
	}
	say(`Sending ${count === 1 ? "1 file" : `${count} files`}…`);
	try {
		const answer = await fetch(form.action, { method: "POST", body: data });
		const page = new DOMParser().parseFromString(await answer.text(), "text/html");
		const told = page.getElementById("notice")?.textContent;
		say(answer.ok ? told : page.querySelector("main p")?.textContent ?? `The server answered ${answer.status}.`);
	} catch {
		refuse([...left, ["", "The files could not be sent: one of them has changed or cannot be read, or the server is away."]]);
		say("");
	}
	form.reset();
	refresh();
}

// all returns the files in what was dropped, with the names that they have in their folders.
async function all(entry, path = "") {
	const name = path + entry.name;
	if (entry.isFile) return [{ file: await new Promise((ok, no) => entry.file(ok, no)), name }];
	const reader = entry.createReader(), found = [];
	for (;;) {
		const some = await new Promise((ok, no) => reader.readEntries(ok, no));
		if (!some.length) return found;
		for (const e of some) found.push(...(await all(e, `${name}/`)));
	}
}

form.querySelector("[data-drop]").hidden = false;
form.addEventListener("submit", (e) => {
	e.preventDefault();
	send([...document.getElementById("chosen").files].map((file) => ({ file, name: file.name })));
});
const drags = (e) => e.dataTransfer?.types.includes("Files");
let over = 0; // elements that the files are over
const mark = (n) => document.body.classList.toggle("dropping", (over = Math.max(0, n)) > 0);
addEventListener("dragenter", (e) => drags(e) && mark(over + 1));
addEventListener("dragleave", (e) => drags(e) && mark(over - 1));
addEventListener("dragover", (e) => drags(e) && e.preventDefault());
addEventListener("drop", async (e) => {
	if (!drags(e)) return;
	e.preventDefault();
	mark(0);
	const entries = [...e.dataTransfer.items].map((i) => i.webkitGetAsEntry?.()).filter(Boolean);
	const plain = [...e.dataTransfer.files].map((file) => ({ file, name: file.name }));
	try {
		send(entries.length ? (await Promise.all(entries.map((x) => all(x)))).flat() : plain);
	} catch {
		refuse([["", "What was dropped cannot be read. Choose the files instead."]]);
	}
});
