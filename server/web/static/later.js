// What takes long comes when the page is there: an element with data-later is replaced
// by what that path answers with, one after the other.
import { localTimes } from "./app.js";

for (const place of document.querySelectorAll("[data-later]")) {
	place.setAttribute("aria-busy", "true");
	const link = place.querySelector("a"), words = link.textContent;
	link.textContent = "Looking…";
	const answer = await fetch(place.dataset.later).catch(() => null);
	const piece = answer?.ok && document.createRange().createContextualFragment(await answer.text()).firstElementChild;
	if (piece) {
		place.replaceWith(piece);
		localTimes(piece);
	} else {
		link.textContent = words;
		place.removeAttribute("aria-busy");
	}
}
