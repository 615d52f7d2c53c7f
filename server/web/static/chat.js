// A conversation: says what is typed without leaving the page, shows the answer
// as it is written, and what the agent asks.
import { say as tell } from "./app.js";
import { keep, stream, toEnd } from "./live.js";

const form = document.getElementById("say");
const text = document.getElementById("text");
const state = document.getElementById("state");

text.addEventListener("keydown", (e) => {
	if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
	e.preventDefault();
	form.requestSubmit();
});

// fresh brings the turn under way up to date.
async function fresh() {
	const answer = await fetch(state.dataset.from).catch(() => null);
	if (!answer?.ok) return;
	const html = await answer.text();
	keep(() => {
		const focused = document.activeElement?.closest("#state");
		state.innerHTML = html;
		if (focused) (state.querySelector("button.main") ?? text).focus();
		return false;
	});
}

// send sends a form; the answer is a page that is not needed.
async function send(target, button) {
	const body = new URLSearchParams(new FormData(target, button));
	return fetch(target.action, { method: "POST", body, redirect: "manual" });
}

if (state) {
	stream?.addEventListener("state", fresh);
	stream?.addEventListener("piece", (e) => {
		const into = state.querySelector("[data-pieces]");
		if (into) keep(() => void into.append(JSON.parse(e.data)));
		else fresh();
	});
	state.addEventListener("submit", async (e) => {
		e.preventDefault();
		await send(e.target, e.submitter);
		fresh();
	});
	form.addEventListener("submit", async (e) => {
		e.preventDefault();
		const button = form.querySelector("button");
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
}
