// Package imports runs the imports that a person starts in the dashboard, one at a time:
// of the sessions that agents keep on the server's machine, of files that the browser
// sends, and of the samples. An import goes on when the person leaves the page.
package imports
