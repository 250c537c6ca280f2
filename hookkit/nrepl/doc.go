// Package nrepl is a client for nREPL servers: it finds one, talks bencode to
// it, evaluates code in a session of its own and stops what runs too long.
//
// It was made against the byte transcripts of five servers (nREPL 1.0 and 1.7
// on the JVM, babashka.nrepl, nbb, let-go). Where they differ the client takes
// the reading that is right for all of them: status is a set, an exception may
// show as a status or only as "ex", a value may come in pieces, output may come
// after "done".
//
// Nothing here waits without a limit. A call whose context has no deadline gets
// one: 30 s for a short operation, 10 minutes for an evaluation. Nothing here
// grows without a limit either: see Limits, and the limits of the decoder in
// bencode.go.
//
// The package is public only because the folder is. It carries no promise of
// stability.
package nrepl
