// Searches as one types.
import { localTimes } from "./app.js";

const form = document.getElementById("search");
const field = form.elements.q;
const results = document.getElementById("results");
let asking = null;
let waiting = 0;

async function search(keep) {
	asking?.abort();
	asking = new AbortController();
	const url = new URL("/search", location);
	url.searchParams.set("q", field.value);
	history.replaceState(null, "", url);
	document.title = field.value ? `${field.value} · Search · skein` : "Search · skein";
	url.searchParams.set("piece", "1");
	if (keep) url.searchParams.set("keep", "1"); // as a recent search
	results.setAttribute("aria-busy", "true");
	try {
		const answer = await fetch(url, { signal: asking.signal });
		const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
		let html = "";
		for (let part = await reader.read(); !part.done; part = await reader.read()) {
			html += part.value; // a long search tells what it has so far
			results.innerHTML = html;
			localTimes(results);
		}
	} catch (e) {
		if (e.name === "AbortError") return;
	}
	results.setAttribute("aria-busy", "false");
}

field.addEventListener("input", () => {
	clearTimeout(waiting);
	waiting = setTimeout(search, 120, false);
});
form.addEventListener("submit", (e) => {
	e.preventDefault();
	clearTimeout(waiting);
	search(true);
});
if (document.activeElement === field || !field.value) field.focus();
