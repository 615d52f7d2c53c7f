// Shows a page of its own while the server cannot be reached. It keeps the files named in
// shell, a constant that the server puts before this text, and nothing of any session.
const kept = shell.join(" ");

addEventListener("install", (e) => {
	skipWaiting();
	e.waitUntil(caches.open(kept).then((cache) => cache.addAll(shell)));
});

addEventListener("activate", (e) => e.waitUntil(takeOver()));

async function takeOver() {
	for (const name of await caches.keys()) if (name !== kept) await caches.delete(name);
	// The browser asks for a page itself, so that the server sees where it was asked for.
	await registration.navigationPreload?.enable();
}

addEventListener("fetch", (e) => {
	const { pathname } = new URL(e.request.url);
	if (e.request.method !== "GET" || !registration.navigationPreload) return;
	if (e.request.mode === "navigate") e.respondWith(page(e));
	else if (shell.includes(pathname)) e.respondWith(caches.match(pathname).then((file) => file ?? fetch(e.request)));
});

async function page(e) {
	try {
		return (await e.preloadResponse) ?? (await fetch(e.request));
	} catch {
		return (await caches.match("/offline")) ?? Response.error();
	}
}
