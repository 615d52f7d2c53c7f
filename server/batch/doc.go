// Package batch reads batches from the bodies of requests, element by element: their
// lists may be long. Its errors say where in the body something is wrong.
package batch
