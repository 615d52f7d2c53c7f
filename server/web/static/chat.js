// A conversation: says what is typed without leaving the page, with the files that
// are dropped and pasted, shows the answer as it is written, and what the agent asks.
import { say as tell } from "./app.js";
import { keep, stream, toEnd } from "./live.js";

const form = document.getElementById("say");
const text = document.getElementById("text");
const state = document.getElementById("state");
const side = document.getElementById("side");
const editing = form.querySelector("[name=edit]");

text.addEventListener("keydown", (e) => {
	if (e.isComposing) return;
	if (e.key === "ArrowUp" && !text.value && !editing) {
		const last = [...document.querySelectorAll("#transcript .msg.user a.fork")].at(-1);
		if (last) last.click();
		return;
	}
	if (e.key !== "Enter" || e.shiftKey || matchMedia("(pointer: coarse)").matches) return;
	e.preventDefault();
	form.requestSubmit();
});

const attached = document.getElementById("file");
let files = []; // of the message, as attached has them

const size = (n) => (n >= 1e6 ? `${(n / 1e6).toFixed(1)} MB` : `${Math.max(1, Math.round(n / 1e3))} KB`);

// chosen shows files as those of the message.
function chosen(now) {
	files = now;
	const data = new DataTransfer(), list = document.getElementById("files");
	for (const f of files) data.items.add(f);
	attached.files = data.files;
	list.hidden = !files.length;
	list.replaceChildren(...files.map((f) => {
		const li = document.createElement("li"), name = document.createElement("span"), drop = document.createElement("button");
		name.textContent = f.name;
		drop.type = "button";
		drop.className = "plain";
		drop.textContent = "×";
		drop.setAttribute("aria-label", `Remove ${f.name}`);
		drop.addEventListener("click", () => {
			chosen(files.filter((other) => other !== f));
			text.focus();
		});
		li.append(name, ` ${size(f.size)} `, drop);
		return li;
	}));
}

// attach adds files to the message, as far as they fit.
function attach(more) {
	const most = Number(attached.dataset.most), many = Number(attached.dataset.many), now = [...files], left = [];
	let sum = files.reduce((n, f) => n + f.size, 0);
	for (const f of more) {
		if (now.length >= many) left.push(`${f.name} is not attached: a message has at most ${many} files.`);
		else if (sum + f.size > most) left.push(`${f.name} is not attached: it has ${size(f.size)}, and the files of a message have at most ${size(most)} together.`);
		else {
			now.push(f);
			sum += f.size;
		}
	}
	const told = document.getElementById("toomuch");
	told.textContent = left.join(" ");
	told.hidden = !left.length;
	chosen(now);
}

attached.addEventListener("change", () => attach(attached.files));
text.addEventListener("paste", (e) => {
	const data = e.clipboardData;
	if (!data.files.length || data.types.includes("text/plain")) return; // a piece of a document brings its picture along
	e.preventDefault();
	const time = new Date().toTimeString().slice(0, 8).replaceAll(":", "");
	attach([...data.files].map((f, i) => (f.name.startsWith("image.") ? new File([f], `pasted-${time}${i ? `-${i}` : ""}.${f.name.split(".").pop()}`, { type: f.type }) : f)));
});
for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
	document.addEventListener(kind, (e) => {
		if (!e.dataTransfer?.types.includes("Files")) return;
		e.preventDefault();
		form.classList.toggle("dropping", kind === "dragover" || kind === "dragenter");
		if (kind !== "drop") return;
		attach(e.dataTransfer.files);
		text.focus();
	});
}
form.classList.add("scripted");
chosen([...attached.files]); // of before a reload

// send sends a form; the answer is a page that is not needed.
async function send(target, button) {
	const data = new FormData(target, button);
	const body = target.enctype === "multipart/form-data" ? data : new URLSearchParams(data);
	return fetch(target.action, { method: "POST", body, redirect: "manual" });
}

// follow keeps a conversation up to date.
function follow() {
	const working = () => state.querySelector(".pending");

	// piece puts what the server says now into a part of the page.
	async function piece(into) {
		const answer = await fetch(into.dataset.from).catch(() => null);
		return answer?.ok ? answer.text() : null;
	}

	// fresh brings the turn under way up to date.
	async function fresh() {
		const html = await piece(state);
		if (html === null) return;
		keep(() => {
			const focused = document.activeElement?.closest("#state");
			state.innerHTML = html;
			if (focused) (state.querySelector("button.main") ?? text).focus();
			label();
			return false;
		});
	}

	// label says what the button does now.
	function label() {
		if (!editing) document.getElementById("send").textContent = working() ? "Queue" : "Send";
	}

	stream?.addEventListener("state", fresh);
	stream?.addEventListener("piece", (e) => {
		const into = state.querySelector("[data-pieces]");
		if (!into) return fresh();
		keep(() => {
			const end = into.scrollHeight - into.scrollTop - into.clientHeight < 40;
			into.append(JSON.parse(e.data));
			if (end) into.scrollTop = into.scrollHeight;
		});
	});
	document.addEventListener("grown", async () => {
		const html = await piece(side);
		if (html === null) return;
		const open = side.querySelector("details")?.open;
		side.innerHTML = html;
		if (open) side.querySelector("details")?.setAttribute("open", "");
	});
	document.addEventListener("keydown", (e) => {
		const stop = e.key === "Escape" && !e.defaultPrevented && !document.querySelector("dialog[open]") && state.querySelector("form[action$='/stop'] button");
		if (stop) stop.click();
	});
	state.addEventListener("submit", async (e) => {
		e.preventDefault();
		await send(e.target, e.submitter);
		fresh();
	});
	form.addEventListener("submit", async (e) => {
		if (editing) return; // the answer is on another page
		e.preventDefault();
		const button = document.getElementById("send");
		button.disabled = true;
		const answer = await send(form).catch(() => null);
		button.disabled = false;
		if (answer?.type === "opaqueredirect") {
			text.value = "";
			attach([]);
			chosen([]);
			tell("");
			await fresh();
			toEnd();
		} else if (answer) {
			const page = new DOMParser().parseFromString(await answer.text(), "text/html");
			tell(page.querySelector("[role=alert]")?.textContent ?? "The message could not be sent.");
		} else {
			tell("The server cannot be reached. Your text is still here.");
		}
		text.focus();
	});
	label();
}

if (state) follow();
