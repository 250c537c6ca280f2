// Package session keeps the state of an agent's session in files: names that are
// safe, folders that are private, a lock, and files that are replaced whole.
//
// The state folder is BREPL_STATE_DIR, else /tmp where there is one, else the
// system's folder for temporary files (TMPDIR). In it are
//
//	brepl-stop-hook-{session id}.edn    retry counts; the name is a contract
//	brepl-{uid}/{session id}/           everything else, mode 0700
//	brepl-{uid}/{session id}/lock       the lock, separate from what it guards
//
// The folder for temporary files belongs to everyone, so nothing found in it is
// believed before its owner and kind are known; see [RefusedError].
//
// This package is public because of the folder it is in. It carries no promise
// of stability.
package session
