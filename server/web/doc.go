// Package web is the dashboard: pages that the server renders, so that they can
// be read without JavaScript, and a little JavaScript that makes them quicker
// to use.
//
// # What is where
//
// pages/ has the templates: layout.html is the frame of all pages, and each
// other file is a page, with a template main and perhaps others. static/ has
// the style sheet and the modules; they are served under /static/ with a hash
// in the name, to be cached forever. There is no build step: both are embedded,
// and read by [Routes] when the server starts.
//
// site is what all pages share. Each subject has a type around it, such as
// searchPages or binPages: a page is a method of that type that calls site.show, and
// a route in the type's table, all of which [Routes] returns. A change is a form
// with the method POST whose answer is a redirect (303). Package transcript makes
// what is shown of a session.
//
// # What is trusted
//
// Nothing in a session is. Text goes through Options.Secrets, then through
// html/template or, if it is Markdown or code, through package render. The
// policy that package door sets forbids all code and style except files of this
// server, and every picture from elsewhere.
package web
