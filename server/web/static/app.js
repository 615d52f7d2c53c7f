// What every page does: keys, times in the reader's zone, copying.
// Elements tell it what they are:
//   data-slash   the field that / goes to
//   data-item    what j and k walk over; Enter opens its first a[data-open], or unfolds it
//   data-copy    a button that copies the text of the element with that ID

export const items = () => [...document.querySelectorAll("[data-item]")].filter((e) => e.offsetParent !== null);

const typing = (e) => e.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");

function walk(step) {
	const all = items();
	const at = all.indexOf(document.activeElement?.closest("[data-item]"));
	const next = at < 0 ? (step > 0 ? firstInView(all) : all.length - 1) : at + step;
	focusItem(all[Math.min(Math.max(next, 0), all.length - 1)]);
}

function firstInView(all) {
	const i = all.findIndex((e) => e.getBoundingClientRect().bottom > 80);
	return i < 0 ? 0 : i;
}

export function focusItem(item) {
	if (!item) return;
	if (item.tabIndex < 0 && !item.hasAttribute("tabindex")) item.tabIndex = -1;
	item.focus({ preventScroll: true });
	item.scrollIntoView({ block: item.offsetHeight > innerHeight ? "start" : "nearest" });
}

function open(item) {
	const to = item.querySelector("a[data-open]");
	if (to) return to.click();
	const fold = item.matches("details") ? item : item.querySelector("details");
	if (fold) fold.open = !fold.open;
}

// keys are what pages add: key → function.
export const keys = new Map([
	["/", () => document.querySelector("[data-slash]")?.select() ?? document.querySelector("[data-slash]")?.focus()],
	["j", () => walk(1)],
	["k", () => walk(-1)],
	["?", () => document.getElementById("keys")?.showModal()],
]);

document.addEventListener("keydown", (e) => {
	if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
	if (e.key === "Escape" && typing(e)) return e.target.blur();
	if (typing(e) || document.querySelector("dialog[open]")) return;
	if (e.key === "Enter" && e.target.matches("[data-item]")) {
		e.preventDefault();
		return open(e.target);
	}
	const act = keys.get(e.key);
	if (act) {
		e.preventDefault();
		act(e);
	}
});

// child returns the first child of an element, or of a fragment, that matches.
// A fragment is no :scope.
export const child = (of, selector) => [...of.children].find((e) => e.matches(selector));

// localTimes puts the reader's zone into the titles of times.
export function localTimes(root = document) {
	for (const t of root.querySelectorAll("time[datetime]")) {
		t.title = new Date(t.dateTime).toLocaleString();
	}
}

// say tells the reader something, also one who listens.
export function say(text) {
	const notice = document.getElementById("notice");
	notice.textContent = text;
	notice.hidden = !text;
}

document.addEventListener("click", async (e) => {
	const button = e.target.closest("[data-copy]");
	if (!button) return;
	try {
		await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
		say("Copied.");
	} catch {
		getSelection().selectAllChildren(document.getElementById(button.dataset.copy));
		say("Selected. Copy it with your keyboard.");
	}
});

// Forms that ask first.
document.addEventListener("submit", (e) => {
	const question = e.submitter?.dataset.ask;
	if (question && !confirm(question)) e.preventDefault();
});

document.documentElement.classList.add("js");

// The server shows times in this zone.
const zone = `skein_zone=${encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone ?? "")}`;
if (!document.cookie.split("; ").includes(zone)) document.cookie = `${zone}; path=/; max-age=31536000; samesite=strict`;

// Show where one is in a bar that is too narrow. scrollIntoView would have Tab begin there.
const here = document.querySelector(".bar [aria-current]"), bar = here?.closest("nav");
if (bar) bar.scrollLeft += here.getBoundingClientRect().right - bar.getBoundingClientRect().right;
localTimes();

// leaveWith loads the page again, which then asks for a login, when the login of
// its stream was ended: while it was open, or while there was no network.
export function leaveWith(stream) {
	stream.addEventListener("out", () => location.reload());
	stream.addEventListener("error", async () => {
		if (stream.readyState !== EventSource.CLOSED) return;
		const page = await fetch(location.href, { method: "HEAD" }).catch(() => null);
		if (page?.status === 401) location.reload();
	});
}

// An installed app, and a page that is loaded again, say so when there is no server.
navigator.serviceWorker?.register("/sw.js").catch(() => {});
