// The list of sessions: picks, and bringing itself up to date.
import { keys, leaveWith, localTimes, say } from "./app.js";

const list = document.getElementById("list");
const bulk = document.getElementById("bulk");
const all = document.getElementById("all");
const picks = () => [...list.querySelectorAll("input[name=id]")];

function count() {
	if (!bulk) return;
	const n = picks().filter((p) => p.checked).length;
	document.getElementById("picked").textContent = n ? `${n} selected:` : "Select all, or some above:";
	bulk.classList.toggle("some", n > 0);
	for (const b of bulk.querySelectorAll("button")) b.disabled = !n;
	all.checked = n > 0 && n === picks().length;
	all.indeterminate = n > 0 && !all.checked;
}

if (bulk) {
	all.hidden = false;
	all.addEventListener("change", () => {
		for (const p of picks()) p.checked = all.checked;
		count();
	});
	list.addEventListener("change", count);
	bulk.addEventListener("submit", (e) => {
		if (e.submitter?.value === "bin" && !confirm("Move the selected sessions to the bin?")) e.preventDefault();
	});
	keys.set("x", () => {
		const pick = document.activeElement?.closest("[data-item]")?.querySelector("input[name=id]");
		if (pick) pick.click();
	});
	count();
}

// refresh asks for the list again and keeps what the reader has picked and
// where they are.
let asking = null;
async function refresh() {
	asking?.abort();
	asking = new AbortController();
	const url = new URL(location);
	url.searchParams.set("piece", "1");
	let html;
	try {
		const answer = await fetch(url, { signal: asking.signal });
		if (!answer.ok) return;
		html = await answer.text();
	} catch {
		return;
	}
	const last = new Map([...list.querySelectorAll("li[data-id]")].map((li) => [li.dataset.id, li.dataset.last]));
	const picked = new Set(picks().filter((p) => p.checked).map((p) => p.value));
	const at = document.activeElement?.closest("#list li[data-id]");
	const inner = at && at !== document.activeElement ? (document.activeElement.matches("a[data-open]") ? "a[data-open]" : "input") : null;
	const first = list.querySelector(".page");
	const fresh = document.createRange().createContextualFragment(html);
	if (first?.nextElementSibling) fresh.querySelector(".pages")?.remove(); // what follows is there already
	first ? first.replaceWith(fresh) : list.replaceChildren(fresh);
	for (const li of list.querySelectorAll("li[data-id]")) {
		if (last.size && last.get(li.dataset.id) !== li.dataset.last) li.classList.add("new");
		const pick = li.querySelector("input[name=id]");
		if (pick) pick.checked = picked.has(pick.value);
		if (at && li.dataset.id === at.dataset.id) (inner ? li.querySelector(inner) : li)?.focus({ preventScroll: true });
	}
	localTimes(list);
	count();
}

// The next page is loaded when the link to it comes near.
async function more(link) {
	const url = new URL(link.href);
	url.searchParams.set("piece", "1");
	const answer = await fetch(url).catch(() => null);
	if (!answer?.ok) return;
	const page = document.createRange().createContextualFragment(await answer.text()).querySelector(".page");
	const title = [...list.querySelectorAll(".day")].at(-1), again = page.querySelector(".day"); // a day that goes on
	if (title && again && title.textContent === again.textContent) again.remove();
	page.querySelector("[rel=first]")?.remove();
	link.closest(".pages").remove();
	list.append(page);
	localTimes(page);
	count();
	follow();
}

const near = new IntersectionObserver((seen) => {
	for (const s of seen) {
		if (!s.isIntersecting) continue;
		near.unobserve(s.target);
		more(s.target);
	}
}, { rootMargin: "600px" });

function follow() {
	const next = list.querySelector("a[rel=next]");
	if (next) near.observe(next);
}
follow();

// Long facets can be searched; on a narrow screen, all of them are folded.
function prepare(facets) {
	for (const facet of facets.querySelectorAll("[data-facet]")) {
		const rest = facet.querySelector("details");
		if (!rest) continue;
		const field = document.createElement("input");
		field.type = "search";
		field.className = "typeahead";
		field.placeholder = `Find ${facet.querySelector("h2").textContent.toLowerCase()}…`;
		field.setAttribute("aria-label", field.placeholder);
		facet.querySelector("h2").after(field);
		field.addEventListener("input", () => {
			const words = field.value.toLowerCase();
			rest.open = words !== "";
			for (const li of facet.querySelectorAll("li")) li.hidden = !li.textContent.toLowerCase().includes(words);
		});
	}
	if (matchMedia("(max-width: 60rem)").matches) facets.open = false;
}
const facets = document.getElementById("facets");
prepare(facets);

if ("first" in list.dataset) {
	const dot = document.getElementById("live");
	const stream = new EventSource(list.dataset.live);
	let opened = false;
	stream.addEventListener("open", () => {
		dot.hidden = false;
		if (opened) refresh(); // something may have happened meanwhile
		opened = true;
	});
	stream.addEventListener("error", () => {
		dot.hidden = true;
		if (stream.readyState === EventSource.CLOSED) say("The list is no longer live. Reload the page.");
	});
	stream.addEventListener("changed", refresh);
	leaveWith(stream);
	addEventListener("pagehide", () => stream.close());
	addEventListener("pageshow", (e) => e.persisted && location.reload());
}

// The facets of many sessions are counted while the list is read already.
if (facets.dataset.later) {
	const url = new URL(facets.dataset.later, location);
	url.searchParams.set("piece", "facets");
	const answer = await fetch(url).catch(() => null);
	if (answer?.ok) {
		const counted = document.createRange().createContextualFragment(await answer.text()).querySelector("#facets");
		facets.replaceWith(counted);
		prepare(counted);
	}
}
