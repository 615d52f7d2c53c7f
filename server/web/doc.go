// Package web is the dashboard: pages that the server makes whole, so that they
// read without JavaScript, and a little of it that makes them quicker to use.
//
// # What is where
//
// pages/ has the templates: layout.html is the frame of all, and each other
// file is a page, with a template main and perhaps others. static/ has the
// style sheet and modules; they are served under /static/ with a hash in the
// name, for ever. Nothing has to be built: both are embedded and read when the
// server starts, by [Routes].
//
// A page is a method of site that calls site.show, and a route in the table that
// [Routes] puts together. What changes something is a form with the method POST
// that leads back (303).
//
// # What is trusted
//
// Nothing of a session. Text goes through Options.Secrets, then through
// html/template, or, where it is Markdown or code, through package render. The
// policy that package door sets forbids all code and style that is not a file
// of this server, and every picture from elsewhere.
package web
