// Ctrl-K opens a palette: pages, actions, projects and sessions by name.
const icon = (name, text, path) => ({ kind: name, text, path });
const pages = [...document.querySelectorAll(".bar nav a")].map((a) => icon("Page", a.textContent, a.getAttribute("href")));
const actions = [
	icon("Action", "Sessions by project", "/?group=project"),
	icon("Action", "Sessions that failed", "/?state=failed"),
	icon("Action", "Sessions that work or wait", "/?state=working&state=waiting"),
	icon("Action", "Most expensive sessions", "/?sort=cost"),
	icon("Action", "Pinned sessions", "/?pinned=1"),
	icon("Action", "Usage as a whole", "/usage?since="),
];
let dialog, field, options, asking, at = 0, projects = null;

function make() {
	dialog = document.createElement("dialog");
	dialog.className = "palette";
	dialog.setAttribute("aria-label", "Go to");
	field = document.createElement("input");
	field.type = "search";
	field.placeholder = "Go to a session, a project, a page…";
	field.autocomplete = "off";
	for (const [k, v] of Object.entries({ role: "combobox", "aria-expanded": "true", "aria-controls": "palette-options", "aria-label": "Go to" })) field.setAttribute(k, v);
	options = document.createElement("ul");
	options.id = "palette-options";
	options.setAttribute("role", "listbox");
	options.setAttribute("aria-label", "Places");
	dialog.append(field, options);
	document.body.append(dialog);
	field.addEventListener("input", () => show(field.value.trim()));
	field.addEventListener("keydown", (e) => {
		const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
		if (step) {
			e.preventDefault();
			choose(at + step);
		} else if (e.key === "Enter") {
			e.preventDefault();
			options.children[at]?.click();
		}
	});
}

function choose(n) {
	const all = [...options.children];
	at = Math.min(Math.max(n, 0), Math.max(all.length - 1, 0));
	all.forEach((li, i) => li.setAttribute("aria-selected", i === at));
	all[at]?.scrollIntoView({ block: "nearest" });
	field.setAttribute("aria-activedescendant", all[at]?.id ?? "");
}

function list(places) {
	options.replaceChildren(...places.slice(0, 12).map((p, i) => {
		const li = document.createElement("li");
		li.id = `palette-${i}`;
		li.setAttribute("role", "option");
		const text = document.createElement("span"), kind = document.createElement("small");
		text.textContent = p.text;
		kind.textContent = p.kind;
		li.append(text, kind);
		li.addEventListener("click", () => location.assign(p.path));
		return li;
	}));
	choose(0);
}

// rows asks a page for what matches in it.
async function rows(path, selector, signal) {
	const answer = await fetch(path, { signal });
	return answer.ok ? [...new DOMParser().parseFromString(await answer.text(), "text/html").querySelectorAll(selector)] : [];
}

async function show(words) {
	asking?.abort();
	asking = new AbortController();
	const fits = (p) => p.text.toLowerCase().includes(words.toLowerCase());
	const known = [...pages, ...actions].filter(fits);
	const search = words ? [icon("Search", `Search for “${words}”`, `/search?q=${encodeURIComponent(words)}`)] : [];
	list([...known, ...search]);
	try {
		projects ??= (await rows("/projects", "th a")).map((a) => icon("Project", a.textContent, a.getAttribute("href")));
		const sessions = (await rows(`/?piece=list&group=none&title=${encodeURIComponent(words)}`, "a.name", asking.signal)).map((a) => icon("Session", a.textContent, a.getAttribute("href")));
		list([...known.slice(0, 3), ...projects.filter(fits).slice(0, 3), ...sessions.slice(0, 6), ...search, ...known.slice(3)]);
	} catch (e) {
		if (e.name !== "AbortError") throw e;
	}
}

document.addEventListener("keydown", (e) => {
	if (!(e.ctrlKey || e.metaKey) || e.altKey || e.shiftKey || e.key.toLowerCase() !== "k" || !document.querySelector(".bar nav")) return;
	e.preventDefault();
	if (!dialog) make();
	if (dialog.open) return dialog.close();
	field.value = "";
	dialog.showModal();
	show("");
});
