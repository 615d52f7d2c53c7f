// Goes on as soon as the server answers.
async function look() {
	const answer = await fetch("/manifest.webmanifest", { cache: "no-store" }).catch(() => null);
	if (!answer?.ok) return;
	if (location.pathname === "/offline") location.replace("/");
	else location.reload();
}
setInterval(look, 2000);
addEventListener("online", look);
