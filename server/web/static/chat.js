// A conversation: says what is typed without leaving the page, shows the answer
// as it is written, and what the agent asks.
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

// send sends a form; the answer is a page that is not needed.
async function send(target, button) {
	const body = new URLSearchParams(new FormData(target, button));
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
